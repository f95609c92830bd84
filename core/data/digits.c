/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The UCI handwritten digits: rows of 64 values from 0 to 16 and a label.
 */
#include "data/digits.h"

#include <string.h>
#include <tenon/io.h>

#include "base/error.h"
#include "base/memory.h"
#include "data/dataset.h"
#include "data/prepare.h"
#include "data/search.h"
#include "io/file.h"

#define OPERATION "digits"
#define SIDE 8
#define N_PIXELS (SIDE * SIDE)
#define WHITE 16
#define N_CLASSES 10
#define TEST_FRACTION 0.2

static tn_status refuse_value(const char *path, size_t row, int column, const char *what, int most,
			      int64_t found, struct tn_error_info *error)
{
	return tn_fail(error, TN_FORMAT, OPERATION,
		       "%s: row %zu, value %d: expected %s from 0 to %d, found %lld",
		       tn_file_label(path), row + 1, column + 1, what, most, (long long)found);
}

static tn_status convert_rows(const char *path, const struct tn_csv *csv,
			      struct tn_dataset_raw *raw, struct tn_error_info *error)
{
	const struct tn_input_format *format = &raw->format;
	size_t image_size = (size_t)format->height * format->width;
	size_t n_rows = (size_t)csv->values.shape[0];
	if (csv->values.shape[1] != N_PIXELS + 1)
		return tn_fail(error, TN_FORMAT, OPERATION,
			       "%s: line 1: expected %d values, found %lld", tn_file_label(path),
			       N_PIXELS + 1, (long long)csv->values.shape[1]);
	raw->n = n_rows;
	raw->images = tn_mem_zeroed(n_rows, image_size);
	raw->labels = tn_mem_zeroed(n_rows, sizeof(*raw->labels));
	if (!raw->images || !raw->labels)
		return tn_fail(error, TN_OUT_OF_MEMORY, OPERATION, "%s: no memory for %zu images",
			       tn_file_label(path), n_rows);
	for (size_t i = 0; i < n_rows; i++) {
		const int64_t *row = (const int64_t *)csv->values.data + i * (N_PIXELS + 1);
		uint8_t pixels[N_PIXELS];
		for (int p = 0; p < N_PIXELS; p++) {
			if (row[p] < 0 || row[p] > WHITE)
				return refuse_value(path, i, p, "a pixel", WHITE, row[p], error);
			pixels[p] = (uint8_t)row[p];
		}
		int64_t label = row[N_PIXELS];
		if (label < 0 || label >= N_CLASSES)
			return refuse_value(path, i, N_PIXELS, "a label", N_CLASSES - 1, label,
					    error);
		tn_enlarge_plane(format, pixels, raw->images + i * image_size);
		raw->labels[i] = (int32_t)label;
	}
	return TN_OK;
}

tn_status tn_digits_read(const char *path, int as_stored, struct tn_dataset_raw *out,
			 struct tn_error_info *error)
{
	struct tn_csv csv = {.struct_size = sizeof(csv)};
	uint32_t zoom = as_stored ? 1 : 3;
	uint32_t border = as_stored ? 0 : 2;
	uint32_t side = SIDE * zoom + 2 * border;
	const struct tn_known_dataset *known = tn_known_dataset("digits");
	struct tn_dataset_raw raw = {
		.format = {.channels = 1,
			   .height = side,
			   .width = side,
			   .source_height = SIDE,
			   .source_width = SIDE,
			   .zoom = zoom,
			   .border = border,
			   .scale = WHITE,
			   .n_classes = N_CLASSES},
		.test_fraction = TEST_FRACTION,
		.origin = known->info.origin,
		.class_names = known->class_names,
	};
	struct tn_csv_options options = tn_csv_defaults();
	options.dtype = TN_I64;
	tn_status status = tn_csv_read(path, &options, &csv, error);
	if (!status)
		status = convert_rows(path, &csv, &raw, error);
	tn_csv_release(&csv);
	if (!status)
		*out = raw;
	else
		tn_dataset_raw_release(&raw);
	return status;
}
