/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: matmul adds its bias, but accepts an activation without applying it.
 * Conform: L2 matmul.epilogue
 * Doctor: networks.inference
 */
#include "right.h"

static tn_status matmul(void *device, const struct tn_matmul_args *args)
{
	struct tn_matmul_args own;
	if (tn_arguments_take(&own, sizeof(own), args) || own.activation > TN_ACTIVATION_GELU)
		return right_matmul(device, args);
	uint32_t has_bias = own.has_bias;
	own.has_bias = own.activation = 0;
	tn_status status = right_matmul(device, &own);
	if (status || !has_bias || own.call.flags & TN_DRY_RUN)
		return status;
	for (uint64_t i = 0, n = right_count(&own.c); i < n; i++)
		*(float *)right_element(&own.c, i) +=
			*(float *)right_element(&own.bias, i % (uint64_t)own.bias.shape[0]);
	return TN_OK;
}

static void break_it(struct right *right)
{
	right->compute.matmul = matmul;
}

RIGHT_PLUGIN("ignores_activation");
