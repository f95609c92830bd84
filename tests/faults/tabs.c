/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: its sync fails, with tabs in the text, as a vendor's text may have.
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
