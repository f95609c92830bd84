/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: a product multiplies C by beta even if beta is 0, when C may hold NaN.
 * Conform: L2 matmul.scale
 * Doctor: products.into
 */
#include "right.h"

static tn_status matmul(void *device, const struct tn_matmul_args *args)
{
	struct tn_matmul_args own;
	tn_status status = right_take(&own, sizeof(own), args, "matmul");
	if (status || own.call.flags & TN_DRY_RUN || right_matmul_check(&own) || own.beta != 0)
		return right_matmul(device, args);
	for (uint64_t i = 0, n = right_count(&own.c); i < n; i++) {
		float *c = (float *)right_element(&own.c, i), before = *c;
		right_matmul_element(&own, i);
		*c += 0 * before;
	}
	return TN_OK;
}

static void break_it(struct right *right)
{
	right->compute.matmul = matmul;
}

RIGHT_PLUGIN("reads_c");
