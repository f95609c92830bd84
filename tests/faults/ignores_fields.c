/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: unknown flags and fields of an upload are ignored.
 * Conform: L5 call.unknown
 */
#include "right.h"

static tn_status upload(void *device, const struct tn_transfer_args *args)
{
	(void)device;
	memcpy((char *)(uintptr_t)args->buffer + args->offset, args->host, args->size);
	return TN_OK;
}

static void break_it(struct right *right)
{
	right->device.upload = upload;
}

RIGHT_PLUGIN("ignores_fields");
