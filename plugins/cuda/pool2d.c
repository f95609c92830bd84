/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Pooling: the largest or the average of each window, and both gradients.  kernels/pool2d.cu.
 */
#include <string.h>

#include "image.h"
#include "kernel.h"
#include "nn.h"
#include "ranges.h"
#include "status.h"

enum { N = 0, C = 1, H = 2, W = 3 };
enum { P = 2, Q = 3 };
enum { BLOCK = 256, LANES = 32, MOST_ROWS = 65535 };

/* Same layout as in kernels/pool2d.cu. */
struct pooling {
	uint64_t x, y, index;
	int64_t xs[4], ys[4], is[4];
	int32_t images, channels, height, width, rows, columns;
	int32_t kernel[2], stride[2], padding[4];
};

/* ---- Checks ----------------------------------------------------------------------------------*/

static tn_status check_settings(const struct tn_pool2d_args *args, const char *operation)
{
	struct tn_error_info *error = args->call.error;
	if (args->kind != TN_POOL_MAX && args->kind != TN_POOL_AVERAGE)
		return tn_plugin_fail(error, TN_UNSUPPORTED, operation, "kind %u is not supported",
				      args->kind);
	if (args->has_index > 1 || args->count_padding > 1)
		return tn_plugin_fail(error, TN_INVALID_ARGUMENT, operation,
				      "has_index %u, count_padding %u: expected 0 or 1",
				      args->has_index, args->count_padding);
	for (int i = 0; i < 4; i++) {
		int64_t kernel = args->kernel[i % 2], stride = args->stride[i % 2];
		int64_t padding = args->padding[i];
		if (kernel < 1 || stride < 1 || padding < 0 || padding > kernel / 2)
			return tn_plugin_fail(error, TN_INVALID_ARGUMENT, operation,
					      "kernel %lld, stride %lld, padding %lld: expected at "
					      "least 1, 1, and 0 to kernel / 2",
					      (long long)kernel, (long long)stride,
					      (long long)padding);
	}
	return TN_OK;
}

/* The kernels' counters of pixels and positions in a plane have 31 bits. */
static tn_status check_size(const struct tn_pool2d_args *args, const char *operation)
{
	const int64_t *x = args->x.shape, *y = args->y.shape;
	int64_t pixels[2], lanes = cuda_is_channels_last(&args->x) ? LANES : 1;
	int too_many = __builtin_mul_overflow(x[N] * x[H], x[W], &pixels[0]) ||
		       __builtin_mul_overflow(y[N] * y[P], y[Q], &pixels[1]);
	for (int i = 0; i < 2 && !too_many; i++)
		too_many = pixels[i] > INT32_MAX - BLOCK || args->kernel[i] > INT32_MAX / 4 ||
			   args->stride[i] > INT32_MAX / 4 || x[H + i] > INT32_MAX / 4;
	if (too_many || (x[C] + lanes - 1) / lanes > MOST_ROWS)
		return tn_plugin_fail(args->call.error, TN_UNSUPPORTED, operation,
				      "more pixels or channels than the kernel can count");
	return TN_OK;
}

static tn_status check_arguments(const struct tn_pool2d_args *args, const char *operation,
				 int is_forward)
{
	const struct tn_call *call = &args->call;
	int64_t shape[4];
	tn_status status = cuda_check_image(call, operation, "x", &args->x, args->x.dtype,
					    is_forward ? TN_PLUGIN_READS : TN_PLUGIN_WRITES);
	if (!status)
		status = cuda_check_image(call, operation, "y", &args->y, args->x.dtype,
					  is_forward ? TN_PLUGIN_WRITES : TN_PLUGIN_READS);
	if (!status)
		status = check_settings(args, operation);
	if (status)
		return status;
	memcpy(shape, args->x.shape, sizeof(shape));
	for (int i = 0; i < 2; i++) {
		const int64_t padding[] = {args->padding[i], args->padding[i + 2]};
		shape[P + i] = cuda_windows(args->x.shape[H + i], padding, args->kernel[i],
					    args->stride[i]);
	}
	status = tn_plugin_check_shape(call, operation, "y", 0, &args->y, 4, shape);
	if (!status && args->kind == TN_POOL_MAX && !is_forward && !args->has_index)
		status = tn_plugin_fail(call->error, TN_INVALID_ARGUMENT, operation,
					"has_index: expected 1 for the gradient of a maximum");
	if (!status && args->kind == TN_POOL_MAX && args->has_index) {
		status = tn_plugin_check_operand(call, operation, "index", 0, &args->index,
						 CUDA_STORAGE,
						 is_forward ? TN_PLUGIN_WRITES : TN_PLUGIN_READS);
		if (!status && args->index.dtype != TN_I32)
			status = tn_plugin_fail(call->error, TN_DTYPE, operation,
						"index: expected i32, found dtype %d",
						(int)args->index.dtype);
		if (!status)
			status = tn_plugin_check_shape(call, operation, "index", 0, &args->index, 4,
						       args->y.shape);
		if (!status && args->x.shape[H] > INT32_MAX / args->x.shape[W])
			status = tn_plugin_fail(
				call->error, TN_SHAPE, operation,
				"x: a plane of %lld x %lld exceeds the range of an i32 index",
				(long long)args->x.shape[H], (long long)args->x.shape[W]);
	}
	return status ? status : check_size(args, operation);
}

/* ---- The entries -----------------------------------------------------------------------------*/

static struct pooling describe_pooling(const struct tn_pool2d_args *args)
{
	struct pooling p = {.x = cuda_address(&args->x), .y = cuda_address(&args->y)};
	p.images = (int32_t)args->x.shape[N];
	p.channels = (int32_t)args->x.shape[C];
	p.height = (int32_t)args->x.shape[H];
	p.width = (int32_t)args->x.shape[W];
	p.rows = (int32_t)args->y.shape[P];
	p.columns = (int32_t)args->y.shape[Q];
	memcpy(p.xs, args->x.strides, sizeof(p.xs));
	memcpy(p.ys, args->y.strides, sizeof(p.ys));
	if (args->kind == TN_POOL_MAX && args->has_index) {
		p.index = cuda_address(&args->index);
		memcpy(p.is, args->index.strides, sizeof(p.is));
	}
	for (int i = 0; i < 4; i++) {
		p.kernel[i % 2] = (int32_t)args->kernel[i % 2];
		p.stride[i % 2] = (int32_t)args->stride[i % 2];
		p.padding[i] = (int32_t)args->padding[i];
	}
	return p;
}

static tn_status run_pooling(struct cuda_job *job, const struct tn_pool2d_args *args,
			     int is_forward)
{
	const int is_maximum = args->kind == TN_POOL_MAX;
	const int is_last = cuda_is_channels_last(&args->x);
	const struct cuda_define defines[] = {
		{"DTYPE", args->x.dtype},
		{"MAXIMUM", is_maximum},
		{"HAS_INDEX", is_maximum && args->has_index},
		{"COUNT_PADDING", args->count_padding},
		{"CHANNELS_LAST", is_last},
		{"ACCUMULATE", (args->call.flags & TN_ACCUMULATE) != 0}};
	struct cuda_kernel *kernel;
	tn_status status =
		cuda_kernel_get(job, "pool2d", is_forward ? "pool2d_forward" : "pool2d_backward",
				defines, 6, &kernel);
	if (status)
		return status;
	const struct tn_operand *result = is_forward ? &args->y : &args->x;
	const uint32_t lanes = is_last ? LANES : 1, each = BLOCK / lanes;
	uint32_t pixels = (uint32_t)(result->shape[N] * result->shape[H] * result->shape[W]);
	struct pooling p = describe_pooling(args);
	void *arguments[] = {&p};
	const struct cuda_grid grid = {(pixels + each - 1) / each,
				       ((uint32_t)p.channels + lanes - 1) / lanes,
				       1,
				       BLOCK,
				       1,
				       1,
				       0};
	return cuda_kernel_launch(job, kernel, grid, arguments);
}

tn_status cuda_pool2d_forward(void *device, const struct tn_pool2d_args *args)
{
	CUDA_RANGE range = cuda_range_begin(device, &args->call, "pool2d_forward");
	static const char operation[] = "pool2d_forward";
	struct tn_pool2d_args own;
	struct cuda_job job;
	int goes_on = 0;
	tn_status status = cuda_job_begin(&job, device, &own, sizeof(own), args, operation);
	if (!status)
		status = check_arguments(&own, operation, 1);
	if (!status)
		status = tn_plugin_workspace(&own.call, operation, 0, &goes_on);
	return status || !goes_on ? status : run_pooling(&job, &own, 1);
}

tn_status cuda_pool2d_backward(void *device, const struct tn_pool2d_args *args)
{
	CUDA_RANGE range = cuda_range_begin(device, &args->call, "pool2d_backward");
	static const char operation[] = "pool2d_backward";
	struct tn_pool2d_args own;
	struct cuda_job job;
	int goes_on = 0;
	tn_status status = cuda_job_begin_adding(&job, device, &own, sizeof(own), args, operation);
	if (!status)
		status = check_arguments(&own, operation, 0);
	if (!status)
		status = tn_plugin_workspace(&own.call, operation, 0, &goes_on);
	return status || !goes_on ? status : run_pooling(&job, &own, 0);
}
