/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: the device that it counts and describes it does not know when it is to be opened.
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
