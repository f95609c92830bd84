/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: its thread-local variables need static TLS space, which is limited.
 * Link: -ftls-model=initial-exec
 * Conform: L0 file.tls
 */
#include "right.h"

static __thread int per_thread[64];

static tn_status sync_stream(void *device, const struct tn_sync_args *args)
{
	(void)device;
	(void)args;
	per_thread[63]++;
	return TN_OK;
}

static void break_it(struct right *right)
{
	right->device.sync = sync_stream;
}

RIGHT_PLUGIN("static_tls");
