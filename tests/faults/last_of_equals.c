/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: argmax returns the last of equal elements.
 * Conform: L2 reduce.arg
 * Doctor: reductions.places
 */
#include "right.h"

static tn_status reduce(void *device, const struct tn_reduce_args *args)
{
	tn_status status = right_reduce(device, args);
	const struct tn_operand *out = args->outputs, *in = args->inputs;
	if (status || args->call.flags & TN_DRY_RUN || args->combiners[0] != TN_REDUCE_ARGMAX ||
	    in->rank != 1 || out->rank != 0 || in->dtype != TN_I32)
		return status;
	int64_t *best = (int64_t *)(void *)right_element(out, 0);
	for (uint64_t i = 0; i < right_count(in); i++)
		if (*(int32_t *)(void *)right_element(in, i) ==
		    *(int32_t *)(void *)right_element(in, (uint64_t)*best))
			*best = (int64_t)i;
	return TN_OK;
}

static void break_it(struct right *right)
{
	right->compute.reduce = reduce;
}

RIGHT_PLUGIN("last_of_equals");
