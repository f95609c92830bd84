/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Pooling: checks shapes, makes outputs and takes the route.
 */
#include "layers/pool2d.h"

#include <inttypes.h>
#include <string.h>

#include "array/make.h"
#include "array/shape.h"
#include "base/dtype.h"
#include "dispatch/operand.h"
#include "dispatch/route.h"
#include "layers/pool2d_compose.h"
#include "layers/window.h"
#include "ops/layout.h"

static const char *name_of(const struct tn_pool2d *pool)
{
	return tn_operations[pool->operation].name;
}

/* A stride of 0 is the kernel's length, as in PyTorch. */
static tn_status check_window(struct tn_pool2d *pool, const struct tn_window *window)
{
	struct tn_window *own = &pool->window;
	*own = *window;
	if (own->kind != TN_POOL_MAX && own->kind != TN_POOL_AVERAGE)
		return tn_fail(&pool->runtime->report, TN_INVALID_ARGUMENT, name_of(pool),
			       "kind: expected TN_POOL_MAX or TN_POOL_AVERAGE, found %u",
			       own->kind);
	for (int i = 0; i < 4; i++) {
		int64_t kernel = own->kernel[i % 2], *stride = &own->stride[i % 2];
		if (!*stride)
			*stride = kernel;
		if (kernel < 1 || kernel > INT32_MAX || *stride < 1 || *stride > INT32_MAX ||
		    own->padding[i] < 0 || own->padding[i] > kernel / 2)
			return tn_fail(&pool->runtime->report, TN_INVALID_ARGUMENT, name_of(pool),
				       "kernel %" PRId64 ", stride %" PRId64 ", padding %" PRId64
				       ": expected at least 1, 1, and 0 to kernel / 2",
				       kernel, *stride, own->padding[i]);
		if (own->dilation[i % 2] > 1)
			return tn_fail(&pool->runtime->report, TN_UNSUPPORTED, name_of(pool),
				       "dilation %" PRId64 ": pooling does not support dilation",
				       own->dilation[i % 2]);
	}
	return TN_OK;
}

static tn_status check_x(struct tn_pool2d *pool, int rank, const int64_t *x, tn_dtype dtype)
{
	const struct tn_window *window = &pool->window;
	char text[TN_SHAPE_TEXT];
	int64_t room[2];
	if (!tn_is_floating(dtype))
		return tn_fail(&pool->runtime->report, TN_DTYPE, name_of(pool),
			       "expected a floating type, found %s", tn_dtype_name(dtype));
	if (rank != 4)
		goto misfit;
	pool->N = x[0];
	pool->C = x[1];
	pool->H = x[2];
	pool->W = x[3];
	for (int i = 0; i < 2; i++) {
		room[i] =
			x[2 + i] + window->padding[i] + window->padding[i + 2] - window->kernel[i];
		if (room[i] < 0)
			goto misfit;
	}
	pool->P = room[0] / window->stride[0] + 1;
	pool->Q = room[1] / window->stride[1] + 1;
	if (pool->window.kind == TN_POOL_MAX && pool->W && pool->H > INT32_MAX / pool->W)
		return tn_fail(&pool->runtime->report, TN_LIMIT, name_of(pool),
			       "a plane of %" PRId64 " x %" PRId64
			       " exceeds the range of an i32 index",
			       pool->H, pool->W);
	return TN_OK;
misfit:
	return tn_fail(&pool->runtime->report, TN_SHAPE, name_of(pool),
		       "x: expected (N, C, H, W) with room for windows of %" PRId64 " x %" PRId64
		       ", found %s",
		       window->kernel[0], window->kernel[1], tn_shape_print(rank, x, text));
}

static tn_status check_y(struct tn_pool2d *pool, const char *which, const tn_array *y,
			 tn_dtype dtype)
{
	const int64_t shape[] = {pool->N, pool->C, pool->P, pool->Q};
	char found[TN_SHAPE_TEXT], expected[TN_SHAPE_TEXT];
	if (!tn_shape_equal(y->rank, y->shape, 4, shape))
		return tn_fail(&pool->runtime->report, TN_SHAPE, name_of(pool),
			       "%s: expected shape %s, found %s", which,
			       tn_shape_print(4, shape, expected), tn_array_text(y, found));
	if (y->dtype != dtype)
		return tn_fail(&pool->runtime->report, TN_DTYPE, name_of(pool),
			       "%s: expected %s, found %s", which, tn_dtype_name(dtype),
			       tn_dtype_name(y->dtype));
	return TN_OK;
}

/* Those of a composition, for widened runs. */
static const uint32_t arrays_of_pool2d[] = {offsetof(struct tn_pool2d, x),
					    offsetof(struct tn_pool2d, y), 0};

static tn_status run_pool2d(struct tn_pool2d *pool, int is_forward)
{
	struct tn_pool2d_args args = {.call = {.struct_size = sizeof(args)},
				      .kind = pool->window.kind,
				      .has_index = pool->index != NULL,
				      .count_padding = pool->window.count_padding != 0};
	tn_array *out = is_forward ? pool->y : pool->x;
	struct tn_route route = {
		.runtime = pool->runtime,
		.device = tn_array_home(out),
		.operation = pool->operation,
		.slot = is_forward ? TN_SLOT_POOL2D_FORWARD : TN_SLOT_POOL2D_BACKWARD,
		.call = &args.call,
		.compose = is_forward ? tn_compose_pool2d : tn_compose_pool2d_backward,
		.argument = pool,
		.arrays = arrays_of_pool2d,
		.needs = TN_NEEDS_MAP,
		.dtype = out->dtype};
	tn_status status;
	memcpy(args.kernel, pool->window.kernel, sizeof(args.kernel));
	memcpy(args.stride, pool->window.stride, sizeof(args.stride));
	memcpy(args.padding, pool->window.padding, sizeof(args.padding));
	tn_operand_of(&args.x, pool->x);
	tn_operand_of(&args.y, pool->y);
	if (pool->index)
		tn_operand_of(&args.index, pool->index);
	if (is_forward && !tn_pool2d_is_small(pool))
		route.needs |= TN_NEEDS_REDUCE;
	status = tn_route_run(&route);
	if (!status)
		tn_array_touch(out);
	return status;
}

tn_array *tn_pool2d_forward(const tn_array *x, const struct tn_window *window, tn_array **index)
{
	struct tn_pool2d pool = {.operation = TN_DO_POOL2D, .x = tn_array_const_cast(x)};
	tn_status status;
	pool.runtime = tn_begin(1, &x, "pool2d");
	if (!pool.runtime)
		return NULL;
	status = check_window(&pool, window);
	if (!status)
		status = check_x(&pool, x->rank, x->shape, x->dtype);
	if (!status) {
		const int64_t shape[] = {pool.N, pool.C, pool.P, pool.Q};
		struct tn_device *device = tn_array_home(x);
		int wants_index = index && pool.window.kind == TN_POOL_MAX;
		int last = tn_layout_is_channels_last(x);
		pool.y = tn_array_make_images(pool.runtime, device, x->dtype, shape, last);
		if (pool.y && wants_index)
			pool.index =
				tn_array_make_images(pool.runtime, device, TN_I32, shape, last);
		if (!pool.y || (wants_index && !pool.index))
			status = pool.runtime->report.status;
	}
	if (!status && pool.y->size)
		status = run_pool2d(&pool, 1);
	if (status) {
		tn_array_discard(pool.index);
		return tn_end(pool.runtime, status, pool.y);
	}
	if (index)
		*index = pool.index;
	return pool.y;
}

/* x has the index's layout.  Without an index it is inferred: a dy with channels last took that
 * from x; one of 1 x 1, or one that was reshaped, is ambiguous, and the device's preference
 * decides. */
static int wants_channels_last(const tn_array *dy, const tn_array *index)
{
	const tn_array *like = index ? index : dy;
	if (tn_layout_is_channels_last(like))
		return 1;
	return !(index && index->shape[2] * index->shape[3] > 1) &&
	       tn_layout_prefers_channels_last(tn_array_home(dy));
}

tn_array *tn_pool2d_backward(const tn_array *dy, const tn_array *index, const int64_t x_shape[4],
			     const struct tn_window *window)
{
	const tn_array *inputs[] = {dy, index};
	struct tn_pool2d pool = {.operation = TN_DO_POOL2D_BACKWARD,
				 .y = tn_array_const_cast(dy),
				 .index = tn_array_const_cast(index)};
	tn_status status;
	pool.runtime = tn_begin(index ? 2 : 1, inputs, name_of(&pool));
	if (!pool.runtime)
		return NULL;
	status = check_window(&pool, window);
	if (!status)
		status = check_x(&pool, 4, x_shape, dy->dtype);
	if (!status)
		status = check_y(&pool, "dy", dy, dy->dtype);
	if (!status && pool.window.kind == TN_POOL_AVERAGE)
		pool.index = NULL;
	else if (!status && !index)
		status = tn_fail(&pool.runtime->report, TN_INVALID_ARGUMENT, name_of(&pool),
				 "index: required for the gradient of a maximum");
	else if (!status)
		status = check_y(&pool, "index", index, TN_I32);
	if (!status) {
		pool.x = tn_array_make_images(pool.runtime, tn_array_home(dy), dy->dtype, x_shape,
					      wants_channels_last(dy, pool.index));
		status = pool.x ? TN_OK : pool.runtime->report.status;
	}
	if (!status && pool.x->size)
		status = run_pool2d(&pool, 0);
	return tn_end(pool.runtime, status, pool.x);
}
