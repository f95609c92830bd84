/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: it reports a missing workspace as an invalid argument, so that the host does not request
 * its size.
 * Conform: L5 call.workspace
 */
#include "right.h"

static tn_status matmul(void *device, const struct tn_matmul_args *args)
{
	struct tn_workspace *workspace = args->call.workspace;
	tn_status status = right_matmul(device, args);
	if (status)
		return status;
	if (!(args->call.flags & TN_DRY_RUN))
		return workspace && workspace->size ? TN_OK : TN_INVALID_ARGUMENT;
	if (!workspace)
		return TN_UNSUPPORTED;
	workspace->minimum = workspace->preferred = 256;
	return TN_OK;
}

static void break_it(struct right *right)
{
	right->compute.matmul = matmul;
}

RIGHT_PLUGIN("without_workspace");
