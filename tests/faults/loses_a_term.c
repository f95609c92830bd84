/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: a sum of more than a million terms omits the last one.
 * Conform: L2 reduce.long
 * Doctor: reductions.long
 */
#include "right.h"

static tn_status reduce(void *device, const struct tn_reduce_args *args)
{
	struct tn_operand shorter = *args->inputs;
	struct tn_reduce_args own = *args;
	if (shorter.rank == 1 && shorter.shape[0] > 1000000 && own.n_reduced == 1) {
		shorter.shape[0]--;
		own.inputs = &shorter;
	}
	return right_reduce(device, &own);
}

static void break_it(struct right *right)
{
	right->compute.reduce = reduce;
}

RIGHT_PLUGIN("loses_a_term");
