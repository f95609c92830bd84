/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: it aborts where nothing is reduced.
 * Conform: L2 reduce.shapes
 */
#include "right.h"

static tn_status reduce(void *device, const struct tn_reduce_args *args)
{
	if (!args->n_reduced)
		abort();
	return right_reduce(device, args);
}

static void break_it(struct right *right)
{
	right->compute.reduce = reduce;
}

RIGHT_PLUGIN("aborts");
