/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Pooling from reductions over a window view, and its gradient from one map for each cell of the
 * window, whose elements never share memory.  In the epilogues index(2) is p and index(3) is q.
 */
#include <math.h>

#include "array/map.h"
#include "array/pool2d.h"
#include "array/route.h"

static tn_status failed(const struct tn_pool2d *pool)
{
	tn_status status = pool->runtime->report.status;
	return status ? status : TN_OUT_OF_MEMORY;
}

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

/* The windows of x with its padding of `value`. */
static tn_array *padded_windows(const struct tn_pool2d *pool, double value)
{
	tn_array *padded, *room;
	if (!has_padding(pool))
		return windows(pool, pool->x);
	padded = make_padded(pool, value);
	room = padded ? inside(pool, padded) : NULL;
	if (!room || tn_copy_run(pool->runtime, TN_DO_COPY, room, pool->x))
		return NULL;
	return windows(pool, padded);
}

/* ---- Forward ---------------------------------------------------------------------------------*/

enum { KERNEL_AXES = 1u << 4 | 1u << 5 };

static const struct tn_short_program one = {"z = x", 1, 0, 0, 0};
static const struct tn_short_program two = {"out0 = x\nout1 = x", 1, 0, 2, 0};

/* From the number of the cell in its window to that in the plane.  Only where all cells inside are
 * -inf, as padding is, can the first of equals lie in the padding: then it is moved to the first one
 * inside.  Scalars: a = kernel1, b = stride0, s = stride1, t = pad_top, u = pad_left, v = W. */
static const struct tn_short_program place = {"out0 = x\n"
					      "r = index(2) * b - t + y / a\n"
					      "q1 = index(3) * s - u + rem(y, a)\n"
					      "out1 = i32(max(r, 0) * v + max(q1, 0))",
					      2, 6, 2, TN_I64};

static tn_status forward_max(const struct tn_pool2d *pool, const tn_array *xw)
{
	const struct tn_window *window = &pool->window;
	const double scalars[] = {(double)window->kernel[1],  (double)window->stride[0],
				  (double)window->stride[1],  (double)window->padding[0],
				  (double)window->padding[1], (double)pool->W};
	tn_array *const outputs[] = {pool->y, pool->index};
	struct tn_short_reduction reduction = {.prologue = &one,
					       .inputs = &xw,
					       .outputs = outputs,
					       .epilogue_scalars = scalars,
					       .axes = KERNEL_AXES,
					       .combiners = {TN_REDUCE_MAX, TN_REDUCE_ARGMAX}};
	if (pool->index) {
		reduction.prologue = &two;
		reduction.epilogue = &place;
	}
	return tn_short_reduce(pool->runtime, TN_DO_MAX, &reduction);
}

static const struct tn_short_program scaled = {"z = x * a", 1, 1, 0, 0};

/* The sum over the number of cells inside.  Scalars: a, b = kernel, s, t = stride, u, v = pad_top and
 * pad_left, p, q = H, W. */
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

tn_status tn_compose_pool2d(void *argument)
{
	const struct tn_pool2d *pool = argument;
	int is_max = pool->window.kind == TN_POOL_MAX;
	tn_array *xw = padded_windows(pool, is_max ? -INFINITY : 0);
	if (!xw)
		return failed(pool);
	return is_max ? forward_max(pool, xw) : forward_average(pool, xw);
}

/* ---- Backward --------------------------------------------------------------------------------*/

/* Inputs: x = the gradient so far, y = dy, c = index. */
static const struct tn_short_program add_chosen = {
	"z = x + (i64(c) == index(2) * a + index(3) * b + s ? y : 0)", 3, 3, 0, TN_I64};
static const struct tn_short_program add_scaled = {"z = x + y * a", 2, 1, 0, 0};
static const struct tn_short_program add_by_count = {
	"h = min(index(2) * s - u + a, p) - max(index(2) * s - u, 0)\n"
	"w = min(index(3) * t - v + b, q) - max(index(3) * t - v, 0)\n"
	"z = x + y / (h * w)",
	2, 8, 0, TN_I64};

/* to += what (r, s) of each window gets; `to` holds that cell of every window. */
static tn_status add_cell(const struct tn_pool2d *pool, tn_array *to, int64_t r, int64_t s)
{
	const struct tn_window *window = &pool->window;
	const tn_array *inputs[] = {to, pool->y, pool->index};
	double scalars[8];
	if (pool->index) {
		scalars[0] = (double)(window->stride[0] * pool->W);
		scalars[1] = (double)window->stride[1];
		scalars[2] = (double)((r - window->padding[0]) * pool->W + s - window->padding[1]);
		return tn_short_map(pool->runtime, TN_DO_ADD, &add_chosen, inputs, &to, scalars);
	}
	if (has_one_count(pool)) {
		scalars[0] = one_part(pool);
		return tn_short_map(pool->runtime, TN_DO_ADD, &add_scaled, inputs, &to, scalars);
	}
	count_scalars(pool, scalars);
	return tn_short_map(pool->runtime, TN_DO_ADD, &add_by_count, inputs, &to, scalars);
}

tn_status tn_compose_pool2d_backward(void *argument)
{
	const struct tn_pool2d *pool = argument;
	const struct tn_window *window = &pool->window;
	tn_array *padded = pool->x, *all, *room;
	tn_status status = TN_OK;
	if (has_padding(pool))
		padded = make_padded(pool, 0);
	else
		status = tn_fill_run(pool->runtime, TN_DO_FILL, pool->x, 0);
	all = padded && !status ? windows(pool, padded) : NULL;
	if (!all)
		return failed(pool);
	for (int64_t r = 0; r < window->kernel[0] && !status; r++) {
		for (int64_t s = 0; s < window->kernel[1] && !status; s++) {
			tn_array *cell = tn_array_view(all, 4, all->shape, all->strides,
						       all->offset + r * all->strides[4] +
							       s * all->strides[5]);
			status = cell ? add_cell(pool, cell, r, s) : failed(pool);
			tn_array_discard(cell);
		}
	}
	if (status || padded == pool->x)
		return status;
	room = inside(pool, padded);
	return room ? tn_copy_run(pool->runtime, TN_DO_COPY, pool->x, room) : failed(pool);
}
