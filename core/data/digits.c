/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The UCI handwritten digits: rows of 64 values from 0 to 16 and a label.
 */
#include "data/digits.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "data/dataset.h"
#include "data/format.h"
#include "data/search.h"
#include "io/csv.h"
#include "io/file.h"

#define OPERATION "digits"
#define SIDE 8
#define N_PIXELS (SIDE * SIDE)
#define WHITE 16
#define N_CLASSES 10
#define TEST_FRACTION 0.2

static tn_status check_row(const char *path, size_t line, const int32_t *row,
			   struct tn_error_info *error)
{
	for (int i = 0; i <= N_PIXELS; i++) {
		int32_t most = i < N_PIXELS ? WHITE : N_CLASSES - 1;
		if (row[i] < 0 || row[i] > most)
			return tn_fail(error, TN_FORMAT, OPERATION,
				       "%s: line %zu, value %d: expected %s from 0 to %d, found %d",
				       tn_file_label(path), line, i + 1,
				       i < N_PIXELS ? "a pixel" : "a label", most, row[i]);
	}
	return TN_OK;
}

static tn_status check_table(const char *path, const struct tn_csv *csv,
			     struct tn_error_info *error)
{
	if (csv->n_columns != N_PIXELS + 1)
		return tn_fail(error, TN_FORMAT, OPERATION,
			       "%s: line 1: expected %d values, found %zu", tn_file_label(path),
			       N_PIXELS + 1, csv->n_columns);
	for (size_t i = 0; i < csv->n_rows; i++) {
		tn_status status = check_row(path, i + 1, csv->values + i * csv->n_columns, error);
		if (status != TN_OK)
			return status;
	}
	return TN_OK;
}

static tn_status convert(const char *path, const struct tn_csv *csv, struct tn_dataset_raw *raw,
			 struct tn_error_info *error)
{
	const struct tn_input_format *format = &raw->format;
	size_t image_size = (size_t)format->height * format->width;
	raw->n = csv->n_rows;
	raw->images = tn_mem_zeroed(csv->n_rows, image_size);
	raw->labels = tn_mem_zeroed(csv->n_rows, sizeof(*raw->labels));
	if (!raw->images || !raw->labels)
		return tn_fail(error, TN_OUT_OF_MEMORY, OPERATION, "%s: no memory for %zu images",
			       tn_file_label(path), csv->n_rows);
	for (size_t i = 0; i < csv->n_rows; i++) {
		const int32_t *row = csv->values + i * csv->n_columns;
		uint8_t pixels[N_PIXELS];
		for (int p = 0; p < N_PIXELS; p++)
			pixels[p] = (uint8_t)row[p];
		tn_enlarge_plane(format, pixels, raw->images + i * image_size);
		raw->labels[i] = row[N_PIXELS];
	}
	return TN_OK;
}

tn_status tn_digits_read(const char *path, int as_stored, struct tn_dataset_raw *out,
			 struct tn_error_info *error)
{
	struct tn_csv csv = {0};
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
		.origin = known->origin,
		.class_names = known->class_names,
	};
	tn_status status = tn_csv_read(path, &csv, error);
	if (status == TN_OK)
		status = check_table(path, &csv, error);
	if (status == TN_OK)
		status = convert(path, &csv, &raw, error);
	tn_csv_release(&csv);
	if (status == TN_OK)
		*out = raw;
	else
		tn_dataset_raw_release(&raw);
	return status;
}
