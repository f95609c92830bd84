/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: it uses more workspace than it requested.
 * Conform: L5 call.workspace
 */
#include "right.h"

static tn_status matmul(void *device, const struct tn_matmul_args *args)
{
	struct tn_workspace *workspace = args->call.workspace;
	tn_status status = right_matmul(device, args);
	if (status || !workspace)
		return status;
	if (args->call.flags & TN_DRY_RUN)
		workspace->minimum = workspace->preferred = 256;
	else if (workspace->buffer)
		memset((char *)(uintptr_t)(workspace->buffer + workspace->offset), 1, 257);
	return TN_OK;
}

static void break_it(struct right *right)
{
	right->compute.matmul = matmul;
}

RIGHT_PLUGIN("workspace");
