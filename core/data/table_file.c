/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A CSV file as a data set: x f32 (features), and y i32 (), the class, or f32 (1), a number.
 */
#include "data/table_file.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/name.h"
#include "data/table_names.h"
#include "io/file.h"

#define OPERATION "dataset"

/* *column := that of the target, among columns of numbers. */
static tn_status find_target(const char *path, const struct tn_csv *csv, const char *name,
			     size_t *column, struct tn_error_info *error)
{
	size_t n = (size_t)csv->values.shape[1];
	*column = n - 1;
	if (!name)
		return TN_OK;
	size_t matches = 0;
	for (size_t i = 0; i < n; i++) {
		if (strcmp(csv->column_names[i], name) != 0)
			continue;
		*column = i;
		matches++;
	}
	if (matches == 1)
		return TN_OK;
	const char *like =
		matches ? NULL : tn_name_nearest(name, (const char *const *)csv->column_names, n);
	return tn_fail(error, TN_INVALID_ARGUMENT, OPERATION,
		       "%s: expected one column '%.100s', the target, found %zu%s%.100s%s",
		       tn_file_label(path), name, matches, like ? "; did you mean '" : "",
		       like ? like : "", like ? "'?" : "");
}

/* Copies the features of each row to x, and the number in `column` to y. */
static void split_columns(const struct tn_csv *csv, size_t column, float *x, float *y)
{
	const float *from = csv->values.data;
	size_t n_columns = (size_t)csv->values.shape[1];
	for (int64_t row = 0; row < csv->values.shape[0]; row++, from += n_columns) {
		for (size_t i = 0; i < n_columns; i++) {
			if (i != column)
				*x++ = from[i];
		}
		*y++ = from[column];
	}
}

/* Moves labels and values of a table with a column of labels. */
static void take_labels(struct tn_csv *csv, struct tn_dataset_raw *raw)
{
	raw->samples->data[0] = csv->values.data;
	raw->samples->data[1] = csv->labels.data;
	raw->stratify = 2;
	raw->n_classes = (uint32_t)csv->n_classes;
	raw->class_memory = csv->class_names;
	raw->class_names = (const char *const *)csv->class_names;
	raw->own_class_names = 1;
	csv->values.data = NULL;
	csv->labels.data = NULL;
	csv->class_names = NULL;
	csv->n_classes = 0;
}

static tn_status take_table(const char *path, const struct tn_dataset_options *options,
			    struct tn_csv *csv, struct tn_dataset_raw *raw,
			    struct tn_error_info *error)
{
	size_t column = 0;
	int64_t n_features = csv->values.shape[1] - (options->regression ? 1 : 0);
	tn_status status = TN_OK;
	if (csv->values.shape[0] == 0 || n_features < 1)
		return tn_fail(error, TN_FORMAT, OPERATION,
			       "%s: expected rows of features and a target, found %lld rows of "
			       "%lld features",
			       tn_file_label(path), (long long)csv->values.shape[0],
			       (long long)(n_features < 0 ? 0 : n_features));
	if (options->regression)
		status = find_target(path, csv, options->target, &column, error);
	struct tn_field fields[] = {
		{.dtype = TN_F32, .rank = 1, .shape = {n_features}},
		{.dtype = options->regression ? TN_F32 : TN_I32,
		 .rank = options->regression ? 1 : 0,
		 .shape = {1}},
	};
	if (!status)
		status = tn_samples_create((uint64_t)csv->values.shape[0], 2, fields, &raw->samples,
					   error);
	if (status)
		return status;
	if (!options->regression) {
		take_labels(csv, raw);
		return TN_OK;
	}
	struct tn_samples *samples = raw->samples;
	for (int i = 0; i < 2; i++) {
		samples->data[i] = tn_mem_zeroed((size_t)samples->n, samples->size[i]);
		if (!samples->data[i])
			return tn_no_memory(error, OPERATION, tn_file_label(path), NULL);
	}
	split_columns(csv, column, samples->data[0], samples->data[1]);
	return TN_OK;
}

tn_status tn_table_file_read(const char *path, const struct tn_dataset_options *options,
			     struct tn_dataset_raw *out, struct tn_error_info *error)
{
	struct tn_csv csv = {.struct_size = sizeof(csv)};
	struct tn_dataset_raw raw = {0};
	if (options->target && options->no_header)
		return tn_fail(error, TN_INVALID_ARGUMENT, OPERATION,
			       "%s: expected a header with the name of the target, found no_header",
			       tn_file_label(path));
	struct tn_csv_options reading = tn_csv_defaults();
	reading.dtype = TN_F32;
	reading.header = !options->no_header;
	reading.separator = options->separator;
	reading.finite = 1;
	if (!options->regression && options->target)
		reading.label_name = options->target;
	else if (!options->regression)
		reading.label_column = -1;
	tn_status status = tn_csv_read(path, &reading, &csv, error);
	/* Of a file without names the first sample would be lost, or be why the rest is refused. */
	if ((!status || status == TN_FORMAT) && reading.header && !options->target) {
		tn_status names = tn_table_names_check(path, &reading, error);
		status = names ? names : status;
	}
	if (!status)
		status = take_table(path, options, &csv, &raw, error);
	tn_csv_release(&csv);
	if (!status)
		*out = raw;
	else
		tn_dataset_raw_release(&raw);
	return status;
}
