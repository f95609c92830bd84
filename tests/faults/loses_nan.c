/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: max does not propagate NaN.
 * Conform: L2 reduce.nan
 * Doctor: reductions.extremes
 */
#include "right.h"

static tn_status reduce(void *device, const struct tn_reduce_args *args)
{
	tn_status status = right_reduce(device, args);
	if (status || args->call.flags & TN_DRY_RUN || args->epilogue ||
	    args->combiners[0] != TN_REDUCE_MAX || args->outputs[0].dtype != TN_F32)
		return status;
	for (uint64_t i = 0, n = right_count(&args->outputs[0]); i < n; i++) {
		float *out = (float *)right_element(&args->outputs[0], i);
		if (*out != *out)
			*out = 0;
	}
	return TN_OK;
}

static void break_it(struct right *right)
{
	right->compute.reduce = reduce;
}

RIGHT_PLUGIN("loses_nan");
