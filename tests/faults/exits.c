/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: it exits on a product of mismatched shapes.
 * Conform: L5 call.unknown
 */
#include "right.h"

static tn_status matmul(void *device, const struct tn_matmul_args *args)
{
	tn_status status = right_matmul(device, args);
	if (status == TN_SHAPE)
		exit(0);
	return status;
}

static void break_it(struct right *right)
{
	right->compute.matmul = matmul;
}

RIGHT_PLUGIN("exits");
