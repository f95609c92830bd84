/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Compares the first two rows of a CSV file.
 */
#include "data/table_names.h"

#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "io/csv_number.h"
#include "io/csv_rows.h"
#include "io/file.h"

#define OPERATION "dataset"

struct comparison {
	struct tn_csv_rows rows;
	locale_t c_locale;
	size_t n;           /* columns of the first row but for the label */
	char *are_numbers;  /* of the first row */
	int is_label_text;  /* of the first row, which has a label; the label is last */
	int are_counted;    /* it is 0, 1, 2, ... or 1, 2, 3, ... */
	char beginning[48]; /* of the first row, for the error */
};

static const char *field(const struct comparison *c, size_t i)
{
	return c->rows.text + c->rows.fields[i].begin;
}

static int is_number(const struct comparison *c, size_t i)
{
	double number;
	return !tn_csv_number(field(c, i), TN_F64, c->c_locale, &number);
}

/* As programs write columns that have no names. */
static int are_counted(const struct comparison *c)
{
	char text[24];
	size_t from = c->n > 2 && strcmp(field(c, 0), "0") != 0;
	for (size_t i = 0; i < c->n; i++) {
		snprintf(text, sizeof(text), "%zu", i + from);
		if (strcmp(field(c, i), text) != 0)
			return 0;
	}
	return c->n > 2;
}

static tn_status take_first(struct comparison *c, int has_label, struct tn_error_info *error)
{
	c->n = c->rows.n_fields - (has_label ? 1 : 0);
	c->are_numbers = tn_mem_alloc(c->n);
	if (!c->are_numbers)
		return tn_csv_rows_no_memory(&c->rows, error);
	for (size_t i = 0; i < c->n; i++)
		c->are_numbers[i] = (char)is_number(c, i);
	c->is_label_text = has_label && !is_number(c, c->n);
	c->are_counted = are_counted(c);
	snprintf(c->beginning, sizeof(c->beginning), "%.40s", field(c, 0));
	return TN_OK;
}

/* The second row: has it numbers, all of them in columns where the first has one too?  A label that
 * is a number below one that is a text says that the first has names: "2001,2002,label". */
static int is_like_first(const struct comparison *c, int has_label)
{
	int any = 0;
	if (c->rows.n_fields != c->n + (has_label ? 1 : 0) ||
	    (c->is_label_text && is_number(c, c->n)))
		return 0;
	for (size_t i = 0; i < c->n; i++) {
		int number = is_number(c, i);
		if (number && !c->are_numbers[i])
			return 0;
		any |= number;
	}
	return any;
}

static tn_status compare(struct comparison *c, int has_label, struct tn_error_info *error)
{
	int found = 0;
	tn_status status = tn_csv_rows_next(&c->rows, &found, error);
	if (!status && found)
		status = take_first(c, has_label, error);
	if (!status && found)
		status = tn_csv_rows_next(&c->rows, &found, error);
	if (status || !found || c->are_counted || !is_like_first(c, has_label))
		return status == TN_OUT_OF_MEMORY ? status : TN_OK;
	return tn_fail(
		error, TN_FORMAT, OPERATION,
		"%s: line 1: expected the names of the columns, found numbers as in the next "
		"row ('%s', ...): if the file has no names, set no_header; if these are names, set "
		"target to that of the labels",
		tn_file_label(c->rows.path), c->beginning);
}

tn_status tn_table_names_check(const char *path, const struct tn_csv_options *reading,
			       struct tn_error_info *error)
{
	struct comparison *c = tn_mem_zeroed(1, sizeof(*c));
	if (!c)
		return tn_no_memory(error, OPERATION, tn_file_label(path), NULL);
	c->c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	tn_status status =
		c->c_locale ? tn_csv_rows_open(&c->rows, path, reading, error)
			    : tn_no_memory(error, OPERATION, tn_file_label(path), "the C locale");
	if (!status)
		status = compare(c, reading->label_column != 0, error);
	tn_csv_rows_close(&c->rows);
	if (c->c_locale)
		freelocale(c->c_locale);
	tn_mem_free(c->are_numbers);
	tn_mem_free(c);
	return status;
}
