/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: a refusal writes an error even if none was given.
 * Conform: L5 call.error
 */
#include "right.h"

static tn_status matmul(void *device, const struct tn_matmul_args *args)
{
	tn_status status = right_matmul(device, args);
	if (status)
		args->call.error->native_code = 1;
	return status;
}

static void break_it(struct right *right)
{
	right->compute.matmul = matmul;
}

RIGHT_PLUGIN("needs_error");
