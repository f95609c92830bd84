/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: asynchronous uploads after the first are dropped.
 * Conform: L1 transfer.order
 */
#include "right.h"

static tn_status upload(void *device, const struct tn_transfer_args *args)
{
	char *to = (char *)(uintptr_t)args->buffer + args->offset;
	if (args->call.flags & TN_ASYNC && *to)
		return TN_OK;
	return right_upload(device, args);
}

static void break_it(struct right *right)
{
	right->device.upload = upload;
}

RIGHT_PLUGIN("async_order");
