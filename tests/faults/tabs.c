/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: it cannot be waited for, and says so in a text with tabs, as a vendor's may have.
 * Conform: L1 stream.sync
 */
#include "right.h"

static tn_status sync(void *device, const struct tn_sync_args *args)
{
	(void)device;
	return right_fail(&args->call, TN_BACKEND_FAILURE, "sync", "code\t7\tqueue\t0");
}

static void break_it(struct right *right)
{
	right->device.sync = sync;
}

RIGHT_PLUGIN("tabs");
