/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: memory of an unclaimed kind is allocated.
 * Conform: L1 memory.kinds
 */
#include "right.h"

static tn_status alloc(void *device, const struct tn_alloc_args *args, uint64_t *buffer)
{
	struct tn_alloc_args own = *args;
	own.memory_kind = own.memory_kind < 8 ? TN_MEMORY_DEVICE : own.memory_kind;
	return right_alloc(device, &own, buffer);
}

static void break_it(struct right *right)
{
	right->device.alloc = alloc;
}

RIGHT_PLUGIN("any_kind");
