/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Weights of a convolution in the backend's own form.
 */
#include "layers/prepack.h"

#include "array/make.h"
#include "device/open.h"
#include "device/pool.h"
#include "device/turn.h"
#include "dispatch/ledger.h"
#include "dispatch/operand.h"
#include "dispatch/route.h"
#include "layers/conv2d.h"
#include "layers/conv2d_compose.h"
#include "layers/window.h"

static tn_status call_entry(struct tn_conv2d *conv, struct tn_conv2d_args *args, uint64_t *size)
{
	struct tn_device *device = tn_array_home(conv->w);
	return tn_turn_end(device,
			   device->backend->nn.conv2d_prepack(tn_turn_begin(device), args, size));
}

static tn_status pack_into(struct tn_conv2d *conv, struct tn_conv2d_args *args, uint64_t size)
{
	struct tn_device *device = tn_array_home(conv->w);
	struct tn_workspace *workspace = args->call.workspace;
	struct tn_block block = {.size = 0};
	const int64_t shape[] = {(int64_t)size};
	tn_status status = TN_OK;
	conv->packed = tn_array_make(conv->runtime, device, TN_U8, 1, shape);
	if (!conv->packed)
		return conv->runtime->report.status;
	args->packed = (struct tn_packed){conv->packed->storage->block.buffer,
					  tn_array_byte_offset(conv->packed), size};
	if (workspace->minimum) {
		status = tn_block_take(device, workspace->minimum, &block, &conv->runtime->report);
		workspace->buffer = block.buffer;
		workspace->offset = block.offset;
		workspace->size = workspace->minimum;
	} else {
		args->call.workspace = NULL;
	}
	if (!status)
		status = call_entry(conv, args, &size);
	if (block.size)
		tn_block_give(device, &block);
	return status;
}

static tn_status prepack_weights(struct tn_conv2d *conv)
{
	struct tn_device *device = tn_array_home(conv->w);
	struct tn_workspace workspace = {.struct_size = sizeof(workspace)};
	struct tn_conv2d_args args;
	uint64_t size = 0;
	tn_status status = tn_device_ready(device, &conv->runtime->report);
	if (status || !conv->y->size || !conv->C ||
	    !tn_backend_has(device->backend, TN_SLOT_CONV2D_PREPACK))
		return status;
	tn_conv2d_args_of(&args, conv);
	args.call.flags |= conv->runtime->call_flags;
	args.call.stream = device->stream;
	args.call.error = &conv->runtime->report;
	args.call.workspace = &workspace;
	args.has_residual = conv->residual != NULL;
	args.activation = conv->activation;
	if (conv->residual)
		tn_operand_of(&args.residual, conv->residual);
	/* Asks for its size in bytes and its workspace; 0 bytes: not supported. */
	args.call.flags |= TN_DRY_RUN;
	status = call_entry(conv, &args, &size);
	args.call.flags &= ~(uint32_t)TN_DRY_RUN;
	if (status == TN_UNSUPPORTED) {
		size = 0;
		status = TN_OK;
	}
	if (!status && size)
		status = pack_into(conv, &args, size);
	if (status)
		return tn_device_answer(device, status, &conv->runtime->report);
	if (size && !conv->runtime->depth)
		tn_ledger_row_of(conv->runtime->ledger, TN_DO_CONV2D_PREPACK)->native++;
	return TN_OK;
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
				 .activation = finish->activation};
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
	if (status)
		tn_array_discard(conv.packed);
	else
		*packed = conv.packed;
	return tn_end_into(conv.runtime, status);
}
