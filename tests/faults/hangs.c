/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: it never returns from a product of four axes.
 * Conform: L2 matmul.batch
 */
#include "right.h"

#include <unistd.h>

static tn_status matmul(void *device, const struct tn_matmul_args *args)
{
	while (args->c.rank == 4)
		pause();
	return right_matmul(device, args);
}

static void break_it(struct right *right)
{
	right->compute.matmul = matmul;
}

RIGHT_PLUGIN("hangs");
