/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: a dry run of alloc gives a buffer.
 * Conform: L5 call.unknown
 */
#include "right.h"

static tn_status alloc(void *device, const struct tn_alloc_args *args, uint64_t *buffer)
{
	struct tn_alloc_args own = *args;
	own.call.flags &= ~(uint32_t)TN_DRY_RUN;
	return right_alloc(device, &own, buffer);
}

static void break_it(struct right *right)
{
	right->device.alloc = alloc;
}

RIGHT_PLUGIN("dry_alloc");
