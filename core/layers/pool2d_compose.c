/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Pooling.  A large window is a reduction over the window view.  A small one is a map with an input
 * for each of its cells, which reads along rows of the output; more cells than a map has inputs
 * take several maps in a row.  The gradient is a map with an output for each cell, where windows do
 * not overlap, else one map for each cell; in neither case do elements share memory.
 *
 * In all formulas index(2) is p and index(3) is q, the row and the column of the output.
 */
#include "layers/pool2d_compose.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "dispatch/route.h"
#include "layers/window.h"
#include "ops/copy.h"
#include "ops/map.h"
#include "ops/reduce_run.h"

/* ---- Padding ---------------------------------------------------------------------------------*/

static int has_padding(const struct tn_pool2d *pool)
{
	const int64_t *padding = pool->window.padding;
	return (padding[0] | padding[1] | padding[2] | padding[3]) != 0;
}

/* Planes with room for the padding, filled with `value`. */
static tn_array *make_padded(const struct tn_pool2d *pool, double value)
{
	const int64_t *padding = pool->window.padding;
	const int64_t shape[] = {pool->N, pool->C, pool->H + padding[0] + padding[2],
				 pool->W + padding[1] + padding[3]};
	tn_array *padded =
		tn_array_make(pool->runtime, tn_array_home(pool->y), pool->y->dtype, 4, shape);
	if (padded && tn_fill_run(pool->runtime, TN_DO_FILL, padded, value))
		return NULL;
	return padded;
}

static tn_array *inside(const struct tn_pool2d *pool, const tn_array *padded)
{
	const int64_t shape[] = {pool->N, pool->C, pool->H, pool->W};
	int64_t offset = padded->offset + pool->window.padding[0] * padded->strides[2] +
			 pool->window.padding[1] * padded->strides[3];
	return tn_array_view(padded, 4, shape, padded->strides, offset);
}

/* xp as (N, C, P, Q, kernel0, kernel1). */
static tn_array *windows(const struct tn_pool2d *pool, const tn_array *xp)
{
	const struct tn_window *window = &pool->window;
	const int64_t shape[] = {pool->N, pool->C,           pool->P,
				 pool->Q, window->kernel[0], window->kernel[1]};
	const int64_t strides[] = {xp->strides[0],
				   xp->strides[1],
				   xp->strides[2] * window->stride[0],
				   xp->strides[3] * window->stride[1],
				   xp->strides[2],
				   xp->strides[3]};
	return tn_array_view(xp, 6, shape, strides, xp->offset);
}

/* ---- Forward, a large window -----------------------------------------------------------------*/

enum { KERNEL_AXES = 1u << 4 | 1u << 5 };

static const struct tn_formula as_is = {.text = "term = x", .inputs = "x"};
static const struct tn_formula twice = {
	.text = "largest = x; argmax = x", .inputs = "x", .outputs = "largest argmax"};

/* Converts a cell's index in its window to its place, the index in the plane.  The first of equal
 * cells can lie in the padding only where all cells inside are -inf, like the padding: it is then
 * moved to the first cell inside. */
#define PLACE_SCALARS "kernel1 stride0 stride1 pad_top pad_left W"
static const struct tn_formula find_place = {
	.text = "y = largest\n"
		"h = index(2) * stride0 - pad_top + argmax / kernel1\n"
		"w = index(3) * stride1 - pad_left + rem(argmax, kernel1)\n"
		"place = i32(max(h, 0) * W + max(w, 0))",
	.inputs = "largest argmax",
	.scalars = PLACE_SCALARS,
	.outputs = "y place",
	.scalar_dtype = TN_I64};

static void place_scalars(const struct tn_pool2d *pool, double scalars[6])
{
	const struct tn_window *window = &pool->window;
	scalars[0] = (double)window->kernel[1];
	scalars[1] = (double)window->stride[0];
	scalars[2] = (double)window->stride[1];
	scalars[3] = (double)window->padding[0];
	scalars[4] = (double)window->padding[1];
	scalars[5] = (double)pool->W;
}

static tn_status forward_max(const struct tn_pool2d *pool, const tn_array *xw)
{
	double scalars[6];
	tn_array *const outputs[] = {pool->y, pool->index};
	struct tn_formula_reduction reduction = {.prologue = &as_is,
						 .inputs = &xw,
						 .outputs = outputs,
						 .epilogue_scalars = scalars,
						 .axes = KERNEL_AXES,
						 .combiners = {TN_REDUCE_MAX, TN_REDUCE_ARGMAX}};
	place_scalars(pool, scalars);
	if (pool->index) {
		reduction.prologue = &twice;
		reduction.epilogue = &find_place;
	}
	return tn_formula_reduce(pool->runtime, TN_DO_MAX, &reduction);
}

static const struct tn_formula scaled = {
	.text = "y = sum * inverse_count", .inputs = "sum", .scalars = "inverse_count"};

/* A window has height * width cells inside the plane. */
#define COUNT_INSIDE                                                                               \
	"top = index(2) * stride0 - pad_top; height = min(top + kernel0, H) - max(top, 0)\n"       \
	"left = index(3) * stride1 - pad_left; width = min(left + kernel1, W) - max(left, 0)\n"
#define COUNT_SCALARS "kernel0 kernel1 stride0 stride1 pad_top pad_left H W"
static const struct tn_formula by_count = {.text = COUNT_INSIDE "y = sum / (height * width)",
					   .inputs = "sum",
					   .scalars = COUNT_SCALARS,
					   .scalar_dtype = TN_I64};

static void count_scalars(const struct tn_pool2d *pool, double scalars[8])
{
	const struct tn_window *window = &pool->window;
	for (int i = 0; i < 2; i++) {
		scalars[i] = (double)window->kernel[i];
		scalars[2 + i] = (double)window->stride[i];
		scalars[4 + i] = (double)window->padding[i];
	}
	scalars[6] = (double)pool->H;
	scalars[7] = (double)pool->W;
}

static int has_one_count(const struct tn_pool2d *pool)
{
	return pool->window.count_padding || !has_padding(pool);
}

static double one_part(const struct tn_pool2d *pool)
{
	return 1 / ((double)pool->window.kernel[0] * (double)pool->window.kernel[1]);
}

static tn_status forward_average(const struct tn_pool2d *pool, const tn_array *xw)
{
	double scalars[8];
	tn_array *const outputs[] = {pool->y};
	struct tn_formula_reduction reduction = {.prologue = &as_is,
						 .epilogue = &by_count,
						 .inputs = &xw,
						 .outputs = outputs,
						 .epilogue_scalars = scalars,
						 .axes = KERNEL_AXES,
						 .combiners = {TN_REDUCE_SUM}};
	count_scalars(pool, scalars);
	if (has_one_count(pool)) {
		reduction.epilogue = &scaled;
		scalars[0] = one_part(pool);
	}
	return tn_formula_reduce(pool->runtime, TN_DO_SUM, &reduction);
}

/* ---- Forward, a small window ------------------------------------------------------------------*/

enum { MOST_TEXT = 2048 };

/* A formula's text, or a list of its names, while it is written. */
struct text {
	char data[MOST_TEXT];
	size_t length;
};

static void write_text(struct text *text, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void write_text(struct text *text, const char *format, ...)
{
	va_list arguments;
	int n;
	va_start(arguments, format);
	n = vsnprintf(text->data + text->length, MOST_TEXT - text->length, format, arguments);
	va_end(arguments);
	if (n > 0 && text->length + (size_t)n < MOST_TEXT)
		text->length += (size_t)n;
}

/* The cells [first, first + n) of a window, of which there are `all`. */
struct cells {
	int first, n, all;
};

static int is_last(const struct cells *cells)
{
	return cells->first + cells->n == cells->all;
}

/* m is the largest value so far and k = 256 r + s its cell; those before `first` are the inputs m0
 * and k0.  A NaN is larger than all but an earlier NaN.  Indices are i32, which vector units can
 * multiply; no division. */
static void write_max(struct text *text, const struct cells *cells, int width, int wants_index)
{
	int step = 0;
	if (!cells->first)
		write_text(text, wants_index ? "m0 = cell0\nk0 = i32(0)\n" : "m0 = cell0\n");
	for (int i = cells->first ? cells->first : 1; i < cells->first + cells->n; i++, step++) {
		write_text(text,
			   "wins%d = !(cell%d <= m%d) && m%d == m%d\n"
			   "m%d = wins%d ? cell%d : m%d\n",
			   step, i, step, step, step, step + 1, step, i, step);
		if (wants_index)
			write_text(text, "k%d = wins%d ? i32(%d) : k%d\n", step + 1, step,
				   i / width * 256 + i % width, step);
	}
	write_text(text, "y = m%d\n", step);
	if (!wants_index)
		return;
	if (is_last(cells))
		write_text(text,
			   "h = i32(index(2)) * stride0 - pad_top + (k%d >> 8)\n"
			   "w = i32(index(3)) * stride1 - pad_left + (k%d & 255)\n"
			   "place = max(h, 0) * W + max(w, 0)",
			   step, step);
	else
		write_text(text, "k = k%d", step);
}

static void write_sum(struct text *text, const struct cells *cells, int one_count)
{
	write_text(text, "sum = %s", cells->first ? "sum_before" : "cell0");
	for (int i = cells->first ? cells->first : 1; i < cells->first + cells->n; i++)
		write_text(text, " + cell%d", i);
	if (!is_last(cells))
		return;
	if (one_count)
		write_text(text, "\ny = sum * inverse_count");
	else
		write_text(text, "\n" COUNT_INSIDE "y = sum / (height * width)");
}

static tn_array *cell_of(const tn_array *windows, int64_t r, int64_t s)
{
	return tn_array_view(windows, 4, windows->shape, windows->strides,
			     windows->offset + r * windows->strides[4] + s * windows->strides[5]);
}

/* The inputs of a map over these cells, with their names: what the earlier ones gave, and the
 * cells. */
static tn_status take_cells(const struct tn_pool2d *pool, const tn_array *xw,
			    const struct cells *cells, const tn_array **inputs, struct text *names)
{
	int64_t width = pool->window.kernel[1];
	int is_max = pool->window.kind == TN_POOL_MAX, n = 0;
	if (cells->first) {
		write_text(names, is_max ? "m0" : "sum_before");
		inputs[n++] = pool->y;
	}
	if (cells->first && pool->index) {
		write_text(names, " k0");
		inputs[n++] = pool->index;
	}
	for (int i = cells->first; i < cells->first + cells->n; i++) {
		write_text(names, n ? " cell%d" : "cell%d", i);
		inputs[n] = cell_of(xw, i / width, i % width);
		if (!inputs[n++])
			return tn_report_status(pool->runtime);
	}
	return TN_OK;
}

/* All these formulas have eight scalars, whichever of them they read. */
static tn_status map_cells(const struct tn_pool2d *pool, const tn_array *xw,
			   const struct cells *cells)
{
	int wants_index = pool->index != NULL;
	struct text text = {.length = 0}, names = {.length = 0};
	struct tn_formula formula = {.text = text.data, .inputs = names.data};
	tn_array *const outputs[] = {pool->y, pool->index};
	const tn_array *inputs[TN_PROGRAM_MAX_INPUTS];
	double scalars[8] = {0};
	tn_status status = take_cells(pool, xw, cells, inputs, &names);
	if (status)
		return status;
	if (pool->window.kind == TN_POOL_MAX) {
		write_max(&text, cells, (int)pool->window.kernel[1], wants_index);
		place_scalars(pool, scalars);
		formula.scalars = PLACE_SCALARS " kernel0 H";
		formula.scalar_dtype = TN_I32;
		if (wants_index)
			formula.outputs = is_last(cells) ? "y place" : "y k";
	} else {
		write_sum(&text, cells, has_one_count(pool));
		count_scalars(pool, scalars);
		formula.scalars = COUNT_SCALARS;
		formula.scalar_dtype = TN_I64;
		if (has_one_count(pool)) {
			scalars[0] = one_part(pool);
			formula.scalars =
				"inverse_count kernel1 stride0 stride1 pad_top pad_left H W";
			formula.scalar_dtype = 0;
		}
	}
	return tn_formula_map(pool->runtime, pool->operation, &formula, inputs, outputs, scalars);
}

static tn_status forward_small(const struct tn_pool2d *pool, const tn_array *xw)
{
	struct cells cells = {.all = (int)(pool->window.kernel[0] * pool->window.kernel[1])};
	int room = TN_PROGRAM_MAX_INPUTS;
	tn_status status;
	do {
		int left = cells.all - cells.first;
		cells.n = left < room ? left : room;
		status = map_cells(pool, xw, &cells);
		cells.first += cells.n;
		room = TN_PROGRAM_MAX_INPUTS - (pool->index ? 2 : 1);
	} while (!status && cells.first < cells.all);
	return status;
}

tn_status tn_compose_pool2d(void *argument)
{
	const struct tn_pool2d *pool = argument;
	int is_max = pool->window.kind == TN_POOL_MAX;
	tn_array *xp = pool->x;
	if (has_padding(pool)) {
		xp = make_padded(pool, is_max ? -INFINITY : 0);
		tn_array *room = xp ? inside(pool, xp) : NULL;
		if (!room || tn_copy_run(pool->runtime, TN_DO_COPY, room, pool->x))
			return tn_report_status(pool->runtime);
	}
	tn_array *xw = windows(pool, xp);
	if (!xw)
		return tn_report_status(pool->runtime);
	if (tn_pool2d_is_small(pool))
		return forward_small(pool, xw);
	return is_max ? forward_max(pool, xw) : forward_average(pool, xw);
}

/* ---- Backward --------------------------------------------------------------------------------*/

/* The place of `cell` of the window at p, q is cell + p row_step + q column_step. */
static const struct tn_formula add_chosen = {
	.text = "chosen = place - i32(index(2)) * row_step - i32(index(3)) * column_step\n"
		"dx = dx + (chosen == cell ? dy : 0)",
	.inputs = "dx dy place",
	.scalars = "row_step column_step cell",
	.outputs = "dx",
	.scalar_dtype = TN_I32};
static const struct tn_formula add_scaled = {.text = "dx = dx + dy * inverse_count",
					     .inputs = "dx dy",
					     .scalars = "inverse_count",
					     .outputs = "dx"};
static const struct tn_formula add_by_count = {.text = COUNT_INSIDE
					       "dx = dx + dy / (height * width)",
					       .inputs = "dx dy",
					       .scalars = COUNT_SCALARS,
					       .outputs = "dx",
					       .scalar_dtype = TN_I64};

/* Adds the share of cell number `cell` of each window. */
static tn_status add_cell(const struct tn_pool2d *pool, const tn_array *windows, int64_t cell)
{
	const struct tn_window *window = &pool->window;
	const struct tn_formula *formula = &add_by_count;
	int64_t r = cell / window->kernel[1], s = cell % window->kernel[1];
	tn_array *to = cell_of(windows, r, s);
	const tn_array *inputs[] = {to, pool->y, pool->index};
	double scalars[8];
	if (!to)
		return tn_report_status(pool->runtime);
	if (pool->index) {
		formula = &add_chosen;
		scalars[0] = (double)(window->stride[0] * pool->W);
		scalars[1] = (double)window->stride[1];
		scalars[2] = (double)((r - window->padding[0]) * pool->W + s - window->padding[1]);
	} else if (has_one_count(pool)) {
		formula = &add_scaled;
		scalars[0] = one_part(pool);
	} else {
		count_scalars(pool, scalars);
	}
	tn_status status = tn_formula_map(pool->runtime, TN_DO_ADD, formula, inputs, &to, scalars);
	tn_array_discard(to);
	return status;
}

/* Every element belongs to a window. */
static int is_covering(const struct tn_pool2d *pool)
{
	const struct tn_window *window = &pool->window;
	return !has_padding(pool) && window->stride[0] <= window->kernel[0] &&
	       window->stride[1] <= window->kernel[1] &&
	       (pool->P - 1) * window->stride[0] + window->kernel[0] == pool->H &&
	       (pool->Q - 1) * window->stride[1] + window->kernel[1] == pool->W;
}

/* Writes cells [first, first + n) of a maximum's disjoint windows. */
static tn_status write_cells(const struct tn_pool2d *pool, const tn_array *windows, int64_t first,
			     int n)
{
	const struct tn_window *window = &pool->window;
	const tn_array *inputs[] = {pool->y, pool->index};
	tn_array *outputs[TN_PROGRAM_MAX_OUTPUTS];
	struct text text = {.length = 0}, cell_names = {.length = 0}, dx_names = {.length = 0};
	const struct tn_formula formula = {.text = text.data,
					   .inputs = "dy place",
					   .scalars = cell_names.data,
					   .outputs = dx_names.data,
					   .scalar_dtype = TN_I32};
	double scalars[TN_PROGRAM_MAX_SCALARS] = {(double)(window->stride[0] * pool->W),
						  (double)window->stride[1]};
	_Static_assert(2 + TN_PROGRAM_MAX_OUTPUTS <= TN_PROGRAM_MAX_SCALARS,
		       "a scalar for each cell");
	write_text(&cell_names, "row_step column_step");
	write_text(&text,
		   "chosen = place - i32(index(2)) * row_step - i32(index(3)) * column_step\n");
	for (int i = 0; i < n; i++) {
		int64_t r = (first + i) / window->kernel[1];
		int64_t s = (first + i) % window->kernel[1];
		outputs[i] = cell_of(windows, r, s);
		if (!outputs[i])
			return tn_report_status(pool->runtime);
		scalars[2 + i] =
			(double)((r - window->padding[0]) * pool->W + s - window->padding[1]);
		write_text(&cell_names, " cell%d", i);
		write_text(&dx_names, i ? " dx%d" : "dx%d", i);
		write_text(&text, "dx%d = chosen == cell%d ? dy : 0\n", i, i);
	}
	return tn_formula_map_apart(pool->runtime, pool->operation, &formula, inputs, outputs,
				    scalars);
}

tn_status tn_compose_pool2d_backward(void *argument)
{
	const struct tn_pool2d *pool = argument;
	const struct tn_window *window = &pool->window;
	/* No element belongs to two windows: gradients are written, not added. */
	int writes = pool->index && tn_pool2d_is_small(pool) &&
		     window->stride[0] >= window->kernel[0] &&
		     window->stride[1] >= window->kernel[1];
	tn_array *padded = pool->x, *all, *room;
	tn_status status = TN_OK;
	if (has_padding(pool))
		padded = make_padded(pool, 0);
	else if (!writes || !is_covering(pool))
		status = tn_fill_run(pool->runtime, TN_DO_FILL, pool->x, 0);
	all = padded && !status ? windows(pool, padded) : NULL;
	if (!all)
		return tn_report_status(pool->runtime);
	int64_t n_cells = window->kernel[0] * window->kernel[1];
	int64_t n_at_once = writes ? TN_PROGRAM_MAX_OUTPUTS : 1;
	for (int64_t cell = 0; cell < n_cells && !status; cell += n_at_once) {
		int64_t left = n_cells - cell, n = left < n_at_once ? left : n_at_once;
		status = writes ? write_cells(pool, all, cell, (int)n) : add_cell(pool, all, cell);
	}
	if (status || padded == pool->x)
		return status;
	room = inside(pool, padded);
	return room ? tn_copy_run(pool->runtime, TN_DO_COPY, pool->x, room)
		    : tn_report_status(pool->runtime);
}
