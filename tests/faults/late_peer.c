/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: copies from a peer read their source only at a sync.
 * Conform: L1 peer.order
 */
#include "right.h"

static struct tn_peer_args waiting[64];
static unsigned n_waiting;

static tn_status peer_copy(void *device, const struct tn_peer_args *args)
{
	if (args->call.flags || args->peer == device || n_waiting == 64)
		return right_peer_copy(device, args);
	waiting[n_waiting++] = *args;
	return TN_OK;
}

static tn_status download(void *device, const struct tn_transfer_args *args)
{
	for (unsigned i = 0; i < n_waiting; i++)
		(void)right_peer_copy(device, &waiting[i]);
	n_waiting = 0;
	return right_download(device, args);
}

static void break_it(struct right *right)
{
	right->n_devices = 2;
	right->device.download = download;
	right->peer.peer_copy = peer_copy;
}

RIGHT_PLUGIN("late_peer");
