/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Checks a convolution's arguments and converts them for the algorithms.
 */
#include "conv2d_take.h"

#include <string.h>

enum { TOP, LEFT, BOTTOM, RIGHT };

static const char *const names[] = {"conv2d_forward", "conv2d_input_gradient",
				    "conv2d_weight_gradient"};

static tn_status check_settings(const struct tn_conv2d_args *args, const char *name)
{
	struct tn_error_info *error = args->call.error;
	for (int i = 0; i < 4; i++) {
		int64_t stride = args->stride[i % 2], dilation = args->dilation[i % 2];
		if (stride < 1 || stride > INT32_MAX || dilation < 1 || dilation > INT32_MAX ||
		    args->padding[i] < 0 || args->padding[i] > INT32_MAX)
			return tn_plugin_fail(
				error, TN_INVALID_ARGUMENT, name,
				"stride %lld, dilation %lld, padding %lld: expected at "
				"least 1, 1 and 0, at most 2^31-1",
				(long long)stride, (long long)dilation,
				(long long)args->padding[i]);
	}
	if (!args->groups || args->has_bias > 1 || args->has_residual > 1)
		return tn_plugin_fail(
			error, TN_INVALID_ARGUMENT, name,
			"groups %u, has_bias %u, has_residual %u: expected at least 1, and "
			"0 or 1",
			args->groups, args->has_bias, args->has_residual);
	if (args->activation > TN_ACTIVATION_GELU)
		return tn_plugin_fail(error, TN_UNSUPPORTED, name, "activation %u is not supported",
				      args->activation);
	return TN_OK;
}

/* Broadcast operands may have any number of elements.  Up to this many, workspace sizes do not
 * overflow. */
#define MOST_ELEMENTS 0x1p48

static tn_status check_operand(const struct tn_operand *operand, uint32_t rank, const char *what,
			       const struct tn_conv2d_args *args, const char *name)
{
	if (operand->dtype != TN_F32)
		return tn_plugin_fail(args->call.error, TN_UNSUPPORTED, name,
				      "%s: expected dtype f32 (%d), found %d", what, TN_F32,
				      operand->dtype);
	if (operand->rank != rank)
		return tn_plugin_fail(args->call.error, TN_SHAPE, name,
				      "%s: expected rank %u, found %u", what, rank, operand->rank);
	double elements = 1;
	for (uint32_t i = 0; i < rank; i++) {
		if (operand->shape[i] < 1)
			return tn_plugin_fail(args->call.error, TN_INVALID_ARGUMENT, name,
					      "%s: axis %u has length %lld", what, i,
					      (long long)operand->shape[i]);
		elements *= (double)operand->shape[i];
	}
	if (elements > MOST_ELEMENTS)
		return tn_plugin_fail(args->call.error, TN_UNSUPPORTED, name,
				      "%s: expected at most 2^48 elements, found %g", what,
				      elements);
	return TN_OK;
}

/* The number of windows that fit along one axis; 0: none. */
static int64_t windows(const struct tn_conv2d_args *args, int axis)
{
	int64_t length = args->x.shape[2 + axis], window = args->w.shape[2 + axis];
	if (length > INT64_MAX / 4 || window > INT32_MAX)
		return 0;
	int64_t room = length + args->padding[axis] + args->padding[axis + 2] -
		       args->dilation[axis] * (window - 1) - 1;
	return room < 0 ? 0 : room / args->stride[axis] + 1;
}

static tn_status check_like(const struct tn_operand *found, const int64_t *shape, const char *what,
			    const struct tn_conv2d_args *args, const char *name)
{
	const int64_t *own = found->shape;
	if (!memcmp(own, shape, 4 * sizeof(*shape)))
		return TN_OK;
	return tn_plugin_fail(
		args->call.error, TN_SHAPE, name,
		"%s: expected (%lld, %lld, %lld, %lld), found (%lld, %lld, %lld, %lld)", what,
		(long long)shape[0], (long long)shape[1], (long long)shape[2], (long long)shape[3],
		(long long)own[0], (long long)own[1], (long long)own[2], (long long)own[3]);
}

static tn_status check_shapes(const struct tn_conv2d_args *args, const char *name)
{
	const int64_t *x = args->x.shape, *w = args->w.shape;
	const int64_t y[4] = {x[0], w[0], windows(args, 0), windows(args, 1)};
	int64_t groups = args->groups;
	if (x[1] % groups || w[0] % groups || w[1] != x[1] / groups)
		return tn_plugin_fail(args->call.error, TN_SHAPE, name,
				      "%lld channels in %u groups: w has (%lld, %lld, ...)",
				      (long long)x[1], args->groups, (long long)w[0],
				      (long long)w[1]);
	if (args->has_bias && args->bias.shape[0] != w[0])
		return tn_plugin_fail(args->call.error, TN_SHAPE, name,
				      "bias: expected %lld elements, found %lld", (long long)w[0],
				      (long long)args->bias.shape[0]);
	tn_status status = check_like(&args->y, y, "y", args, name);
	if (!status && args->has_residual)
		status = check_like(&args->residual, y, "residual", args, name);
	return status;
}

static float *address(const struct tn_operand *operand)
{
	return (float *)(uintptr_t)(operand->buffer + operand->offset);
}

static void take_shapes(struct cpu_conv *conv, const struct tn_conv2d_args *args)
{
	const int64_t *x = args->x.shape, *w = args->w.shape, *y = args->y.shape;
	conv->n = x[0];
	conv->c = x[1];
	conv->h = x[2];
	conv->w = x[3];
	conv->o = y[1];
	conv->p = y[2];
	conv->q = y[3];
	conv->r = w[2];
	conv->s = w[3];
	conv->groups = args->groups;
	memcpy(conv->stride, args->stride, sizeof(conv->stride));
	memcpy(conv->dilation, args->dilation, sizeof(conv->dilation));
	memcpy(conv->padding, args->padding, sizeof(conv->padding));
}

tn_status cpu_conv_take(struct cpu_conv *conv, struct tn_conv2d_args *taken,
			const struct tn_conv2d_args *args, const char *name)
{
	uint32_t flags = TN_DRY_RUN | TN_DETERMINISTIC;
	int forward = conv->pass == CPU_CONV_FORWARD;
	if (!name)
		name = names[conv->pass];
	tn_status status = tn_plugin_take(taken, sizeof(*taken), args,
					  forward ? flags : flags | TN_ACCUMULATE, name);
	if (!forward)
		taken->has_bias = taken->has_residual = taken->activation = 0;
	if (!status)
		status = check_settings(taken, name);
	if (!status)
		status = check_operand(&taken->x, 4, "x", taken, name);
	if (!status)
		status = check_operand(&taken->w, 4, "w", taken, name);
	if (!status)
		status = check_operand(&taken->y, 4, "y", taken, name);
	if (!status && taken->has_bias)
		status = check_operand(&taken->bias, 1, "bias", taken, name);
	if (!status && taken->has_residual)
		status = check_operand(&taken->residual, 4, "residual", taken, name);
	if (!status)
		status = check_shapes(taken, name);
	if (status)
		return status;
	take_shapes(conv, taken);
	conv->weights = address(&taken->w);
	memcpy(conv->w_strides, taken->w.strides, sizeof(conv->w_strides));
	conv->accumulate = !!(taken->call.flags & TN_ACCUMULATE);
	conv->activation = forward ? taken->activation : TN_ACTIVATION_NONE;
	conv->bias = forward && taken->has_bias ? address(&taken->bias) : NULL;
	conv->bias_stride = conv->bias ? taken->bias.strides[0] : 0;
	return TN_OK;
}

int cpu_is_channels_last(const struct tn_operand *operand)
{
	return operand->strides[1] == 1 || operand->shape[1] == 1;
}

struct cpu_images cpu_images_of(const struct tn_operand *operand)
{
	struct cpu_images images = {.data = address(operand),
				    .image = operand->strides[0],
				    .row = operand->strides[2],
				    .pixel = operand->strides[3]};
	return images;
}
