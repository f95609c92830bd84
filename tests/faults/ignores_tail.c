/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: fields of a later version are ignored.
 * Conform: L5 call.unknown
 */
#include "right.h"

static tn_status matmul(void *device, const struct tn_matmul_args *args)
{
	struct tn_matmul_args own;
	(void)tn_arguments_take(&own, sizeof(own), args);
	return right_matmul(device, &own);
}

static void break_it(struct right *right)
{
	right->compute.matmul = matmul;
}

RIGHT_PLUGIN("ignores_tail");
