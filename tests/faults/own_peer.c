/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: a peer copy reads from the destination's offset, and checks neither the peer nor the dry
 * run.
 * Conform: L1 peer.copy
 * Conform: L1 peer.refused
 */
#include "right.h"

static tn_status peer_copy(void *device, const struct tn_peer_args *args)
{
	(void)device;
	memcpy((char *)(uintptr_t)args->buffer + args->offset,
	       (char *)(uintptr_t)args->peer_buffer + args->offset, args->size);
	return TN_OK;
}

static void break_it(struct right *right)
{
	right->n_devices = 2;
	right->peer.peer_copy = peer_copy;
}

RIGHT_PLUGIN("own_peer");
