/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: the host and the device use different bytes of pinned memory.
 * Conform: L1 memory.kinds
 */
#include "right.h"

enum { APART = 8192 };

static uint64_t pinned; /* the last one */

static tn_status alloc(void *device, const struct tn_alloc_args *args, uint64_t *buffer)
{
	struct tn_alloc_args own = *args;
	if (own.memory_kind != TN_MEMORY_PINNED)
		return right_alloc(device, args, buffer);
	own.memory_kind = TN_MEMORY_DEVICE;
	own.size += APART;
	tn_status status = right_alloc(device, &own, buffer);
	pinned = *buffer;
	return status;
}

static struct tn_transfer_args moved(const struct tn_transfer_args *args)
{
	struct tn_transfer_args own = *args;
	if (own.buffer == pinned)
		own.offset += APART;
	own.call.flags &= ~(uint32_t)TN_ASYNC;
	return own;
}

static tn_status upload(void *device, const struct tn_transfer_args *args)
{
	const struct tn_transfer_args own = moved(args);
	return right_upload(device, &own);
}

static tn_status download(void *device, const struct tn_transfer_args *args)
{
	const struct tn_transfer_args own = moved(args);
	return right_download(device, &own);
}

static void break_it(struct right *right)
{
	right->memory_kinds |= 1u << TN_MEMORY_PINNED;
	right->device.alloc = alloc;
	right->device.upload = upload;
	right->device.download = download;
}

RIGHT_PLUGIN("pinned_apart");
