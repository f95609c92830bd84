/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: a running sum accumulates in f32, one element after the other.
 * Conform: L2 scan.error
 */
#include "right_lines.h"

static tn_status scan(void *device, const struct tn_scan_args *args)
{
	tn_status status = right_scan(device, args);
	const struct tn_operand *in = &args->input, *out = &args->output;
	float sum = 0;
	if (status || args->call.flags & TN_DRY_RUN || in->rank != 1 || args->exclusive ||
	    args->reverse)
		return status;
	for (uint64_t i = 0; i < right_count(in); i++) {
		sum += *(float *)(void *)right_element(in, i);
		*(float *)(void *)right_element(out, i) = sum;
	}
	return TN_OK;
}

static void break_it(struct right *right)
{
	right->scan.scan = scan;
}

RIGHT_PLUGIN("naive_sum");
