/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Weights of a convolution in the backend's own form.
 */
#include "layers/prepack.h"

#include "array/make.h"
#include "device/open.h"
#include "device/turn.h"
#include "dispatch/operand.h"
#include "layers/conv2d.h"
#include "layers/conv2d_compose.h"
#include "layers/window.h"
#include "ops/packing.h"

static tn_status call_prepack(struct tn_device *device, const struct tn_call *call, uint64_t *size)
{
	const struct tn_conv2d_args *args = (const struct tn_conv2d_args *)(const void *)call;
	return tn_turn_end(device,
			   device->backend->nn.conv2d_prepack(tn_turn_begin(device), args, size));
}

static tn_status prepack_weights(struct tn_conv2d *conv)
{
	struct tn_device *device = tn_array_home(conv->w);
	struct tn_conv2d_args args;
	const struct tn_packing packing = {.runtime = conv->runtime,
					   .device = device,
					   .operation = TN_DO_CONV2D_PREPACK,
					   .call = &args.call,
					   .packed = &args.packed,
					   .entry = call_prepack};
	tn_status status = tn_device_ready(device, &conv->runtime->report);
	if (status || !conv->y->size || !conv->C ||
	    !tn_backend_has(device->backend, TN_SLOT_CONV2D_PREPACK))
		return status;
	tn_conv2d_args_of(&args, conv);
	args.has_residual = conv->residual != NULL;
	args.activation = conv->activation;
	if (conv->residual)
		tn_operand_of(&args.residual, conv->residual);
	return tn_packing_run(&packing, &conv->packed);
}

tn_status tn_conv2d_prepack(const tn_array *x, const tn_array *w, const tn_array *bias,
			    const struct tn_window *window, const struct tn_conv2d_finish *finish,
			    tn_array **packed)
{
	const tn_array *inputs[4] = {x, w};
	struct tn_conv2d conv = {.operation = TN_DO_CONV2D,
				 .x = tn_array_const_cast(x),
				 .w = tn_array_const_cast(w),
				 .bias = tn_array_const_cast(bias),
				 .residual = tn_array_const_cast(finish->residual),
				 .activation = finish->activation,
				 .has_constants = finish->has_constants};
	uint32_t n_inputs = 2;
	tn_status status;
	*packed = NULL;
	if (bias)
		inputs[n_inputs++] = bias;
	if (finish->residual)
		inputs[n_inputs++] = finish->residual;
	status = tn_begin_into(n_inputs, inputs, "conv2d_prepack");
	if (status)
		return status;
	conv.runtime = x->runtime;
	status = tn_conv2d_begin(&conv, window);
	if (!status)
		status = prepack_weights(&conv);
	tn_array_discard(conv.y);
	*packed = conv.packed;
	return tn_end_into(conv.runtime, status);
}
