/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Pooling.  A large window is a reduction over the window view.  A small one is a map with an input
 * for each of its cells, which reads along rows of the output; more cells than a map has inputs
 * take several maps in a row.  The gradient is a map with an output for each cell, where windows do
 * not overlap, else one map for each cell; in neither case do elements share memory.
 *
 * In all programs index(2) is p and index(3) is q.
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

static const struct tn_short_program one = {"z = x", 1, 0, 0, 0};
static const struct tn_short_program two = {"out0 = x\nout1 = x", 1, 0, 2, 0};

/* Converts a cell's index in its window to its index in the plane.  The first of equal cells can
 * lie in the padding only where all cells inside are -inf, like the padding: it is then moved to
 * the first cell inside.  Scalars: a = kernel1, b = stride0, s = stride1, t = pad_top, u =
 * pad_left, v = W. */
static const struct tn_short_program place = {"out0 = x\n"
					      "r = index(2) * b - t + y / a\n"
					      "q1 = index(3) * s - u + rem(y, a)\n"
					      "out1 = i32(max(r, 0) * v + max(q1, 0))",
					      2, 6, 2, TN_I64};

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
	struct tn_short_reduction reduction = {.prologue = &one,
					       .inputs = &xw,
					       .outputs = outputs,
					       .epilogue_scalars = scalars,
					       .axes = KERNEL_AXES,
					       .combiners = {TN_REDUCE_MAX, TN_REDUCE_ARGMAX}};
	place_scalars(pool, scalars);
	if (pool->index) {
		reduction.prologue = &two;
		reduction.epilogue = &place;
	}
	return tn_short_reduce(pool->runtime, TN_DO_MAX, &reduction);
}

static const struct tn_short_program scaled = {"z = x * a", 1, 1, 0, 0};

/* The sum divided by the number of cells inside.  Scalars: a, b = kernel, s, t = stride, u, v =
 * pad_top and pad_left, p, q = H, W. */
static const struct tn_short_program by_count = {
	"h = min(index(2) * s - u + a, p) - max(index(2) * s - u, 0)\n"
	"w = min(index(3) * t - v + b, q) - max(index(3) * t - v, 0)\n"
	"z = x / (h * w)",
	1, 8, 0, TN_I64};

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
	struct tn_short_reduction reduction = {.prologue = &one,
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
	return tn_short_reduce(pool->runtime, TN_DO_SUM, &reduction);
}

/* ---- Forward, a small window ------------------------------------------------------------------*/

enum { MOST_TEXT = 2048 };

/* A program's text while it is written. */
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

/* m is the largest value so far and k = 256 r + s its cell; a NaN is larger than all but an earlier
 * NaN.  Indices are i32, which vector units can multiply; no division. */
static void write_max(struct text *text, const struct cells *cells, int width, int wants_index)
{
	int n_before = cells->first ? 1 + wants_index : 1;
	write_text(text, "m0 = x\n");
	if (wants_index)
		write_text(text, cells->first ? "k0 = y\n" : "k0 = i32(0)\n");
	for (int i = cells->first ? 0 : 1, step = 0; i < cells->n; i++, step++) {
		const char *v = tn_short_inputs[cells->first ? n_before + i : i];
		write_text(text, "t%d = !(%s <= m%d) && m%d == m%d\nm%d = t%d ? %s : m%d\n", step,
			   v, step, step, step, step + 1, step, v, step);
		if (wants_index)
			write_text(text, "k%d = t%d ? i32(%d) : k%d\n", step + 1, step,
				   (cells->first + i) / width * 256 + (cells->first + i) % width,
				   step);
	}
	int last = cells->first ? cells->n : cells->n - 1;
	write_text(text, "out0 = m%d\n", last);
	if (!wants_index)
		return;
	if (is_last(cells))
		write_text(text,
			   "r = i32(index(2)) * b - t + (k%d >> 8)\n"
			   "q1 = i32(index(3)) * s - u + (k%d & 255)\n"
			   "out1 = max(r, 0) * v + max(q1, 0)",
			   last, last);
	else
		write_text(text, "out1 = k%d", last);
}

static void write_sum(struct text *text, const struct cells *cells, int one_count)
{
	int n_inputs = cells->n + (cells->first != 0);
	write_text(text, "m = x");
	for (int i = 1; i < n_inputs; i++)
		write_text(text, " + %s", tn_short_inputs[i]);
	if (!is_last(cells))
		write_text(text, "\nout0 = m");
	else if (one_count)
		write_text(text, "\nout0 = m * a");
	else
		write_text(text,
			   "\nn = (min(index(2) * s - u + a, p) - max(index(2) * s - u, 0)) * "
			   "(min(index(3) * t - v + b, q) - max(index(3) * t - v, 0))\n"
			   "out0 = m / n");
}

static tn_array *cell_of(const tn_array *windows, int64_t r, int64_t s)
{
	return tn_array_view(windows, 4, windows->shape, windows->strides,
			     windows->offset + r * windows->strides[4] + s * windows->strides[5]);
}

static tn_status map_cells(const struct tn_pool2d *pool, const tn_array *xw,
			   const struct cells *cells)
{
	int is_max = pool->window.kind == TN_POOL_MAX, wants_index = pool->index != NULL;
	int64_t width = pool->window.kernel[1];
	struct text text = {.length = 0};
	struct tn_short_program program = {text.data, 0, 8, 1u + (uint32_t)wants_index, TN_I64};
	tn_array *const outputs[] = {pool->y, pool->index};
	const tn_array *inputs[TN_PROGRAM_MAX_INPUTS];
	double scalars[8] = {0};
	if (cells->first) {
		inputs[program.n_inputs++] = pool->y;
		if (wants_index)
			inputs[program.n_inputs++] = pool->index;
	}
	for (int i = cells->first; i < cells->first + cells->n; i++) {
		inputs[program.n_inputs] = cell_of(xw, i / width, i % width);
		if (!inputs[program.n_inputs++])
			return tn_report_status(pool->runtime);
	}
	if (is_max) {
		write_max(&text, cells, (int)width, wants_index);
		place_scalars(pool, scalars);
		program.scalar_dtype = TN_I32;
	} else {
		write_sum(&text, cells, has_one_count(pool));
		count_scalars(pool, scalars);
		if (has_one_count(pool)) {
			program.scalar_dtype = 0;
			scalars[0] = one_part(pool);
		}
	}
	return tn_short_map(pool->runtime, pool->operation, &program, inputs, outputs, scalars);
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

/* Inputs: x = the gradient so far, y = dy, c = index. */
static const struct tn_short_program add_chosen = {
	"z = x + (c - i32(index(2)) * a - i32(index(3)) * b == s ? y : 0)", 3, 3, 0, TN_I32};
static const struct tn_short_program add_scaled = {"z = x + y * a", 2, 1, 0, 0};
static const struct tn_short_program add_by_count = {
	"h = min(index(2) * s - u + a, p) - max(index(2) * s - u, 0)\n"
	"w = min(index(3) * t - v + b, q) - max(index(3) * t - v, 0)\n"
	"z = x + y / (h * w)",
	2, 8, 0, TN_I64};

/* Adds the share of cell number `cell` of each window. */
static tn_status add_cell(const struct tn_pool2d *pool, const tn_array *windows, int64_t cell)
{
	const struct tn_window *window = &pool->window;
	const struct tn_short_program *program = &add_by_count;
	int64_t r = cell / window->kernel[1], s = cell % window->kernel[1];
	tn_array *to = cell_of(windows, r, s);
	const tn_array *inputs[] = {to, pool->y, pool->index};
	double scalars[8];
	if (!to)
		return tn_report_status(pool->runtime);
	if (pool->index) {
		program = &add_chosen;
		scalars[0] = (double)(window->stride[0] * pool->W);
		scalars[1] = (double)window->stride[1];
		scalars[2] = (double)((r - window->padding[0]) * pool->W + s - window->padding[1]);
	} else if (has_one_count(pool)) {
		program = &add_scaled;
		scalars[0] = one_part(pool);
	} else {
		count_scalars(pool, scalars);
	}
	tn_status status = tn_short_map(pool->runtime, TN_DO_ADD, program, inputs, &to, scalars);
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

/* Cells [first, first + n) of a maximum's disjoint windows.  Inputs: x = dy, y = index; scalars:
 * a = stride0 W, b = stride1, then each cell's index in the first window. */
static tn_status write_cells(const struct tn_pool2d *pool, const tn_array *windows, int64_t first,
			     int n)
{
	const struct tn_window *window = &pool->window;
	const tn_array *inputs[] = {pool->y, pool->index};
	tn_array *outputs[TN_PROGRAM_MAX_OUTPUTS];
	struct text text = {.length = 0};
	struct tn_short_program program = {text.data, 2, 2 + (uint32_t)n, (uint32_t)n, TN_I32};
	double scalars[TN_SHORT_SCALARS] = {(double)(window->stride[0] * pool->W),
					    (double)window->stride[1]};
	_Static_assert(2 + TN_PROGRAM_MAX_OUTPUTS <= TN_SHORT_SCALARS, "a scalar for each cell");
	write_text(&text, "l = y - i32(index(2)) * a - i32(index(3)) * b\n");
	for (int i = 0; i < n; i++) {
		int64_t r = (first + i) / window->kernel[1];
		int64_t s = (first + i) % window->kernel[1];
		outputs[i] = cell_of(windows, r, s);
		if (!outputs[i])
			return tn_report_status(pool->runtime);
		scalars[2 + i] =
			(double)((r - window->padding[0]) * pool->W + s - window->padding[1]);
		write_text(&text, "out%d = l == %s ? x : 0\n", i, tn_short_scalars[2 + i]);
	}
	return tn_short_map_apart(pool->runtime, pool->operation, &program, inputs, outputs,
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
