/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: it copies, but computes nothing.  No check fails, and it reaches only level 1.
 */
#include "right.h"

static tn_status map(void *device, const struct tn_map_args *args)
{
	(void)device;
	return right_fail(&args->call, TN_UNSUPPORTED, "map", "it computes nothing");
}

static tn_status reduce(void *device, const struct tn_reduce_args *args)
{
	(void)device;
	return right_fail(&args->call, TN_UNSUPPORTED, "reduce", "it computes nothing");
}

static tn_status matmul(void *device, const struct tn_matmul_args *args)
{
	(void)device;
	return right_fail(&args->call, TN_UNSUPPORTED, "matmul", "it computes nothing");
}

static tn_status describe(void *instance, uint32_t index, struct tn_device_description *out)
{
	struct tn_device_description own = {.struct_size = sizeof(own)};
	tn_status status = right_describe(instance, index, &own);
	own.program_dtypes = own.matmul_dtypes = 0;
	if (!status)
		tn_struct_answer(out, &own, sizeof(own));
	return status;
}

static void break_it(struct right *right)
{
	right->compute.map = map;
	right->compute.reduce = reduce;
	right->compute.matmul = matmul;
	right->device.describe = describe;
}

RIGHT_PLUGIN("moves_only");
