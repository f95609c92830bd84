/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Tables of numbers as text.  Guarantees: the result does not depend on the locale of the program,
 * and memory grows with the rows read.
 */
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <tenon/io.h>

#include "base/answer.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/options.h"
#include "base/utf8.h"
#include "io/csv_classes.h"
#include "io/csv_number.h"
#include "io/csv_rows.h"
#include "io/file.h"

#define OPERATION TN_CSV_OPERATION

static const char type[] = "struct tn_csv";
static const struct tn_csv none;

struct reader {
	struct tn_csv_options options;
	struct tn_csv_rows rows;
	struct tn_csv_classes classes;
	locale_t locale;
	size_t n_columns; /* fields of every row */
	size_t label;     /* the field with the label; n_columns: none */
	size_t first_line;
	char **names; /* of the fields; NULL: no header */
	size_t n_rows;
	size_t capacity; /* rows */
	unsigned char *values;
	int32_t *labels;
};

static const char *text_of(const struct reader *reader, size_t field)
{
	return reader->rows.text + reader->rows.fields[field].begin;
}

static tn_status refuse_field(const struct reader *reader, size_t index, const char *expected,
			      struct tn_error_info *error)
{
	const struct tn_csv_field *field = &reader->rows.fields[index];
	const char *name = reader->names ? reader->names[index] : NULL;
	int maybe_header = !reader->options.header && reader->n_rows == 0;
	return tn_fail(
		error, TN_FORMAT, OPERATION,
		"%s: line %zu, column %zu: field %zu%s%.40s%s: expected %s, found %s%.40s%s%s",
		tn_file_label(reader->rows.path), field->line, field->column, index + 1,
		name ? " ('" : "", name ? name : "", name ? "')" : "", expected,
		field->length ? "'" : "nothing", text_of(reader, index), field->length ? "'" : "",
		maybe_header && field->length ? " (a row of names? set header)" : "");
}

/* The texts in one block: pointers, then bytes. */
static char **pack_texts(const char *const *texts, size_t n)
{
	size_t size = n * sizeof(char *);
	for (size_t i = 0; i < n; i++)
		size += strlen(texts[i]) + 1;
	char **block = tn_mem_alloc(size);
	char *to = block ? (char *)(block + n) : NULL;
	for (size_t i = 0; block && i < n; i++) {
		size_t length = strlen(texts[i]) + 1;
		block[i] = memcpy(to, texts[i], length);
		to += length;
	}
	return block;
}

static tn_status check_utf8(const struct reader *reader, size_t index, struct tn_error_info *error)
{
	size_t length = reader->rows.fields[index].length;
	const char *text = text_of(reader, index);
	if (tn_utf8_prefix(text, length) == length)
		return TN_OK;
	return refuse_field(reader, index, "UTF-8", error);
}

static tn_status take_names(struct reader *reader, struct tn_error_info *error)
{
	const char **texts = tn_mem_zeroed(reader->n_columns, sizeof(*texts));
	if (!texts)
		return tn_csv_rows_no_memory(&reader->rows, error);
	tn_status status = TN_OK;
	for (size_t i = 0; !status && i < reader->n_columns; i++) {
		texts[i] = text_of(reader, i);
		status = check_utf8(reader, i, error);
	}
	if (!status) {
		reader->names = pack_texts(texts, reader->n_columns);
		status = reader->names ? TN_OK : tn_csv_rows_no_memory(&reader->rows, error);
	}
	tn_mem_free(texts);
	return status;
}

/* Which field has the label, once the first row has been read. */
static tn_status find_label(struct reader *reader, struct tn_error_info *error)
{
	const char *name = reader->options.label_name;
	int64_t number = reader->options.label_column, n = (int64_t)reader->n_columns;
	size_t matches = 0;
	reader->label = reader->n_columns;
	for (size_t i = 0; name && i < reader->n_columns; i++) {
		if (!strcmp(name, reader->names[i])) {
			reader->label = i;
			matches++;
		}
	}
	if (name && matches != 1)
		return tn_fail(error, TN_INVALID_ARGUMENT, OPERATION,
			       "%s: line %zu: label_name: expected one column named '%.40s', found "
			       "%zu",
			       tn_file_label(reader->rows.path), reader->first_line, name, matches);
	if (number > n || number < -n)
		return tn_fail(error, TN_INVALID_ARGUMENT, OPERATION,
			       "%s: line %zu: label_column: expected at most %zu columns, as in "
			       "this line, found %d",
			       tn_file_label(reader->rows.path), reader->first_line,
			       reader->n_columns, reader->options.label_column);
	if (number)
		reader->label = (size_t)(number > 0 ? number - 1 : n + number);
	return TN_OK;
}

static size_t n_values(const struct reader *reader)
{
	return reader->n_columns - (reader->label < reader->n_columns);
}

/* Gives `values` and `labels` room for that many rows, at least 1. */
static tn_status set_capacity(struct reader *reader, size_t capacity, struct tn_error_info *error)
{
	size_t row = n_values(reader) * tn_dtype_size(reader->options.dtype);
	unsigned char *values = tn_mem_realloc(reader->values, capacity, row ? row : 1);
	if (!values)
		return tn_csv_rows_no_memory(&reader->rows, error);
	reader->values = values;
	if (reader->label < reader->n_columns) {
		int32_t *labels = tn_mem_realloc(reader->labels, capacity, sizeof(*labels));
		if (!labels)
			return tn_csv_rows_no_memory(&reader->rows, error);
		reader->labels = labels;
	}
	reader->capacity = capacity;
	return TN_OK;
}

static tn_status make_room(struct reader *reader, struct tn_error_info *error)
{
	size_t row = n_values(reader) * tn_dtype_size(reader->options.dtype);
	if (reader->n_rows < reader->capacity)
		return TN_OK;
	if (row && reader->n_rows >= TN_HOST_ARRAY_MAX_BYTES / row)
		return tn_fail(error, TN_LIMIT, OPERATION,
			       "%s: line %zu: expected at most %llu bytes of numbers, found more",
			       tn_file_label(reader->rows.path), reader->rows.line,
			       (unsigned long long)TN_HOST_ARRAY_MAX_BYTES);
	return set_capacity(reader, reader->capacity ? 2 * reader->capacity : 1, error);
}

static tn_status take_label(struct reader *reader, struct tn_error_info *error)
{
	const char *text = text_of(reader, reader->label);
	size_t place;
	if (!*text)
		return refuse_field(reader, reader->label, "a label", error);
	int32_t number = tn_csv_classes_find(&reader->classes, text, &place);
	if (number < 0 && reader->options.classes)
		return refuse_field(reader, reader->label, "one of the given classes", error);
	if (number < 0 && reader->classes.n >= TN_CSV_MAX_CLASSES)
		return tn_fail(error, TN_LIMIT, OPERATION,
			       "%s: line %zu: expected at most %u different labels, found more",
			       tn_file_label(reader->rows.path), reader->rows.fields->line,
			       TN_CSV_MAX_CLASSES);
	if (number < 0) {
		tn_status status = check_utf8(reader, reader->label, error);
		if (status)
			return status;
		number = (int32_t)reader->classes.n;
		if (!tn_csv_classes_insert(&reader->classes, text, place))
			return tn_csv_rows_no_memory(&reader->rows, error);
	}
	reader->labels[reader->n_rows] = number;
	return TN_OK;
}

static int is_finite(const void *number, tn_dtype dtype)
{
	float single;
	double value;
	if (dtype == TN_I64)
		return 1;
	memcpy(&single, number, sizeof(single));
	if (dtype == TN_F32)
		return isfinite(single);
	memcpy(&value, number, sizeof(value));
	return isfinite(value);
}

static tn_status take_number(struct reader *reader, size_t index, unsigned char *to,
			     struct tn_error_info *error)
{
	tn_dtype dtype = reader->options.dtype;
	const char *text = text_of(reader, index), *missing = reader->options.missing_text;
	int is_missing = !*text || (missing && !strcmp(text, missing));
	if (is_missing) {
		if (!reader->options.missing_is_nan)
			return refuse_field(reader, index,
					    dtype == TN_I64 ? "an integer" : "a number", error);
		text = "nan";
	}
	const char *expected = tn_csv_number(text, dtype, reader->locale, to);
	if (!expected && !is_missing && reader->options.finite && !is_finite(to, dtype))
		expected = "a finite number";
	return expected ? refuse_field(reader, index, expected, error) : TN_OK;
}

static tn_status take_row(struct reader *reader, struct tn_error_info *error)
{
	size_t size = tn_dtype_size(reader->options.dtype);
	if (reader->rows.n_fields != reader->n_columns)
		return tn_fail(error, TN_FORMAT, OPERATION,
			       "%s: line %zu: expected %zu fields, as in line %zu, found %zu",
			       tn_file_label(reader->rows.path), reader->rows.fields->line,
			       reader->n_columns, reader->first_line, reader->rows.n_fields);
	tn_status status = make_room(reader, error);
	unsigned char *to = reader->values;
	if (!status)
		to += reader->n_rows * n_values(reader) * size;
	for (size_t i = 0; !status && i < reader->n_columns; i++) {
		if (i == reader->label) {
			status = take_label(reader, error);
		} else {
			status = take_number(reader, i, to, error);
			to += size;
		}
	}
	reader->n_rows += !status;
	return status;
}

static tn_status read_rows(struct reader *reader, struct tn_error_info *error)
{
	int found = 0;
	tn_status status = tn_csv_rows_next(&reader->rows, &found, error);
	if (status)
		return status;
	if (!found)
		return tn_fail(error, TN_FORMAT, OPERATION,
			       "%s: line %zu, column %zu: expected a row%s, found the end of the "
			       "content",
			       tn_file_label(reader->rows.path), reader->rows.line,
			       reader->rows.column, reader->options.header ? " of names" : "");
	reader->n_columns = reader->rows.n_fields;
	reader->first_line = reader->rows.fields->line;
	if (reader->options.header)
		status = take_names(reader, error);
	if (!status)
		status = find_label(reader, error);
	if (!status && reader->options.header)
		status = tn_csv_rows_next(&reader->rows, &found, error);
	while (!status && found) {
		status = take_row(reader, error);
		if (!status)
			status = tn_csv_rows_next(&reader->rows, &found, error);
	}
	/* Drops the room for more rows.  A file without rows has arrays nevertheless. */
	return !status ? set_capacity(reader, reader->n_rows ? reader->n_rows : 1, error) : status;
}

/* The classes by their numbers, which become those of the sorted order unless they were given. */
static tn_status number_classes(struct reader *reader, struct tn_csv *out,
				struct tn_error_info *error)
{
	const struct tn_csv_classes *classes = &reader->classes;
	const char **texts = tn_mem_zeroed(classes->n + 1, sizeof(*texts));
	int32_t *numbers = tn_mem_zeroed(classes->n + 1, sizeof(*numbers));
	tn_status status = texts && numbers ? TN_OK : tn_csv_rows_no_memory(&reader->rows, error);
	for (size_t i = 0; !status && i < classes->n; i++) {
		int32_t old = classes->sorted[i].number;
		numbers[old] = reader->options.classes ? old : (int32_t)i;
		texts[numbers[old]] = classes->sorted[i].name;
	}
	for (size_t i = 0; !status && i < reader->n_rows; i++)
		reader->labels[i] = numbers[reader->labels[i]];
	if (!status) {
		out->n_classes = classes->n;
		out->class_names = pack_texts(texts, classes->n);
		status = out->class_names ? TN_OK : tn_csv_rows_no_memory(&reader->rows, error);
	}
	tn_mem_free(texts);
	tn_mem_free(numbers);
	return status;
}

/* The names without that of the column of labels. */
static void drop_label_name(struct reader *reader)
{
	for (size_t i = reader->label; reader->names && i + 1 < reader->n_columns; i++)
		reader->names[i] = reader->names[i + 1];
}

/* Gives the table to the caller, and frees what the struct of an older one has no room for. */
static tn_status answer(struct tn_csv *out, struct tn_csv *own, struct tn_error_info *error)
{
	tn_status status = tn_answer(out, own, sizeof(*own), type, OPERATION, error);
	if (!status)
		tn_struct_answer(own, &none, out->struct_size);
	tn_csv_release(own);
	return status;
}

static tn_status finish(struct reader *reader, struct tn_csv *out, struct tn_error_info *error)
{
	int has_labels = reader->label < reader->n_columns;
	struct tn_csv csv = {.struct_size = sizeof(csv),
			     .values = {.dtype = reader->options.dtype, .rank = 2}};
	tn_status status = has_labels ? number_classes(reader, &csv, error) : TN_OK;
	if (status)
		return status;
	csv.values.shape[0] = (int64_t)reader->n_rows;
	csv.values.shape[1] = (int64_t)n_values(reader);
	csv.values.size_bytes =
		reader->n_rows * n_values(reader) * tn_dtype_size(reader->options.dtype);
	csv.values.data = reader->values;
	reader->values = NULL;
	if (has_labels) {
		csv.labels = (struct tn_host_array){.dtype = TN_I32,
						    .rank = 1,
						    .shape = {(int64_t)reader->n_rows},
						    .size_bytes = reader->n_rows * sizeof(int32_t),
						    .data = reader->labels};
		reader->labels = NULL;
		drop_label_name(reader);
	}
	csv.column_names = reader->names;
	reader->names = NULL;
	return answer(out, &csv, error);
}

static int is_punctuation(int byte)
{
	return byte == '\t' ||
	       (byte > 0 && byte < 128 && strchr(" !\"#$%&'()*/:;<=>?@[\\]^_`{|}~,", byte));
}

static tn_status check_options(const struct reader *reader, struct tn_error_info *error)
{
	const struct tn_csv_options *o = &reader->options;
	const char *wrong = NULL;
	if (o->dtype != TN_F64 && o->dtype != TN_F32 && o->dtype != TN_I64)
		return tn_fail(error, TN_DTYPE, OPERATION,
			       "dtype: expected f64, f32 or i64, found %s",
			       tn_dtype_name(o->dtype));
	if (!is_punctuation(o->separator) || !is_punctuation(o->quote) ||
	    (o->comment && !is_punctuation(o->comment)) || o->separator == o->quote ||
	    o->comment == o->separator || o->comment == o->quote)
		wrong = "separator, quote, comment: expected three different characters of ASCII "
			"that are not part of a number";
	else if (o->missing_is_nan && o->dtype == TN_I64)
		wrong = "missing_is_nan: i64 has no NaN: expected f64 or f32";
	else if (o->missing_text && !o->missing_is_nan)
		wrong = "missing_text: expected missing_is_nan to be set too";
	else if (o->label_name && (o->label_column || !o->header))
		wrong = "label_name: expected a header, and no label_column";
	else if (o->classes && !o->label_name && !o->label_column)
		wrong = "classes: expected a label_name or a label_column";
	else if (o->classes && o->n_classes > TN_CSV_MAX_CLASSES)
		wrong = "n_classes: expected at most TN_CSV_MAX_CLASSES";
	else if (!o->classes && o->n_classes)
		wrong = "n_classes: expected classes to be given too";
	return wrong ? tn_fail(error, TN_INVALID_ARGUMENT, OPERATION, "%s", wrong) : TN_OK;
}

static tn_status take_classes(struct reader *reader, struct tn_error_info *error)
{
	for (size_t i = 0; reader->options.classes && i < reader->options.n_classes; i++) {
		const char *name = reader->options.classes[i];
		size_t place;
		if (!name || !*name || tn_csv_classes_find(&reader->classes, name, &place) >= 0)
			return tn_fail(error, TN_INVALID_ARGUMENT, OPERATION,
				       "classes[%zu]: expected a name that is neither NULL, empty "
				       "nor given before, found '%.40s'",
				       i, name ? name : "NULL");
		if (!tn_csv_classes_insert(&reader->classes, name, place))
			return tn_no_memory(error, OPERATION, "classes", NULL);
	}
	return TN_OK;
}

tn_status tn_csv_read(const char *path, const struct tn_csv_options *options, struct tn_csv *out,
		      struct tn_error_info *error)
{
	struct reader *reader = tn_mem_zeroed(1, sizeof(*reader));
	if (!reader)
		return tn_no_memory(error, OPERATION, tn_file_label(path), NULL);
	reader->options = tn_csv_defaults();
	tn_status status = tn_answer_check(out, sizeof(*out), type, OPERATION, error);
	if (!status)
		status = tn_options_take(&reader->options, sizeof(reader->options), options,
					 "struct tn_csv_options", OPERATION, error);
	if (!status)
		status = check_options(reader, error);
	if (!status)
		status = take_classes(reader, error);
	if (!status) {
		reader->locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
		if (!reader->locale)
			status =
				tn_no_memory(error, OPERATION, tn_file_label(path), "the C locale");
	}
	if (!status)
		status = tn_csv_rows_open(&reader->rows, path, &reader->options, error);
	if (!status)
		status = read_rows(reader, error);
	if (!status)
		status = finish(reader, out, error);
	tn_csv_rows_close(&reader->rows);
	if (reader->locale)
		freelocale(reader->locale);
	tn_csv_classes_release(&reader->classes);
	tn_mem_free(reader->names);
	tn_mem_free(reader->values);
	tn_mem_free(reader->labels);
	tn_mem_free(reader);
	return status;
}

void tn_csv_release(struct tn_csv *csv)
{
	struct tn_csv own = {.struct_size = sizeof(own)};
	if (!csv)
		return;
	/* An older caller's struct has less, and a zeroed one nothing. */
	tn_struct_answer(&own, csv, csv->struct_size);
	tn_host_array_release(&own.values);
	tn_host_array_release(&own.labels);
	tn_mem_free(own.column_names);
	tn_mem_free(own.class_names);
	tn_struct_answer(csv, &none, sizeof(none));
}
