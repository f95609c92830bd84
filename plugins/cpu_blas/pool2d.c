/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Pooling of f32 in any layout; kernels/pool.c has the loops.  Rows and planes are divided among
 * threads by shape alone, and no sum is split.
 */
#include "pool2d.h"

#include <string.h>

#include "kernels/pool.h"
#include "plugin.h"

enum { N = 0, C = 1, H = 2, W = 3 };
enum { P = 2, Q = 3 };

/* Elements of x and y that justify another thread: about 10 us. */
#define GRAIN_ELEMENTS 16384

/* ---- Checks ---------------------------------------------------------------------------------- */

static tn_status check_type(const struct tn_pool2d_args *args, const char *operation)
{
	struct tn_error_info *error = args->call.error;
	if (args->x.dtype != TN_F32 || args->y.dtype != TN_F32)
		return tn_plugin_fail(error, TN_UNSUPPORTED, operation,
				      "x and y: expected f32, found dtypes %d and %d",
				      args->x.dtype, args->y.dtype);
	if (args->kind != TN_POOL_MAX && args->kind != TN_POOL_AVERAGE)
		return tn_plugin_fail(error, TN_UNSUPPORTED, operation, "kind %u is not supported",
				      args->kind);
	if (args->has_index > 1 || args->count_padding > 1)
		return tn_plugin_fail(error, TN_INVALID_ARGUMENT, operation,
				      "has_index %u, count_padding %u: expected 0 or 1",
				      args->has_index, args->count_padding);
	return TN_OK;
}

static tn_status check_operand(const struct tn_pool2d_args *args, const char *operation,
			       const char *name, const struct tn_operand *operand,
			       const int64_t expected[4])
{
	if (operand->rank == 4 && !memcmp(operand->shape, expected, 4 * sizeof(int64_t)))
		return TN_OK;
	const int64_t *shape = operand->shape;
	return tn_plugin_fail(
		args->call.error, TN_SHAPE, operation,
		"%s: expected (%lld, %lld, %lld, %lld), found rank %u, (%lld, %lld, %lld, "
		"%lld)",
		name, (long long)expected[N], (long long)expected[C], (long long)expected[H],
		(long long)expected[W], operand->rank, (long long)shape[N], (long long)shape[C],
		(long long)shape[H], (long long)shape[W]);
}

/* The number of windows that fit; 0: none.  (padding <= kernel: no sum overflows.) */
static int64_t windows(const struct tn_pool2d_args *args, int axis)
{
	int64_t cut = args->kernel[axis] - args->padding[axis] - args->padding[axis + 2];
	int64_t room = args->x.shape[H + axis] - cut;
	return room < 0 ? 0 : room / args->stride[axis] + 1;
}

static tn_status check_arguments(const struct tn_pool2d_args *args, const char *operation,
				 int is_forward)
{
	struct tn_error_info *error = args->call.error;
	const int64_t *x = args->x.shape;
	tn_status status = check_type(args, operation);
	if (status)
		return status;
	for (int i = 0; i < 4; i++) {
		int64_t kernel = args->kernel[i % 2], stride = args->stride[i % 2];
		int64_t padding = args->padding[i];
		if (kernel < 1 || stride < 1 || padding < 0 || padding > kernel / 2)
			return tn_plugin_fail(
				args->call.error, TN_INVALID_ARGUMENT, operation,
				"kernel %lld, stride %lld, padding %lld: expected at least "
				"1, 1, and 0 to kernel / 2",
				(long long)kernel, (long long)stride, (long long)padding);
	}
	if (args->x.rank != 4)
		return tn_plugin_fail(error, TN_SHAPE, operation, "x: expected rank 4, found %u",
				      args->x.rank);
	int64_t expected[4] = {x[N], x[C], windows(args, 0), windows(args, 1)};
	status = check_operand(args, operation, "y", &args->y, expected);
	if (status || args->kind != TN_POOL_MAX)
		return status;
	if (args->has_index) {
		if (args->index.dtype != TN_I32)
			return tn_plugin_fail(error, TN_DTYPE, operation,
					      "index: expected i32, found dtype %d",
					      args->index.dtype);
		if (args->x.shape[H] > INT32_MAX / args->x.shape[W])
			return tn_plugin_fail(
				error, TN_SHAPE, operation,
				"x: a plane of %lld x %lld exceeds the range of an i32 index",
				(long long)args->x.shape[H], (long long)args->x.shape[W]);
		return check_operand(args, operation, "index", &args->index, args->y.shape);
	}
	if (is_forward)
		return TN_OK;
	return tn_plugin_fail(error, TN_INVALID_ARGUMENT, operation,
			      "has_index: expected 1 for the gradient of a maximum");
}

/* ---- Plan ------------------------------------------------------------------------------------ */

static void *address(const struct tn_operand *operand)
{
	return (void *)(uintptr_t)(operand->buffer + operand->offset);
}

/* Planes that are contiguous over all images are treated as images of one channel: rows of y are
 * then computed in memory order, and not from plane to plane, a page or so apart. */
static void join_planes(struct cpu_pool *pool)
{
	int64_t *const strides[] = {pool->x_stride, pool->y_stride, pool->index_stride};
	int n_operands = pool->index ? 3 : 2;
	for (int i = 0; i < n_operands; i++) {
		if (strides[i][N] != pool->c * strides[i][C])
			return;
	}
	for (int i = 0; i < n_operands; i++)
		strides[i][N] = strides[i][C];
	pool->n *= pool->c;
	pool->c = 1;
}

static struct cpu_pool plan_pool(const struct tn_pool2d_args *args)
{
	const int64_t *x = args->x.shape;
	int with_index = args->kind == TN_POOL_MAX && args->has_index;
	struct cpu_pool pool = {.n = x[N],
				.c = x[C],
				.h = x[H],
				.w = x[W],
				.p = args->y.shape[P],
				.q = args->y.shape[Q],
				.kernel = {args->kernel[0], args->kernel[1]},
				.stride = {args->stride[0], args->stride[1]},
				.padding = {args->padding[0], args->padding[1]},
				.x = address(&args->x),
				.y = address(&args->y),
				.index = with_index ? address(&args->index) : NULL,
				.count_padding = args->count_padding != 0,
				.accumulate = (args->call.flags & TN_ACCUMULATE) != 0};
	memcpy(pool.x_stride, args->x.strides, sizeof(pool.x_stride));
	memcpy(pool.y_stride, args->y.strides, sizeof(pool.y_stride));
	if (with_index)
		memcpy(pool.index_stride, args->index.strides, sizeof(pool.index_stride));
	pool.by_channel = pool.c > 1 && pool.x_stride[C] == 1 && pool.y_stride[C] == 1 &&
			  (!with_index || pool.index_stride[C] == 1);
	if (!pool.by_channel)
		join_planes(&pool);
	return pool;
}

struct job {
	const struct cpu_pool *pool;
	void (*run)(const struct cpu_pool *pool, int64_t begin, int64_t end);
};

static void run_some(void *argument, uint64_t begin, uint64_t end)
{
	const struct job *job = argument;
	job->run(job->pool, (int64_t)begin, (int64_t)end);
}

/* Divides the elements of x and y evenly among `units`. */
static void run_units(const struct cpu_device *device, struct job *job, int64_t units)
{
	const struct cpu_pool *pool = job->pool;
	int64_t elements = pool->n * pool->c * (pool->h * pool->w + pool->p * pool->q) / units;
	uint64_t grain = 1 + (uint64_t)(GRAIN_ELEMENTS / (elements + 1));
	cpu_parallel(device, (uint64_t)units, grain, run_some, job);
}

/* ---- Entries --------------------------------------------------------------------------------- */

tn_status cpu_pool2d_forward(void *device, const struct tn_pool2d_args *theirs)
{
	const struct cpu_device *cpu = device;
	const struct cpu_pool_kernels *kernels = cpu->instance->kernels->pool;
	struct tn_pool2d_args args;
	tn_status status = tn_plugin_take(&args, sizeof(args), theirs,
					  TN_DRY_RUN | TN_DETERMINISTIC, "pool2d_forward");
	if (!status)
		status = check_arguments(&args, "pool2d_forward", 1);
	if (status)
		return status;
	if (args.call.flags & TN_DRY_RUN)
		return tn_plugin_dry_run(&args.call, 0, 0);
	struct cpu_pool pool = plan_pool(&args);
	struct job job = {&pool, args.kind == TN_POOL_MAX ? kernels->max : kernels->average};
	run_units(cpu, &job, pool.n * pool.p);
	return TN_OK;
}

tn_status cpu_pool2d_backward(void *device, const struct tn_pool2d_args *theirs)
{
	const struct cpu_device *cpu = device;
	const struct cpu_pool_kernels *kernels = cpu->instance->kernels->pool;
	struct tn_pool2d_args args;
	tn_status status =
		tn_plugin_take(&args, sizeof(args), theirs,
			       TN_DRY_RUN | TN_DETERMINISTIC | TN_ACCUMULATE, "pool2d_backward");
	if (!status)
		status = check_arguments(&args, "pool2d_backward", 0);
	if (status)
		return status;
	if (args.call.flags & TN_DRY_RUN)
		return tn_plugin_dry_run(&args.call, 0, 0);
	struct cpu_pool pool = plan_pool(&args);
	struct job job = {&pool, args.kind == TN_POOL_MAX ? kernels->max_backward
							  : kernels->average_backward};
	run_units(cpu, &job, pool.n * (pool.by_channel ? pool.h : pool.c));
	return TN_OK;
}
