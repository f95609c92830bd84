/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Convolution and its two gradients.  All three loops combine every weight w[o,c,r,s] with every
 * element of y's plane, at
 *
 *     h = p stride0 + r dilation0 - pad_top,    v = q stride1 + s dilation1 - pad_left
 *
 * and where (h, v) is inside x's plane the product is added to y, to dx or to dw.  Forward then
 * applies the residual and the activation.  Weights are never packed: `packed` is not read.
 */
#include "reference/activation.h"

enum { N = 0, C = 1, H = 2, W = 3 };               /* axes of x */
enum { O = 0, R = 2, S = 3 };                      /* axes of w; its axis 1 is C / groups */
enum { P = 2, Q = 3 };                             /* axes of y; its axis 1 is O */
enum { TOP = 0, LEFT = 1, BOTTOM = 2, RIGHT = 3 }; /* padding */

/* ---- Checks ----------------------------------------------------------------------------------*/

/* The number of windows that fit along one axis; may be 0. */
static int64_t windows(int64_t length, int64_t padding, int64_t kernel, int64_t stride,
		       int64_t dilation)
{
	if (length > INT64_MAX / 4 || kernel > INT32_MAX)
		return 0;
	int64_t room = length + padding - dilation * (kernel - 1) - 1;
	return room < 0 ? 0 : room / stride + 1;
}

static tn_status check_settings(const struct tn_conv2d_args *args, const char *operation)
{
	const struct tn_call *call = &args->call;
	for (int i = 0; i < 2; i++) {
		if (args->stride[i] < 1 || args->dilation[i] < 1 || args->stride[i] > INT32_MAX ||
		    args->dilation[i] > INT32_MAX)
			return tn_reference_fail(call, TN_INVALID_ARGUMENT, operation,
						 "stride %lld, dilation %lld: expected 1 to 2^31-1",
						 (long long)args->stride[i],
						 (long long)args->dilation[i]);
	}
	for (int i = 0; i < 4; i++) {
		if (args->padding[i] < 0 || args->padding[i] > INT32_MAX)
			return tn_reference_fail(call, TN_INVALID_ARGUMENT, operation,
						 "padding %lld: expected 0 to 2^31-1",
						 (long long)args->padding[i]);
	}
	if (args->groups < 1 || args->has_bias > 1)
		return tn_reference_fail(call, TN_INVALID_ARGUMENT, operation,
					 "groups %u, has_bias %u: expected at least 1, and 0 or 1",
					 args->groups, args->has_bias);
	return TN_OK;
}

static tn_status check_shapes(const struct tn_conv2d_args *args, const char *operation)
{
	const struct tn_operand *x = &args->x, *w = &args->w;
	const struct tn_call *call = &args->call;
	int64_t shape[4];
	if (x->rank != 4 || w->rank != 4)
		return tn_reference_fail(call, TN_SHAPE, operation,
					 "x has rank %u, w has rank %u, expected 4", x->rank,
					 w->rank);
	if (x->shape[C] % args->groups || w->shape[O] % args->groups ||
	    w->shape[1] != x->shape[C] / args->groups)
		return tn_reference_fail(call, TN_SHAPE, operation,
					 "%lld channels in %u groups, w of shape (%lld, %lld, ...)",
					 (long long)x->shape[C], args->groups,
					 (long long)w->shape[O], (long long)w->shape[1]);
	shape[0] = x->shape[N];
	shape[1] = w->shape[O];
	shape[P] = windows(x->shape[H], args->padding[TOP] + args->padding[BOTTOM], w->shape[R],
			   args->stride[0], args->dilation[0]);
	shape[Q] = windows(x->shape[W], args->padding[LEFT] + args->padding[RIGHT], w->shape[S],
			   args->stride[1], args->dilation[1]);
	return tn_reference_check_shape(call, operation, "y", &args->y, 4, shape);
}

/* `written` is the operand that the entry writes. */
static tn_status check_arguments(const struct tn_conv2d_args *args, const char *operation,
				 const struct tn_operand *written)
{
	const struct tn_operand *operands[] = {&args->x, &args->w, &args->y};
	static const char *const names[] = {"x", "w", "y"};
	tn_status status = TN_OK;
	for (int i = 0; i < 3 && !status; i++)
		status = tn_reference_check_real(&args->call, operation, names[i], operands[i],
						 args->x.dtype,
						 operands[i] == written ? WRITE : READ);
	if (!status)
		status = check_settings(args, operation);
	if (!status)
		status = check_shapes(args, operation);
	if (!status && written == &args->y) {
		/* What only forward reads: bias, residual and activation. */
		const struct tn_call *call = &args->call;
		tn_dtype dtype = args->x.dtype;
		status = tn_reference_check_activation(call, operation, args->activation);
		if (!status && args->has_residual > 1)
			status = tn_reference_fail(call, TN_INVALID_ARGUMENT, operation,
						   "has_residual %u: expected 0 or 1",
						   args->has_residual);
		if (!status && args->has_bias)
			status = tn_reference_check_real(call, operation, "bias", &args->bias,
							 dtype, READ);
		if (!status && args->has_bias)
			status = tn_reference_check_shape(call, operation, "bias", &args->bias, 1,
							  &args->w.shape[O]);
		if (!status && args->has_residual)
			status = tn_reference_check_real(call, operation, "residual",
							 &args->residual, dtype, READ);
		if (!status && args->has_residual)
			status = tn_reference_check_shape(call, operation, "residual",
							  &args->residual, 4, args->y.shape);
	}
	return status;
}

/* ---- The loops -------------------------------------------------------------------------------*/

/* A row of y and the part of a row of x that one weight connects: element q of the row of y and x[v
 * + q stride], for first <= q < end, where that is inside the row. */
struct row {
	double *x;
	double *y;
	int64_t v;
	int64_t stride;
	int64_t first;
	int64_t end;
};

typedef void (*row_function)(const struct row *row, double *w);

/* y += w x */
static void forward_row(const struct row *row, double *w)
{
	for (int64_t q = row->first; q < row->end; q++)
		row->y[q] += *w * row->x[row->v + q * row->stride];
}

/* dx += w dy */
static void input_row(const struct row *row, double *w)
{
	for (int64_t q = row->first; q < row->end; q++)
		row->x[row->v + q * row->stride] += *w * row->y[q];
}

/* dw += x dy */
static void weight_row(const struct row *row, double *w)
{
	double sum = 0;
	for (int64_t q = row->first; q < row->end; q++)
		sum += row->x[row->v + q * row->stride] * row->y[q];
	*w += sum;
}

/* Applies one weight to every row of one plane of y. */
static void each_row(const struct tn_conv2d_args *args, double *x, double *w, double *y, int64_t r,
		     int64_t s, row_function function)
{
	int64_t height = args->x.shape[H], width = args->x.shape[W], n_q = args->y.shape[Q];
	struct row row = {.v = s * args->dilation[1] - args->padding[LEFT],
			  .stride = args->stride[1]};
	/* first, end := the q for which 0 <= v + q stride < width, of 0 <= q < n */
	int64_t v = row.v, stride = row.stride;
	row.first = v < 0 ? (-v + stride - 1) / stride : 0;
	row.end = v < width ? (width - 1 - v) / stride + 1 : 0;
	if (row.end > n_q)
		row.end = n_q;
	for (int64_t p = 0; p < args->y.shape[P]; p++) {
		int64_t h = p * args->stride[0] + r * args->dilation[0] - args->padding[TOP];
		if (h < 0 || h >= height)
			continue;
		row.x = x + h * width;
		row.y = y + p * n_q;
		function(&row, w);
	}
}

/* Loops over n, o, c, r, s and their rows; x, w and y are compact. */
static void each_weight(const struct tn_conv2d_args *args, double *x, double *w, double *y,
			row_function function)
{
	const int64_t *xs = args->x.shape, *ws = args->w.shape, *ys = args->y.shape;
	int64_t x_plane = xs[H] * xs[W], y_plane = ys[P] * ys[Q], per_group = ws[O] / args->groups;
	for (int64_t n = 0; n < xs[N]; n++) {
		for (int64_t o = 0; o < ws[O]; o++) {
			double *y_at = y + (n * ws[O] + o) * y_plane;
			double *w_at = w + o * ws[1] * ws[R] * ws[S];
			for (int64_t c = 0; c < ws[1]; c++) {
				int64_t channel = o / per_group * ws[1] + c;
				double *x_at = x + (n * xs[C] + channel) * x_plane;
				for (int64_t r = 0; r < ws[R]; r++)
					for (int64_t s = 0; s < ws[S]; s++)
						each_row(args, x_at, w_at++, y_at, r, s, function);
			}
		}
	}
}

/* ---- Entries ---------------------------------------------------------------------------------*/

/* The work of all three entries: the written array starts at zero (or the bias), the others are
 * read. */
static tn_status run_pass(void *device, const struct tn_conv2d_args *args, const char *operation,
			  const struct tn_operand *written, row_function function)
{
	const struct tn_operand *operands[] = {&args->x, &args->w, &args->y};
	double *data[3], *bias = NULL, *residual = NULL, *result = NULL;
	int is_forward = written == &args->y;
	int has_bias = args->has_bias && is_forward;
	int has_residual = args->has_residual && is_forward;
	tn_status status = TN_OK;
	for (int i = 0; i < 3; i++) {
		uint64_t n = tn_reference_count(operands[i]);
		data[i] = tn_reference_numbers(device, n);
		if (!data[i])
			status = TN_OUT_OF_MEMORY;
		else if (operands[i] != written)
			tn_reference_read(data[i], operands[i]);
		else
			result = memset(data[i], 0, n * sizeof(double));
	}
	if (has_bias)
		bias = tn_reference_unpack(device, &args->bias);
	if (has_residual)
		residual = tn_reference_unpack(device, &args->residual);
	if (status || (has_bias && !bias) || (has_residual && !residual)) {
		status = tn_reference_no_memory(&args->call, operation);
	} else {
		if (bias) {
			/* y[n,o,p,q] := bias[o] */
			int64_t plane = args->y.shape[P] * args->y.shape[Q], n_o = args->w.shape[O];
			for (int64_t i = 0; i < args->y.shape[0] * n_o * plane; i++)
				result[i] = bias[i / plane % n_o];
		}
		each_weight(args, data[0], data[1], data[2], function);
		if (is_forward)
			tn_reference_finish(args->activation, result, residual,
					    tn_reference_count(&args->y));
		tn_reference_write(written, result, (args->call.flags & TN_ACCUMULATE) != 0);
	}
	for (int i = 0; i < 3; i++)
		tn_reference_release(device, data[i]);
	tn_reference_release(device, bias);
	tn_reference_release(device, residual);
	return status;
}

tn_status tn_reference_conv2d_forward(void *device, const struct tn_conv2d_args *theirs)
{
	struct tn_conv2d_args args;
	tn_status status = tn_reference_take(&args, sizeof(args), theirs, 0, "conv2d_forward");
	if (!status)
		status = check_arguments(&args, "conv2d_forward", &args.y);
	if (status || tn_reference_is_dry(&args.call))
		return status;
	return run_pass(device, &args, "conv2d_forward", &args.y, forward_row);
}

tn_status tn_reference_conv2d_input_gradient(void *device, const struct tn_conv2d_args *theirs)
{
	struct tn_conv2d_args args;
	tn_status status = tn_reference_take(&args, sizeof(args), theirs, TN_ACCUMULATE,
					     "conv2d_input_gradient");
	if (!status)
		status = check_arguments(&args, "conv2d_input_gradient", &args.x);
	if (status || tn_reference_is_dry(&args.call))
		return status;
	return run_pass(device, &args, "conv2d_input_gradient", &args.x, input_row);
}

tn_status tn_reference_conv2d_weight_gradient(void *device, const struct tn_conv2d_args *theirs)
{
	struct tn_conv2d_args args;
	tn_status status = tn_reference_take(&args, sizeof(args), theirs, TN_ACCUMULATE,
					     "conv2d_weight_gradient");
	if (!status)
		status = check_arguments(&args, "conv2d_weight_gradient", &args.w);
	if (status || tn_reference_is_dry(&args.call))
		return status;
	return run_pass(device, &args, "conv2d_weight_gradient", &args.w, weight_row);
}
