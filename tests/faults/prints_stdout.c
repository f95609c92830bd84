/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: it writes to standard output.
 * Conform: L5 process.silence matmul.batch
 */
#include "right.h"

#include <stdio.h>

static tn_status matmul(void *device, const struct tn_matmul_args *args)
{
	puts("matmul");
	fflush(stdout);
	return right_matmul(device, args);
}

static void break_it(struct right *right)
{
	right->compute.matmul = matmul;
}

RIGHT_PLUGIN("prints_stdout");
