/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: the dry run succeeds but the call refuses.
 * Conform: L5 call.dry_run
 */
#include "right.h"

static tn_status matmul(void *device, const struct tn_matmul_args *args)
{
	if (!(args->call.flags & TN_DRY_RUN) && right_count(&args->a) > 4)
		return right_fail(&args->call, TN_UNSUPPORTED, "matmul", "too large");
	return right_matmul(device, args);
}

static void break_it(struct right *right)
{
	right->compute.matmul = matmul;
}

RIGHT_PLUGIN("says_yes");
