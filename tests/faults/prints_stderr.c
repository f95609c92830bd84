/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: it writes to standard error when it refuses.
 * Conform: L5 process.silence call.unknown
 */
#include "right.h"

#include <stdio.h>

static tn_status matmul(void *device, const struct tn_matmul_args *args)
{
	tn_status status = right_matmul(device, args);
	if (status)
		fprintf(stderr, "matmul: %d\n", status);
	return status;
}

static void break_it(struct right *right)
{
	right->compute.matmul = matmul;
}

RIGHT_PLUGIN("prints_stderr");
