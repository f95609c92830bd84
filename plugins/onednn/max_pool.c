/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Max pooling by the plugin's own loops.  oneDNN's maxima ignore NaN, while in the interface the
 * first NaN wins, and its workspace numbers a cell within the window, while the interface needs its
 * index in the plane.  A thread has whole planes, so no two write to the same element.
 */
#include "layers.h"
#include "plan.h"

/* Cells that justify another thread: about 10 us. */
#define GROUP_CELLS 20000

struct pooling {
	const struct tn_pool2d_args *args;
	int has_index;
};

/* The first element of plane `number`, of 4-byte elements. */
static void *plane(const struct tn_operand *operand, uint64_t number)
{
	int64_t channels = operand->shape[1];
	int64_t n = (int64_t)number / channels, c = (int64_t)number % channels;
	return (float *)(uintptr_t)(operand->buffer + operand->offset) + n * operand->strides[0] +
	       c * operand->strides[1];
}

/* The cells of the plane inside window `number` along an axis. */
struct range {
	int64_t begin, end;
};

static struct range range_of(const struct tn_pool2d_args *args, int axis, int64_t number)
{
	int64_t begin = number * args->stride[axis] - args->padding[axis];
	struct range range = {begin, begin + args->kernel[axis]};
	if (range.begin < 0)
		range.begin = 0;
	if (range.end > args->x.shape[2 + axis])
		range.end = args->x.shape[2 + axis];
	return range;
}

struct cell {
	float value;
	int64_t place;
};

/* The first NaN, else the first of the largest. */
static struct cell largest(const struct tn_pool2d_args *args, const float *x, struct range rows,
			   struct range columns)
{
	int64_t down = args->x.strides[2], across = args->x.strides[3], width = args->x.shape[3];
	struct cell best = {x[rows.begin * down + columns.begin * across],
			    rows.begin * width + columns.begin};
	for (int64_t h = rows.begin; h < rows.end; h++) {
		for (int64_t w = columns.begin; w < columns.end; w++) {
			float value = x[h * down + w * across];
			if (value > best.value || (value != value && best.value == best.value))
				best = (struct cell){value, h * width + w};
		}
	}
	return best;
}

static void pool_plane(const struct pooling *p, uint64_t number)
{
	const struct tn_pool2d_args *args = p->args;
	const struct tn_operand *y = &args->y, *index = &args->index;
	const float *x = plane(&args->x, number);
	float *to = plane(y, number);
	int32_t *places = p->has_index ? plane(index, number) : NULL;
	for (int64_t i = 0; i < y->shape[2]; i++) {
		struct range rows = range_of(args, 0, i);
		for (int64_t j = 0; j < y->shape[3]; j++) {
			struct cell best = largest(args, x, rows, range_of(args, 1, j));
			to[i * y->strides[2] + j * y->strides[3]] = best.value;
			if (places)
				places[i * index->strides[2] + j * index->strides[3]] =
					(int32_t)best.place;
		}
	}
}

/* An index outside the plane is ignored. */
static void give_plane(const struct pooling *p, uint64_t number)
{
	const struct tn_pool2d_args *args = p->args;
	const struct tn_operand *x = &args->x, *y = &args->y, *index = &args->index;
	const float *dy = plane(y, number);
	const int32_t *places = plane(index, number);
	float *dx = plane(x, number);
	if (!(args->call.flags & TN_ACCUMULATE)) {
		for (int64_t h = 0; h < x->shape[2]; h++) {
			for (int64_t w = 0; w < x->shape[3]; w++)
				dx[h * x->strides[2] + w * x->strides[3]] = 0;
		}
	}
	for (int64_t i = 0; i < y->shape[2]; i++) {
		for (int64_t j = 0; j < y->shape[3]; j++) {
			int64_t at = places[i * index->strides[2] + j * index->strides[3]];
			if (at < 0 || at >= x->shape[2] * x->shape[3])
				continue;
			dx[at / x->shape[3] * x->strides[2] + at % x->shape[3] * x->strides[3]] +=
				dy[i * y->strides[2] + j * y->strides[3]];
		}
	}
}

static void pool_some(void *argument, uint64_t begin, uint64_t end)
{
	for (uint64_t i = begin; i < end; i++)
		pool_plane(argument, i);
}

static void give_some(void *argument, uint64_t begin, uint64_t end)
{
	for (uint64_t i = begin; i < end; i++)
		give_plane(argument, i);
}

tn_status onednn_max_pool(void *device, const struct tn_pool2d_args *args, int is_backward,
			  const char *name)
{
	const struct tn_host *host = ((struct onednn_device *)device)->instance->host;
	struct pooling p = {.args = args, .has_index = args->has_index != 0};
	uint64_t planes = (uint64_t)(args->x.shape[0] * args->x.shape[1]);
	uint64_t cells = (uint64_t)(args->x.shape[2] * args->x.shape[3]);
	if (is_backward && !p.has_index)
		return tn_plugin_fail(args->call.error, TN_INVALID_ARGUMENT, name,
				      "has_index: expected 1 for the gradient of a maximum");
	const struct tn_operand *y = &args->y, *index = &args->index;
	if (args->x.dtype != TN_F32 || y->dtype != TN_F32 ||
	    (p.has_index && index->dtype != TN_I32))
		return tn_plugin_fail(args->call.error, TN_UNSUPPORTED, name,
				      "dtypes %d and %d: expected f32, with an index of i32",
				      args->x.dtype, y->dtype);
	if (args->x.shape[2] > INT32_MAX / args->x.shape[3])
		return tn_plugin_fail(args->call.error, TN_UNSUPPORTED, name,
				      "the plane exceeds the range of an i32 index");
	for (int i = 0; p.has_index && i < 4; i++) {
		if (index->rank != 4 || index->shape[i] != y->shape[i])
			return tn_plugin_fail(args->call.error, TN_SHAPE, name,
					      "index: expected the shape of y");
	}
	if (args->call.flags & TN_DRY_RUN)
		return tn_plugin_dry_run(&args->call, 0, 0);
	host->parallel_for(host->context, planes, GROUP_CELLS / cells + 1,
			   is_backward ? give_some : pool_some, &p);
	return TN_OK;
}
