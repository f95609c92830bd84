/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Convolutions: checks shapes, makes outputs and takes the route.
 */
#include "layers/conv2d.h"

#include <inttypes.h>
#include <string.h>

#include "array/make.h"
#include "array/shape.h"
#include "array/watch.h"
#include "base/dtype.h"
#include "dispatch/operand.h"
#include "dispatch/route.h"
#include "layers/conv2d_compose.h"
#include "layers/window.h"
#include "ops/copy.h"
#include "ops/epilogue.h"
#include "ops/layout.h"
#include "ops/packing.h"

static const char *name_of(const struct tn_conv2d *conv)
{
	return tn_operations[conv->operation].name;
}

/* ---- Checks ----------------------------------------------------------------------------------*/

static tn_status check_window(struct tn_conv2d *conv, const struct tn_window *window)
{
	struct tn_window *own = &conv->window;
	*own = *window;
	if (!own->groups)
		own->groups = 1;
	for (int i = 0; i < 4; i++) {
		int64_t *stride = &own->stride[i % 2], *dilation = &own->dilation[i % 2];
		if (!*stride)
			*stride = 1;
		if (!*dilation)
			*dilation = 1;
		if (*stride < 1 || *stride > INT32_MAX || *dilation < 1 || *dilation > INT32_MAX ||
		    own->padding[i] < 0 || own->padding[i] > INT32_MAX)
			return tn_fail(&conv->runtime->report, TN_INVALID_ARGUMENT, name_of(conv),
				       "stride %" PRId64 ", dilation %" PRId64 ", padding %" PRId64
				       ": expected at least 1, 1 and 0",
				       *stride, *dilation, own->padding[i]);
	}
	return TN_OK;
}

/* (length + before + after - dilation (kernel - 1) - 1) / stride + 1, or -1 */
static int64_t output_length(const struct tn_window *window, int axis, int64_t length,
			     int64_t kernel)
{
	int64_t room = length + window->padding[axis] + window->padding[axis + 2] -
		       window->dilation[axis] * (kernel - 1) - 1;
	return room < 0 ? -1 : room / window->stride[axis] + 1;
}

static tn_status check_shapes(struct tn_conv2d *conv, const int64_t *x, const int64_t *w)
{
	char x_text[TN_SHAPE_TEXT], w_text[TN_SHAPE_TEXT];
	conv->N = x[0];
	conv->C = x[1];
	conv->H = x[2];
	conv->W = x[3];
	conv->O = w[0];
	conv->R = w[2];
	conv->S = w[3];
	conv->G = conv->window.groups;
	const char *reason = "the kernel is larger than x with its padding";
	if (conv->R < 1 || conv->S < 1 || conv->R > INT32_MAX || conv->S > INT32_MAX) {
		reason = "the kernel is empty or too large";
	} else if (conv->C % conv->G || w[1] != conv->C / conv->G) {
		reason = "w takes another number of channels";
	} else if (conv->O % conv->G) {
		reason = "the groups do not divide w's outputs";
	} else {
		conv->P = output_length(&conv->window, 0, conv->H, conv->R);
		conv->Q = output_length(&conv->window, 1, conv->W, conv->S);
		if (conv->P > 0 && conv->Q > 0)
			return TN_OK;
	}
	return tn_fail(&conv->runtime->report, TN_SHAPE, name_of(conv),
		       "x of shape %s and w of shape %s do not fit: %s (stride %" PRId64 " %" PRId64
		       ", padding %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64
		       ", dilation %" PRId64 " %" PRId64 ", %" PRId64 " groups)",
		       tn_shape_print(4, x, x_text), tn_shape_print(4, w, w_text), reason,
		       conv->window.stride[0], conv->window.stride[1], conv->window.padding[0],
		       conv->window.padding[1], conv->window.padding[2], conv->window.padding[3],
		       conv->window.dilation[0], conv->window.dilation[1], conv->G);
}

static tn_status check_array(struct tn_conv2d *conv, const char *which, const tn_array *array,
			     int rank, tn_dtype dtype)
{
	char text[TN_SHAPE_TEXT];
	if (array->rank != rank)
		return tn_fail(&conv->runtime->report, TN_SHAPE, name_of(conv),
			       "%s: expected rank %d, found shape %s", which, rank,
			       tn_array_text(array, text));
	if (array->dtype != dtype || !tn_is_floating(dtype))
		return tn_fail(&conv->runtime->report, TN_DTYPE, name_of(conv),
			       "%s: expected the floating type of the other operands, found %s",
			       which, tn_dtype_name(array->dtype));
	return TN_OK;
}

static tn_status check_y(struct tn_conv2d *conv, const tn_array *y)
{
	const int64_t shape[] = {conv->N, conv->O, conv->P, conv->Q};
	char found[TN_SHAPE_TEXT], expected[TN_SHAPE_TEXT];
	if (tn_shape_equal(y->rank, y->shape, 4, shape))
		return TN_OK;
	return tn_fail(&conv->runtime->report, TN_SHAPE, name_of(conv),
		       "dy: expected shape %s, found %s", tn_shape_print(4, shape, expected),
		       tn_array_text(y, found));
}

/* Those of one convolution, or of one of its gradients. */
static void count_multiply_adds(const struct tn_conv2d *conv)
{
	tn_watch_multiplied(conv->runtime, conv->N * conv->O * conv->P * conv->Q *
						   (conv->C / conv->G) * conv->R * conv->S);
}

/* Operands of struct tn_conv2d_args, for hints. */
enum { CONV2D_W = 1, CONV2D_BIAS = 3 };

/* ---- The route -------------------------------------------------------------------------------*/

void tn_conv2d_args_of(struct tn_conv2d_args *args, const struct tn_conv2d *conv)
{
	*args = (struct tn_conv2d_args){.call = {.struct_size = sizeof(*args)},
					.has_bias = conv->bias != NULL,
					.groups = (uint32_t)conv->G};
	if (conv->accumulate)
		args->call.flags = TN_ACCUMULATE;
	if (conv->has_constants)
		args->call.hints = TN_HINT_CONSTANT(CONV2D_W) | TN_HINT_CONSTANT(CONV2D_BIAS);
	memcpy(args->stride, conv->window.stride, sizeof(args->stride));
	memcpy(args->dilation, conv->window.dilation, sizeof(args->dilation));
	memcpy(args->padding, conv->window.padding, sizeof(args->padding));
	tn_operand_of(&args->x, conv->x);
	tn_operand_of(&args->w, conv->w);
	tn_operand_of(&args->y, conv->y);
	if (conv->bias)
		tn_operand_of(&args->bias, conv->bias);
}

/* Those of a composition, for widened runs. */
static const uint32_t arrays_of_conv2d[] = {
	offsetof(struct tn_conv2d, x), offsetof(struct tn_conv2d, w), offsetof(struct tn_conv2d, y),
	offsetof(struct tn_conv2d, bias), 0};

static tn_status convolve(struct tn_conv2d *conv, enum tn_slot slot, tn_array *out,
			  tn_status (*compose)(void *conv))
{
	struct tn_conv2d_args args;
	struct tn_route route = {.runtime = conv->runtime,
				 .device = tn_array_home(out),
				 .operation = conv->operation,
				 .slot = slot,
				 .call = &args.call,
				 .compose = compose,
				 .argument = conv,
				 .arrays = arrays_of_conv2d,
				 .needs = TN_NEEDS_MAP | TN_NEEDS_MATMUL,
				 .dtype = out->dtype};
	tn_status status;
	tn_conv2d_args_of(&args, conv);
	status = tn_route_run(&route);
	if (!status)
		tn_array_touch(out);
	return status;
}

/* A forward with its epilogue in one call, with packed weights: only on the device's own backend,
 * which packed them. */
static tn_status convolve_finished(struct tn_conv2d *conv)
{
	struct tn_conv2d_args args;
	struct tn_route route = {.runtime = conv->runtime,
				 .device = tn_array_home(conv->y),
				 .operation = conv->operation,
				 .slot = TN_SLOT_CONV2D_FORWARD,
				 .call = &args.call,
				 .is_native_only = 1};
	tn_status status;
	tn_conv2d_args_of(&args, conv);
	args.activation = conv->activation;
	args.has_residual = conv->residual != NULL;
	if (conv->residual)
		tn_operand_of(&args.residual, conv->residual);
	if (conv->packed)
		args.packed = tn_packed_of(conv->packed);
	status = tn_route_run(&route);
	if (!status)
		tn_array_touch(conv->y);
	return status;
}

/* A result in the layout that the device prefers. */
static tn_array *make_images(const struct tn_conv2d *conv, const tn_array *from,
			     const int64_t *shape)
{
	struct tn_device *device = tn_array_home(from);
	return tn_array_make_images(conv->runtime, device, from->dtype, shape,
				    tn_layout_prefers_channels_last(device));
}

static tn_status check_epilogue(struct tn_conv2d *conv)
{
	const int64_t shape[] = {conv->N, conv->O, conv->P, conv->Q};
	const tn_array *bias = conv->bias, *residual = conv->residual;
	char found[TN_SHAPE_TEXT], expected[TN_SHAPE_TEXT];
	tn_status status = bias ? check_array(conv, "bias", bias, 1, conv->x->dtype) : TN_OK;
	if (!status && bias && bias->shape[0] != conv->O)
		status = tn_fail(&conv->runtime->report, TN_SHAPE, "conv2d",
				 "bias: expected %" PRId64 " elements, found %" PRId64, conv->O,
				 bias->shape[0]);
	if (!status)
		status = tn_activation_check(conv->runtime, "conv2d", conv->activation,
					     TN_ACTIVATION_GELU);
	if (!status && residual)
		status = check_array(conv, "residual", residual, 4, conv->x->dtype);
	if (status || !residual || tn_shape_equal(4, residual->shape, 4, shape))
		return status;
	return tn_fail(&conv->runtime->report, TN_SHAPE, "conv2d",
		       "residual: expected shape %s, found %s", tn_shape_print(4, shape, expected),
		       tn_array_text(residual, found));
}

tn_status tn_conv2d_begin(struct tn_conv2d *conv, const struct tn_window *window)
{
	const tn_array *x = conv->x;
	int64_t size;
	tn_status status = check_window(conv, window);
	if (!status)
		status = check_array(conv, "x", x, 4, x->dtype);
	if (!status)
		status = check_array(conv, "w", conv->w, 4, x->dtype);
	if (!status)
		status = check_shapes(conv, x->shape, conv->w->shape);
	if (!status)
		status = check_epilogue(conv);
	const int64_t shape[] = {conv->N, conv->O, conv->P, conv->Q};
	if (!status)
		status = tn_shape_check(conv->runtime, "conv2d", x->dtype, 4, shape, &size);
	if (!status)
		conv->y = make_images(conv, x, shape);
	return status || conv->y ? status : conv->runtime->report.status;
}

tn_array *tn_conv2d_forward_finished(const tn_array *x, const tn_array *w, const tn_array *bias,
				     const struct tn_window *window,
				     const struct tn_conv2d_finish *finish)
{
	const tn_array *inputs[5] = {x, w};
	struct tn_conv2d conv = {.operation = TN_DO_CONV2D,
				 .x = tn_array_const_cast(x),
				 .w = tn_array_const_cast(w),
				 .bias = tn_array_const_cast(bias),
				 .residual = tn_array_const_cast(finish->residual),
				 .packed = tn_array_const_cast(finish->packed),
				 .activation = finish->activation,
				 .has_constants = finish->has_constants};
	uint32_t n_inputs = 2;
	tn_status status;
	if (bias)
		inputs[n_inputs++] = bias;
	if (finish->residual)
		inputs[n_inputs++] = finish->residual;
	if (finish->packed)
		inputs[n_inputs++] = finish->packed;
	conv.runtime = tn_begin(n_inputs, inputs, "conv2d");
	if (!conv.runtime)
		return NULL;
	status = tn_conv2d_begin(&conv, window);
	if (!status && conv.y->size && !conv.C) {
		status = tn_fill_run(conv.runtime, TN_DO_CONV2D, conv.y, 0);
		if (!status)
			status = tn_epilogue_run(conv.runtime, conv.y, NULL, conv.residual,
						 conv.activation);
	} else if (!status && conv.y->size) {
		count_multiply_adds(&conv);
		status = TN_UNSUPPORTED;
		if (conv.residual || conv.activation || conv.packed)
			status = convolve_finished(&conv);
		if (status == TN_UNSUPPORTED) {
			status = convolve(&conv, TN_SLOT_CONV2D_FORWARD, conv.y, tn_compose_conv2d);
			if (!status)
				status = tn_epilogue_run(conv.runtime, conv.y, NULL, conv.residual,
							 conv.activation);
		}
	}
	return tn_end(conv.runtime, status, conv.y);
}

tn_array *tn_conv2d_forward(const tn_array *x, const tn_array *w, const tn_array *bias,
			    const struct tn_window *window)
{
	return tn_conv2d_forward_finished(x, w, bias, window, &(struct tn_conv2d_finish){0});
}

tn_array *tn_conv2d_input_gradient(const tn_array *dy, const tn_array *w, const int64_t x_shape[4],
				   const struct tn_window *window)
{
	const tn_array *inputs[] = {dy, w};
	struct tn_conv2d conv = {.operation = TN_DO_CONV2D_INPUT_GRADIENT,
				 .w = tn_array_const_cast(w),
				 .y = tn_array_const_cast(dy)};
	tn_status status;
	conv.runtime = tn_begin(2, inputs, name_of(&conv));
	if (!conv.runtime)
		return NULL;
	status = check_window(&conv, window);
	if (!status)
		status = check_array(&conv, "dy", dy, 4, dy->dtype);
	if (!status)
		status = check_array(&conv, "w", w, 4, dy->dtype);
	if (!status)
		status = check_shapes(&conv, x_shape, w->shape);
	if (!status)
		status = check_y(&conv, dy);
	if (!status) {
		conv.x = make_images(&conv, dy, x_shape);
		status = conv.x ? TN_OK : conv.runtime->report.status;
	}
	if (!status && conv.x->size && !dy->size) {
		status = tn_fill_run(conv.runtime, conv.operation, conv.x, 0);
	} else if (!status && conv.x->size) {
		count_multiply_adds(&conv);
		status = convolve(&conv, TN_SLOT_CONV2D_INPUT_GRADIENT, conv.x,
				  tn_compose_conv2d_input_gradient);
	}
	return tn_end(conv.runtime, status, conv.x);
}

tn_status tn_conv2d_weight_gradient(tn_array *dw, const tn_array *x, const tn_array *dy,
				    const struct tn_window *window, int accumulate)
{
	const tn_array *all[] = {x, dy, dw};
	struct tn_conv2d conv = {.operation = TN_DO_CONV2D_WEIGHT_GRADIENT,
				 .x = tn_array_const_cast(x),
				 .w = dw,
				 .y = tn_array_const_cast(dy),
				 .accumulate = accumulate != 0};
	tn_status status = tn_begin_into(3, all, name_of(&conv));
	if (status)
		return status;
	conv.runtime = dw->runtime;
	status = check_window(&conv, window);
	if (!status)
		status = check_array(&conv, "x", x, 4, x->dtype);
	if (!status)
		status = check_array(&conv, "dy", dy, 4, x->dtype);
	if (!status)
		status = check_array(&conv, "dw", dw, 4, x->dtype);
	if (!status)
		status = check_shapes(&conv, x->shape, dw->shape);
	if (!status)
		status = check_y(&conv, dy);
	if (!status)
		status = tn_array_writable(conv.runtime, name_of(&conv), dw);
	if (!status && (tn_array_overlap(dw, x) || tn_array_overlap(dw, dy)))
		status = tn_fail(&conv.runtime->report, TN_INVALID_ARGUMENT, name_of(&conv),
				 "dw shares memory with x or dy");
	if (!status && dw->size && (!x->size || !dy->size)) {
		if (!accumulate)
			status = tn_fill_run(conv.runtime, conv.operation, dw, 0);
	} else if (!status && dw->size) {
		count_multiply_adds(&conv);
		status = convolve(&conv, TN_SLOT_CONV2D_WEIGHT_GRADIENT, dw,
				  tn_compose_conv2d_weight_gradient);
	}
	return tn_end_into(conv.runtime, status);
}
