/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A summary as a table.  Columns are as wide as their longest cell; where these exceed a line, the
 * names of classes and modules are cut.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "array/handle.h"
#include "base/text.h"
#include "nn/summary.h"

enum { NAME, CLASS, OUTPUT, PARAMETERS, MULTIPLY_ADDS, N_COLUMNS };
enum { LINE = 80, CELL = 256, GAP = 2, LEAST_NAME = 12, LEAST_CLASS = 8 };

static const char *const titles[N_COLUMNS] = {"module", "class", "output", "parameters",
					      "multiply-adds"};

typedef char line_cells[N_COLUMNS][CELL];

static void write_shape(char *text, size_t size, int rank, const int64_t *shape)
{
	int n = snprintf(text, size, "(");
	for (int i = 0; i < rank && n < (int)size - 24; i++)
		n += snprintf(text + n, size - (size_t)n, i ? ", %" PRId64 : "%" PRId64, shape[i]);
	snprintf(text + n, size - (size_t)n, rank == 1 ? ",)" : ")");
}

static void write_cells(const struct tn_summary_row *row, line_cells cells)
{
	const char *dot = strrchr(row->path, '.');
	const char *name = !*row->path ? "(whole)" : dot ? dot + 1 : row->path;
	snprintf(cells[NAME], CELL, "%*s%s", row->depth > 1 ? 2 * (row->depth - 1) : 0, "", name);
	snprintf(cells[CLASS], CELL, "%s", row->class_name);
	if (row->rank < 0)
		snprintf(cells[OUTPUT], CELL, "-");
	else
		write_shape(cells[OUTPUT], CELL, row->rank, row->shape);
	snprintf(cells[PARAMETERS], CELL, "%" PRId64, row->parameters);
	snprintf(cells[MULTIPLY_ADDS], CELL, "%" PRId64, row->multiply_adds);
}

static int is_shown(const tn_summary *summary, const struct tn_summary_row *row)
{
	return (uint64_t)row->depth <= summary->options.depth;
}

static int lesser(int a, int b)
{
	return a < b ? a : b;
}

/* Takes what is too much for a line from a column. */
static void shrink(int *widths, int column, int least)
{
	int all = (N_COLUMNS - 1) * GAP;
	for (int i = 0; i < N_COLUMNS; i++)
		all += widths[i];
	int excess = all - LINE, spare = widths[column] - least;
	if (excess > 0 && spare > 0)
		widths[column] -= lesser(excess, spare);
}

static void set_widths(const tn_summary *summary, int *widths)
{
	line_cells cells;
	for (int i = 0; i < N_COLUMNS; i++)
		widths[i] = (int)strlen(titles[i]);
	for (size_t k = 0; k < summary->n; k++) {
		if (!is_shown(summary, &summary->rows[k]))
			continue;
		write_cells(&summary->rows[k], cells);
		for (int i = 0; i < N_COLUMNS; i++) {
			int n = (int)strlen(cells[i]);
			widths[i] = n > widths[i] ? n : widths[i];
		}
	}
	shrink(widths, NAME, 2 * LEAST_NAME);
	shrink(widths, CLASS, LEAST_CLASS);
	shrink(widths, NAME, LEAST_NAME);
	shrink(widths, OUTPUT, LEAST_NAME);
}

/* A cell to the left, with two dots where it is cut, or to the right. */
static void add_cell(struct tn_text *text, const char *cell, int column, int width)
{
	int n = (int)strlen(cell);
	if (column)
		tn_text_format(text, "%*s", GAP, "");
	if (column >= PARAMETERS)
		tn_text_format(text, "%*s", width, cell);
	else if (n > width)
		tn_text_format(text, "%.*s..", width - 2, cell);
	else
		tn_text_format(text, "%-*s", width, cell);
}

static void add_bytes(struct tn_text *text, uint64_t bytes, const char *what)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
	double value = (double)bytes;
	size_t unit = 0;
	for (; value >= 1024.0 && unit + 1 < sizeof(units) / sizeof(units[0]); unit++)
		value /= 1024.0;
	tn_text_format(text, unit ? "%10.2f %-3s  %s\n" : "%10.0f %-3s  %s\n", value, units[unit],
		       what);
}

char *tn_summary_text(const tn_summary *summary)
{
	struct tn_text text;
	line_cells cells;
	int widths[N_COLUMNS];
	char shape[CELL];
	if (!summary || tn_handle_check(summary->runtime, "summary_text"))
		return NULL;
	const struct tn_summary_options *o = &summary->options;
	const struct tn_summary_row *all = &summary->rows[0];
	tn_text_init(&text);
	set_widths(summary, widths);
	for (int i = 0; i < N_COLUMNS; i++)
		add_cell(&text, titles[i], i, widths[i]);
	tn_text_add(&text, "\n");
	for (size_t k = 0; k < summary->n; k++) {
		if (!is_shown(summary, &summary->rows[k]))
			continue;
		write_cells(&summary->rows[k], cells);
		for (int i = 0; i < N_COLUMNS; i++)
			add_cell(&text, cells[i], i, widths[i]);
		tn_text_add(&text, "\n");
	}
	write_shape(shape, sizeof(shape), o->rank, summary->shape);
	tn_text_format(&text, "\n%10" PRId64 "  parameters, %" PRId64 " of them trainable\n",
		       all->parameters, all->trainable);
	if (o->rank)
		tn_text_format(&text, "%10" PRId64 "  multiply-adds of a forward of %s %s\n\n",
			       all->multiply_adds, tn_dtype_name(o->dtype), shape);
	else
		tn_text_add(&text, "\n");
	add_bytes(&text, all->parameter_bytes, "parameters");
	add_bytes(&text, all->buffer_bytes, "buffers");
	if (o->rank) {
		add_bytes(&text, all->output_bytes, "results of all layers");
		add_bytes(&text, all->peak_bytes,
			  "most in use during the forward, besides these and the input");
	}
	return tn_text_take(&text);
}
