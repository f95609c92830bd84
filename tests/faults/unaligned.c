/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: allocations are aligned to 64 bytes, not as requested.
 * Conform: L1 memory.alignment
 */
#include "right.h"

static tn_status alloc(void *device, const struct tn_alloc_args *args, uint64_t *buffer)
{
	struct tn_alloc_args own = *args;
	own.size += 64;
	tn_status status = right_alloc(device, &own, buffer);
	if (!status)
		*buffer += 64;
	return status;
}

static tn_status free_buffer(void *device, const struct tn_free_args *args)
{
	struct tn_free_args own = *args;
	own.buffer -= 64;
	return right_free(device, &own);
}

static void break_it(struct right *right)
{
	right->device.alloc = alloc;
	right->device.free = free_buffer;
}

RIGHT_PLUGIN("unaligned");
