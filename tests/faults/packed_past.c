/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: packed weights take one element more than the dry run requested.
 * Conform: L3 conv2d.prepack
 */
#include "conv_forward.h"

static tn_status prepack(void *device, const struct tn_conv2d_args *args, uint64_t *size)
{
	struct tn_conv2d_args own;
	tn_status status = conv_take(&own, args, "conv2d_prepack");
	(void)device;
	if (status)
		return status;
	uint64_t n = right_count(&own.w);
	*size = n * sizeof(float);
	if (right_is_dry(&own.call))
		return TN_OK;
	float *to = (float *)(uintptr_t)(own.packed.buffer + own.packed.offset);
	for (uint64_t i = 0; i < n; i++)
		to[i] = *(const float *)right_element(&own.w, i);
	to[n] = 0;
	return TN_OK;
}

static tn_status forward(void *device, const struct tn_conv2d_args *args)
{
	struct tn_conv2d_args own;
	tn_status status = conv_take(&own, args, "conv2d_forward");
	(void)device;
	if (status || right_is_dry(&own.call))
		return status;
	conv_run(&own, &own.w, 1);
	return TN_OK;
}

static void break_it(struct right *right)
{
	right->nn.conv2d_forward = forward;
	right->nn.conv2d_prepack = prepack;
}

RIGHT_PLUGIN("packed_past");
