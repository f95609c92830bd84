/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: a product of f64 is refused only after its output was cleared.
 * Conform: L5 call.untouched
 */
#include "right.h"

static tn_status matmul(void *device, const struct tn_matmul_args *args)
{
	tn_status status = right_matmul(device, args);
	if (status == TN_UNSUPPORTED && !(args->call.flags & TN_DRY_RUN) && args->c.buffer)
		memset(right_element(&args->c, 0), 0, tn_dtype_size(args->c.dtype));
	return status;
}

static void break_it(struct right *right)
{
	right->compute.matmul = matmul;
}

RIGHT_PLUGIN("side_effect");
