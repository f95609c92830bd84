/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: packed weights are cached by their address, so that weights packed there later are
 * ignored.
 * Conform: L3 conv2d.prepack
 * Doctor: networks.inference
 */
#include "conv_forward.h"

static uint64_t packed_at;

static struct tn_operand packed_weights(const struct tn_conv2d_args *a)
{
	struct tn_operand w = a->w;
	int64_t stride = 1;
	w.buffer = a->packed.buffer;
	w.offset = a->packed.offset;
	for (uint32_t axis = 4; axis-- > 0;) {
		w.strides[axis] = stride;
		stride *= w.shape[axis];
	}
	return w;
}

static tn_status prepack(void *device, const struct tn_conv2d_args *args, uint64_t *size)
{
	struct tn_conv2d_args own;
	tn_status status = conv_take(&own, args, "conv2d_prepack");
	(void)device;
	if (status)
		return status;
	*size = right_count(&own.w) * sizeof(float);
	if (right_is_dry(&own.call))
		return TN_OK;
	struct tn_operand to = packed_weights(&own);
	for (uint64_t i = 0, n = right_count(&to); packed_at != to.buffer && i < n; i++)
		*(float *)right_element(&to, i) = *(const float *)right_element(&own.w, i);
	packed_at = to.buffer;
	return TN_OK;
}

static tn_status forward(void *device, const struct tn_conv2d_args *args)
{
	struct tn_conv2d_args own;
	tn_status status = conv_take(&own, args, "conv2d_forward");
	(void)device;
	if (status || right_is_dry(&own.call))
		return status;
	struct tn_operand w = own.packed.size ? packed_weights(&own) : own.w;
	conv_run(&own, &w, 1);
	return TN_OK;
}

static void break_it(struct right *right)
{
	right->nn.conv2d_forward = forward;
	right->nn.conv2d_prepack = prepack;
}

RIGHT_PLUGIN("packed_once");
