/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: matmul applies the scales of A, but accepts those of B without applying them.
 * Conform: L2 matmul.mixed
 */
#include "right.h"

static tn_status matmul(void *device, const struct tn_matmul_args *args)
{
	struct tn_matmul_args own;
	if (tn_arguments_take(&own, sizeof(own), args) || own.beta != 0)
		return right_matmul(device, args);
	const struct tn_operand *a_scale = own.a_scale;
	const uint64_t row = own.c.rank > 1 ? own.c.rank - 2 : 0;
	own.a_scale = own.b_scale = NULL;
	tn_status status = right_matmul(device, &own);
	if (status || !a_scale || own.call.flags & TN_DRY_RUN)
		return status;
	const uint64_t m = (uint64_t)own.c.shape[row], n = (uint64_t)own.c.shape[row + 1];
	for (uint64_t i = 0, count = right_count(&own.c); i < count; i++)
		*(float *)right_element(&own.c, i) *=
			*(const float *)right_element(a_scale, i / n % m);
	return TN_OK;
}

static void break_it(struct right *right)
{
	right->compute.matmul = matmul;
}

RIGHT_PLUGIN("ignores_scales");
