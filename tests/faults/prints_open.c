/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: it writes to standard output when its device is opened.
 * Conform: L5 process.silence stream.sync
 */
#include "right.h"

#include <stdio.h>

static tn_status open_device(void *instance, const struct tn_open_args *args, void **device)
{
	puts("a vendor's greeting");
	return right_open(instance, args, device);
}

static void break_it(struct right *right)
{
	right->device.open = open_device;
}

RIGHT_PLUGIN("prints_open");
