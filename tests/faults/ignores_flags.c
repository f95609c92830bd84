/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: unknown flags are ignored.
 * Conform: L5 call.unknown
 */
#include "right.h"

static tn_status matmul(void *device, const struct tn_matmul_args *args)
{
	struct tn_matmul_args own;
	if (tn_arguments_take(&own, sizeof(own), args))
		return right_matmul(device, args);
	own.call.flags &= TN_DRY_RUN;
	return right_matmul(device, &own);
}

static void break_it(struct right *right)
{
	right->compute.matmul = matmul;
}

RIGHT_PLUGIN("ignores_flags");
