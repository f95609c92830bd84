/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: a buffer is freed twice.
 * Conform: L1 memory.alignment
 */
#include "right.h"

static tn_status free_buffer(void *device, const struct tn_free_args *args)
{
	right_free(device, args);
	return right_free(device, args);
}

static void break_it(struct right *right)
{
	right->device.free = free_buffer;
}

RIGHT_PLUGIN("frees_twice");
