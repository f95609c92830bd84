/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: when memory runs out it returns TN_OK and the handle 0.
 * Conform: L1 memory.impossible
 * Doctor: memory.limit
 */
#include "right.h"

static tn_status alloc(void *device, const struct tn_alloc_args *args, uint64_t *buffer)
{
	tn_status status = right_alloc(device, args, buffer);
	if (status != TN_OUT_OF_MEMORY)
		return status;
	*buffer = 0;
	return TN_OK;
}

static void break_it(struct right *right)
{
	right->device.alloc = alloc;
}

RIGHT_PLUGIN("handle_0");
