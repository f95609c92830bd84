/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: a product writes one element past its last.
 * Conform: L5 call.bounds
 * Doctor: products.into
 */
#include "right.h"

static tn_status matmul(void *device, const struct tn_matmul_args *args)
{
	tn_status status = right_matmul(device, args);
	if (!status && !(args->call.flags & TN_DRY_RUN)) {
		float *last = (float *)right_element(&args->c, right_count(&args->c) - 1);
		last[1] = 0;
	}
	return status;
}

static void break_it(struct right *right)
{
	right->compute.matmul = matmul;
}

RIGHT_PLUGIN("writes_past");
