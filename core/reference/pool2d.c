/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Pooling over windows of a plane, and its gradient.
 */
#include "reference/view.h"

enum { N = 0, C = 1, H = 2, W = 3 }; /* axes of x */
enum { P = 2, Q = 3 };               /* axes of y; the first two are N and C */
enum { TOP = 0, LEFT = 1, BOTTOM = 2, RIGHT = 3 };

/* ---- Checks ----------------------------------------------------------------------------------*/

static tn_status check_settings(const struct tn_pool2d_args *args, const char *operation)
{
	const struct tn_call *call = &args->call;
	if (args->kind != TN_POOL_MAX && args->kind != TN_POOL_AVERAGE)
		return tn_reference_fail(call, TN_UNSUPPORTED, operation, "unknown kind %u",
					 args->kind);
	if (args->has_index > 1 || args->count_padding > 1)
		return tn_reference_fail(call, TN_INVALID_ARGUMENT, operation,
					 "has_index %u, count_padding %u: expected 0 or 1",
					 args->has_index, args->count_padding);
	for (int i = 0; i < 4; i++) {
		int64_t kernel = args->kernel[i % 2], stride = args->stride[i % 2];
		if (kernel < 1 || stride < 1 || args->padding[i] < 0 ||
		    args->padding[i] > kernel / 2)
			return tn_reference_fail(call, TN_INVALID_ARGUMENT, operation,
						 "kernel %lld, stride %lld, padding %lld: expected "
						 "at least 1, 1, and 0 to kernel / 2",
						 (long long)kernel, (long long)stride,
						 (long long)args->padding[i]);
	}
	return TN_OK;
}

/* The number of windows that fit, may be 0.  (padding <= kernel: no sum overflows.) */
static int64_t windows(int64_t length, int64_t before, int64_t after, int64_t kernel,
		       int64_t stride)
{
	int64_t room = length - (kernel - before - after);
	return room < 0 ? 0 : room / stride + 1;
}

static tn_status check_arguments(const struct tn_pool2d_args *args, const char *operation,
				 int is_forward)
{
	const struct tn_call *call = &args->call;
	const struct tn_operand *x = &args->x;
	int64_t shape[4];
	tn_status status = tn_reference_check_real(call, operation, "x", x, x->dtype,
						   is_forward ? READ : WRITE);
	if (!status)
		status = tn_reference_check_real(call, operation, "y", &args->y, x->dtype,
						 is_forward ? WRITE : READ);
	if (!status)
		status = check_settings(args, operation);
	if (status)
		return status;
	if (x->rank != 4)
		return tn_reference_fail(call, TN_SHAPE, operation, "x: rank %u, expected 4",
					 x->rank);
	memcpy(shape, x->shape, sizeof(shape));
	shape[P] = windows(x->shape[H], args->padding[TOP], args->padding[BOTTOM], args->kernel[0],
			   args->stride[0]);
	shape[Q] = windows(x->shape[W], args->padding[LEFT], args->padding[RIGHT], args->kernel[1],
			   args->stride[1]);
	status = tn_reference_check_shape(call, operation, "y", &args->y, 4, shape);
	if (!status && args->kind == TN_POOL_MAX && !is_forward && !args->has_index)
		status = tn_reference_fail(call, TN_INVALID_ARGUMENT, operation,
					   "has_index: expected 1 for the gradient of a maximum");
	if (!status && args->kind == TN_POOL_MAX && args->has_index) {
		status = tn_reference_check(call, operation, "index", &args->index,
					    is_forward ? WRITE : READ);
		if (!status && args->index.dtype != TN_I32)
			status = tn_reference_fail(call, TN_DTYPE, operation,
						   "index: expected i32, found dtype %d",
						   args->index.dtype);
		if (!status)
			status = tn_reference_check_shape(call, operation, "index", &args->index, 4,
							  args->y.shape);
		if (!status && args->x.shape[H] > INT32_MAX / args->x.shape[W])
			status = tn_reference_fail(
				call, TN_SHAPE, operation,
				"x: a plane of %lld x %lld exceeds the range of an i32 index",
				(long long)args->x.shape[H], (long long)args->x.shape[W]);
	}
	return status;
}

/* ---- Windows ---------------------------------------------------------------------------------*/

/* The part of a window that is inside the plane: top <= h < bottom, left <= w < right. */
struct window {
	int64_t top, left, bottom, right;
};

static struct window window_at(const struct tn_pool2d_args *args, int64_t p, int64_t q)
{
	struct window window = {.top = p * args->stride[0] - args->padding[TOP],
				.left = q * args->stride[1] - args->padding[LEFT]};
	window.bottom = window.top + args->kernel[0];
	window.right = window.left + args->kernel[1];
	if (window.top < 0)
		window.top = 0;
	if (window.left < 0)
		window.left = 0;
	if (window.bottom > args->x.shape[H])
		window.bottom = args->x.shape[H];
	if (window.right > args->x.shape[W])
		window.right = args->x.shape[W];
	return window;
}

/* The divisor of an average. */
static double divisor(const struct tn_pool2d_args *args, const struct window *window)
{
	if (args->count_padding)
		return (double)args->kernel[0] * (double)args->kernel[1];
	return (double)(window->bottom - window->top) * (double)(window->right - window->left);
}

/* The index in the plane of the window's maximum: the first of equals, or the first NaN. */
static int64_t largest(const double *x, int64_t width, const struct window *window)
{
	int64_t best = window->top * width + window->left;
	for (int64_t h = window->top; h < window->bottom; h++) {
		for (int64_t w = window->left; w < window->right; w++) {
			double value = x[h * width + w];
			if (x[best] != x[best])
				return best;
			if (value != value || value > x[best])
				best = h * width + w;
		}
	}
	return best;
}

static double sum(const double *x, int64_t width, const struct window *window)
{
	double total = 0;
	for (int64_t h = window->top; h < window->bottom; h++)
		for (int64_t w = window->left; w < window->right; w++)
			total += x[h * width + w];
	return total;
}

static void spread(double *dx, int64_t width, const struct window *window, double part)
{
	for (int64_t h = window->top; h < window->bottom; h++)
		for (int64_t w = window->left; w < window->right; w++)
			dx[h * width + w] += part;
}

/* ---- Forward ---------------------------------------------------------------------------------*/

/* y[n,c,p,q] := max or average over the window at (p, q) of x[n,c] */
static void forward(const struct tn_pool2d_args *args, const double *x, double *y)
{
	int writes_index = args->kind == TN_POOL_MAX && args->has_index;
	int64_t plane = args->x.shape[H] * args->x.shape[W], width = args->x.shape[W];
	int64_t n_planes = args->x.shape[N] * args->x.shape[C];
	struct cursor index;
	if (writes_index)
		tn_reference_cursor(&index, &args->index);
	for (int64_t i = 0; i < n_planes; i++, x += plane) {
		for (int64_t p = 0; p < args->y.shape[P]; p++) {
			for (int64_t q = 0; q < args->y.shape[Q]; q++) {
				struct window window = window_at(args, p, q);
				if (args->kind == TN_POOL_AVERAGE) {
					*y++ = sum(x, width, &window) / divisor(args, &window);
					continue;
				}
				int64_t place = largest(x, width, &window);
				*y++ = x[place];
				if (writes_index) {
					bits_store(index.at, sizeof(int32_t), (uint64_t)place);
					cursor_next(&index);
				}
			}
		}
	}
}

tn_status tn_reference_pool2d_forward(void *device, const struct tn_pool2d_args *theirs)
{
	struct tn_pool2d_args args;
	double *x, *y;
	tn_status status = tn_reference_take(&args, sizeof(args), theirs, 0, "pool2d_forward");
	if (!status)
		status = check_arguments(&args, "pool2d_forward", 1);
	if (status || tn_reference_is_dry(&args.call))
		return status;
	x = tn_reference_unpack(device, &args.x);
	y = tn_reference_numbers(device, tn_reference_count(&args.y));
	if (x && y) {
		forward(&args, x, y);
		tn_reference_write(&args.y, y, 0);
	} else {
		status = tn_reference_no_memory(&args.call, "pool2d_forward");
	}
	tn_reference_release(device, x);
	tn_reference_release(device, y);
	return status;
}

/* ---- Backward --------------------------------------------------------------------------------*/

/* dx[n,c,index] += dy, or each cell of the window += dy / divisor; an index outside the plane is
 * ignored. */
static void backward(const struct tn_pool2d_args *args, double *dx, const double *dy)
{
	int64_t plane = args->x.shape[H] * args->x.shape[W], width = args->x.shape[W];
	int64_t n_planes = args->x.shape[N] * args->x.shape[C];
	struct cursor index;
	if (args->kind == TN_POOL_MAX)
		tn_reference_cursor(&index, &args->index);
	for (int64_t i = 0; i < n_planes; i++, dx += plane) {
		for (int64_t p = 0; p < args->y.shape[P]; p++) {
			for (int64_t q = 0; q < args->y.shape[Q]; q++, dy++) {
				struct window window = window_at(args, p, q);
				if (args->kind == TN_POOL_AVERAGE) {
					spread(dx, width, &window, *dy / divisor(args, &window));
					continue;
				}
				int32_t place = (int32_t)bits_load(index.at, sizeof(place));
				if (place >= 0 && place < plane)
					dx[place] += *dy;
				cursor_next(&index);
			}
		}
	}
}

tn_status tn_reference_pool2d_backward(void *device, const struct tn_pool2d_args *theirs)
{
	struct tn_pool2d_args args;
	double *dx, *dy;
	uint64_t n;
	tn_status status =
		tn_reference_take(&args, sizeof(args), theirs, TN_ACCUMULATE, "pool2d_backward");
	if (!status)
		status = check_arguments(&args, "pool2d_backward", 0);
	if (status || tn_reference_is_dry(&args.call))
		return status;
	n = tn_reference_count(&args.x);
	dx = tn_reference_numbers(device, n);
	dy = tn_reference_unpack(device, &args.y);
	if (dx && dy) {
		memset(dx, 0, n * sizeof(*dx));
		backward(&args, dx, dy);
		tn_reference_write(&args.x, dx, (args.call.flags & TN_ACCUMULATE) != 0);
	} else {
		status = tn_reference_no_memory(&args.call, "pool2d_backward");
	}
	tn_reference_release(device, dx);
	tn_reference_release(device, dy);
	return status;
}
