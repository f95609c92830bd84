/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: conv2d accepts a residual but does not add it.
 * Conform: L3 conv2d.epilogue
 * Doctor: networks.inference
 */
#include "conv_forward.h"

static tn_status forward(void *device, const struct tn_conv2d_args *args)
{
	struct tn_conv2d_args own;
	tn_status status = conv_take(&own, args, "conv2d_forward");
	(void)device;
	if (status || right_is_dry(&own.call))
		return status;
	conv_run(&own, &own.w, 0);
	return TN_OK;
}

static void break_it(struct right *right)
{
	right->nn.conv2d_forward = forward;
}

RIGHT_PLUGIN("ignores_residual");
