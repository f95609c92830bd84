/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: the memory of a freed buffer is not returned to the host.
 * Conform: L5 memory.host_balance
 */
#include "right.h"

static tn_status free_buffer(void *device, const struct tn_free_args *args)
{
	(void)device;
	(void)args;
	return TN_OK;
}

static void break_it(struct right *right)
{
	right->device.free = free_buffer;
}

RIGHT_PLUGIN("leaks");
