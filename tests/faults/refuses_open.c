/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: it counts and describes a device, but refuses to open it.
 * Conform: L0 file.loads stream.sync
 */
#include "right.h"

static tn_status open_device(void *instance, const struct tn_open_args *args, void **device)
{
	(void)instance;
	(void)device;
	return right_fail(&args->call, TN_INVALID_ARGUMENT, "open", "no such device");
}

static void break_it(struct right *right)
{
	right->device.open = open_device;
}

RIGHT_PLUGIN("refuses_open");
