/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: the last element of a reduction is not written.
 * Conform: L2 reduce.shapes
 * Conform: L3 layers.reductions
 * Conform: L4 optimizers.clip
 * Doctor: reductions.sums
 */
#include "right.h"

static tn_status reduce(void *device, const struct tn_reduce_args *args)
{
	char before[16];
	const struct tn_operand *out = args->outputs;
	size_t size = tn_dtype_size(out->dtype);
	if (args->call.flags & TN_DRY_RUN || !out->buffer)
		return right_reduce(device, args);
	uint64_t n = right_count(out);
	memcpy(before, right_element(out, n - 1), size);
	tn_status status = right_reduce(device, args);
	if (!status && n > 1)
		memcpy(right_element(out, n - 1), before, size);
	return status;
}

static void break_it(struct right *right)
{
	right->compute.reduce = reduce;
}

RIGHT_PLUGIN("short_reduce");
