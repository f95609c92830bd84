/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Tables of numbers as text.  Guarantees: the result does not depend on the locale of the program;
 * memory is bounded by the longest line and the numbers.
 */
#include <tenon/files.h>

#include <inttypes.h>
#include <locale.h>
#include <string.h>

#include "array/runtime.h"
#include "base/memory.h"
#include "io/file.h"
#include "io/file_call.h"
#include "io/table_number.h"
#include "io/text_lines.h"

#define OPERATION "loadtxt"

struct field {
	size_t begin, length;
};

struct reader {
	struct tn_loadtxt_options options;
	struct tn_text_lines lines;
	locale_t locale;
	struct field *fields; /* of the current line */
	size_t n_fields, field_capacity;
	size_t first_line; /* the number of the first row's line; 0: there was none */
	size_t n_columns;  /* fields of the first row */
	unsigned char *values;
	size_t n_rows, row_size, used, capacity; /* the last three in bytes */
};

/* ---- Fields ----------------------------------------------------------------------------------*/

static int is_blank(char byte)
{
	return byte == ' ' || byte == '\t' || byte == '\v' || byte == '\f';
}

/* Adds text[begin .. end) without blanks round it. */
static tn_status add_field(struct reader *r, size_t begin, size_t end, struct tn_error_info *error)
{
	const char *text = r->lines.text;
	if (r->n_fields == r->field_capacity) {
		const size_t capacity = r->field_capacity ? 2 * r->field_capacity : 64;
		if (r->field_capacity >= TN_CSV_MAX_COLUMNS)
			return tn_fail(error, TN_LIMIT, OPERATION,
				       "%s: line %zu: expected at most %u fields, found more",
				       tn_file_label(r->lines.path), r->lines.number,
				       TN_CSV_MAX_COLUMNS);
		struct field *fields = tn_mem_realloc(r->fields, capacity, sizeof(*fields));
		if (!fields)
			return tn_text_lines_no_memory(&r->lines, error);
		r->fields = fields;
		r->field_capacity = capacity;
	}
	while (begin < end && is_blank(text[begin]))
		begin++;
	while (end > begin && is_blank(text[end - 1]))
		end--;
	r->fields[r->n_fields++] = (struct field){begin, end - begin};
	return TN_OK;
}

/* The line without its comment. */
static size_t content_of(const struct reader *r)
{
	const char *comments = r->options.comments;
	const char *comment = *comments ? strstr(r->lines.text, comments) : NULL;
	return comment ? (size_t)(comment - r->lines.text) : r->lines.length;
}

static tn_status split_at_blanks(struct reader *r, size_t length, struct tn_error_info *error)
{
	const char *text = r->lines.text;
	for (size_t i = 0, end; i < length; i = end) {
		end = i + 1;
		if (is_blank(text[i]))
			continue;
		while (end < length && !is_blank(text[end]))
			end++;
		const tn_status status = add_field(r, i, end, error);
		if (status)
			return status;
	}
	return TN_OK;
}

/* An empty line has no fields. */
static tn_status split_at_delimiters(struct reader *r, size_t length, struct tn_error_info *error)
{
	size_t begin = 0;
	for (size_t i = 0; length && i <= length; i++) {
		if (i < length && (unsigned char)r->lines.text[i] != r->options.delimiter)
			continue;
		const tn_status status = add_field(r, begin, i, error);
		if (status)
			return status;
		begin = i + 1;
	}
	return TN_OK;
}

/* ---- Rows ------------------------------------------------------------------------------------*/

static tn_status refuse(struct reader *r, size_t index, const char *expected,
			struct tn_error_info *error)
{
	const struct field *field = &r->fields[index];
	return tn_fail(error, TN_FORMAT, OPERATION,
		       "%s: line %zu, column %zu: field %zu: expected %s, found '%.*s'",
		       tn_file_label(r->lines.path), r->lines.number, field->begin + 1, index + 1,
		       expected, field->length < 40 ? (int)field->length : 40,
		       r->lines.text + field->begin);
}

static tn_status take_field(struct reader *r, size_t index, void *to, struct tn_error_info *error)
{
	const struct tn_loadtxt_options *o = &r->options;
	const struct field *field = &r->fields[index];
	char *text = r->lines.text + field->begin;
	const char after = text[field->length];
	text[field->length] = '\0';
	const int is_missing =
		o->fill_missing && (!*text || (o->missing_text && !strcmp(text, o->missing_text)));
	const char *expected = NULL;
	if (is_missing)
		tn_table_fill(o->filling_value, o->dtype, to);
	else
		expected = tn_table_number(text, o->dtype, r->locale, to);
	text[field->length] = after;
	return expected ? refuse(r, index, expected, error) : TN_OK;
}

/* Which field is number i of usecols? */
static tn_status column_of(const struct reader *r, int32_t i, size_t *index,
			   struct tn_error_info *error)
{
	const int column = r->options.usecols[i];
	const int64_t place = column < 0 ? column + (int64_t)r->n_fields : column;
	if (place < 0 || place >= (int64_t)r->n_fields)
		return tn_fail(error, TN_FORMAT, OPERATION,
			       "%s: line %zu: expected a column %d (usecols), found %zu fields",
			       tn_file_label(r->lines.path), r->lines.number, column, r->n_fields);
	*index = (size_t)place;
	return TN_OK;
}

static tn_status make_room(struct reader *r, struct tn_error_info *error)
{
	if (r->capacity - r->used >= r->row_size)
		return TN_OK;
	if (r->used + r->row_size > TN_HOST_ARRAY_MAX_BYTES)
		return tn_fail(
			error, TN_LIMIT, OPERATION,
			"%s: line %zu: expected at most %" PRIu64 " bytes of numbers, found more",
			tn_file_label(r->lines.path), r->lines.number, TN_HOST_ARRAY_MAX_BYTES);
	const size_t capacity = 2 * r->capacity + r->row_size;
	unsigned char *values = tn_mem_realloc(r->values, capacity, 1);
	if (!values)
		return tn_text_lines_no_memory(&r->lines, error);
	r->values = values;
	r->capacity = capacity;
	return TN_OK;
}

/* The first row says how many fields there are. */
static tn_status check_row(struct reader *r, struct tn_error_info *error)
{
	const size_t size = tn_dtype_size(r->options.dtype);
	if (!r->first_line) {
		r->first_line = r->lines.number;
		r->n_columns = r->n_fields;
		r->row_size =
			size * (r->options.n_usecols ? (size_t)r->options.n_usecols : r->n_fields);
	}
	if (r->n_fields == r->n_columns || r->options.n_usecols)
		return make_room(r, error);
	return tn_fail(error, TN_FORMAT, OPERATION,
		       "%s: line %zu: expected %zu fields, as in line %zu, found %zu",
		       tn_file_label(r->lines.path), r->lines.number, r->n_columns, r->first_line,
		       r->n_fields);
}

static tn_status take_row(struct reader *r, struct tn_error_info *error)
{
	const size_t size = tn_dtype_size(r->options.dtype), n = r->row_size / size;
	for (size_t i = 0; i < n; i++) {
		size_t index = i;
		tn_status status = TN_OK;
		if (r->options.n_usecols)
			status = column_of(r, (int32_t)i, &index, error);
		if (!status)
			status = take_field(r, index, r->values + r->used + i * size, error);
		if (status)
			return status;
	}
	r->used += r->row_size;
	r->n_rows++;
	return TN_OK;
}

static tn_status read_rows(struct reader *r, struct tn_error_info *error)
{
	const struct tn_loadtxt_options *o = &r->options;
	while (r->n_rows < o->max_rows) {
		int found;
		tn_status status = tn_text_lines_next(&r->lines, &found, error);
		if (status || !found)
			return status;
		if (r->lines.number <= (size_t)o->skiprows)
			continue;
		const size_t length = content_of(r);
		r->n_fields = 0;
		status = o->delimiter ? split_at_delimiters(r, length, error)
				      : split_at_blanks(r, length, error);
		if (!status && !r->n_fields)
			continue;
		if (!status)
			status = check_row(r, error);
		if (!status)
			status = take_row(r, error);
		if (status)
			return status;
	}
	return TN_OK;
}

/* ---- The call --------------------------------------------------------------------------------*/

static tn_status check_counts(struct tn_runtime *runtime, const struct tn_loadtxt_options *o)
{
	if (o->skiprows < 0)
		return tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, OPERATION,
				       "skiprows: expected 0 or more, found %" PRId64, o->skiprows);
	if (o->n_usecols < 0 || o->n_usecols > (int32_t)TN_CSV_MAX_COLUMNS ||
	    (o->n_usecols > 0) != (o->usecols != NULL))
		return tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, OPERATION,
				       "n_usecols: expected 1 to %u with usecols, and 0 without, "
				       "found %" PRId32,
				       TN_CSV_MAX_COLUMNS, o->n_usecols);
	if (o->ndmin > 2 || o->fill_missing > 1)
		return tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, OPERATION,
				       "%s: expected at most %d, found %" PRIu32,
				       o->ndmin > 2 ? "ndmin" : "fill_missing",
				       o->ndmin > 2 ? 2 : 1,
				       o->ndmin > 2 ? o->ndmin : o->fill_missing);
	if (o->missing_text && !o->fill_missing)
		return tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, OPERATION,
				       "missing_text: expected NULL without fill_missing");
	return TN_OK;
}

static tn_status check_options(struct tn_runtime *runtime, const struct tn_loadtxt_options *o)
{
	if (!tn_dtype_size(o->dtype))
		return tn_runtime_fail(runtime, TN_DTYPE, OPERATION,
				       "dtype: %" PRId32 " is not a dtype", o->dtype);
	if (!o->comments)
		return tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, OPERATION,
				       "comments: expected a string, found NULL");
	if (o->delimiter < 0 || o->delimiter > 255 || o->delimiter == '\n' ||
	    o->delimiter == '\r' || (o->delimiter && strchr(o->comments, o->delimiter)))
		return tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, OPERATION,
				       "delimiter: expected a byte that ends no line and is not in "
				       "comments, found %" PRId32,
				       o->delimiter);
	return check_counts(runtime, o);
}

/* Rows and columns, without those of length 1 that ndmin does not ask for. */
static tn_array *make_array(tn_context *context, const struct reader *r)
{
	const struct tn_loadtxt_options *o = &r->options;
	const int64_t columns = o->n_usecols    ? o->n_usecols
				: r->first_line ? (int64_t)r->n_columns
						: 1;
	const int64_t both[2] = {(int64_t)r->n_rows, columns};
	int64_t shape[2];
	int rank = 0;
	for (int i = 0; i < 2; i++) {
		if (o->ndmin == 2 || both[i] != 1)
			shape[rank++] = both[i];
	}
	if (rank < (int)o->ndmin)
		shape[rank++] = 1;
	return tn_from_host(context, o->dtype, rank, shape, r->values);
}

static tn_status read_table(struct reader *r, const char *path, struct tn_error_info *error)
{
	r->locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	if (!r->locale)
		return tn_no_memory(error, OPERATION, tn_file_label(path), "the C locale");
	tn_status status = tn_text_lines_open(&r->lines, path, OPERATION, error);
	if (!status)
		status = read_rows(r, error);
	tn_text_lines_close(&r->lines);
	freelocale(r->locale);
	return status;
}

static tn_array *load(tn_context *context, const char *path, struct reader *r)
{
	struct tn_error_info error;
	tn_array *array = NULL;
	tn_error_reset(&error);
	if (read_table(r, path, &error))
		tn_runtime_keep(tn_runtime_of(context), &error);
	else
		array = make_array(context, r);
	tn_mem_free(r->fields);
	tn_mem_free(r->values);
	return array;
}

tn_array *tn_loadtxt(tn_context *context, const char *path,
		     const struct tn_loadtxt_options *options)
{
	struct tn_runtime *runtime = tn_runtime_of(context);
	if (tn_file_call_check(runtime, OPERATION, path))
		return NULL;
	struct reader *r = tn_mem_zeroed(1, sizeof(*r));
	if (!r) {
		tn_runtime_fail(runtime, TN_OUT_OF_MEMORY, OPERATION, "%s: no memory",
				tn_file_label(path));
		return NULL;
	}
	struct tn_loadtxt_options *o = &r->options;
	*o = tn_loadtxt_defaults();
	tn_array *array = NULL;
	if (!tn_runtime_take(runtime, o, sizeof(*o), options, "struct tn_loadtxt_options",
			     OPERATION)) {
		if (!check_options(runtime, o))
			array = load(context, path, r);
	}
	tn_mem_free(r);
	return array;
}
