/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Sharded optimizer state (optim/shard.h) over a communicator: makes arenas whole.
 */
#ifndef TN_DISTRIBUTED_SHARDED_H
#define TN_DISTRIBUTED_SHARDED_H

#include <tenon/distributed.h>
#include <tenon/memory.h>
#include <tenon/stream.h>

#include "nn/module.h"

struct tn_sharded {
	tn_module *module;
	tn_communicator *communicator;
	tn_host_buffer *host; /* of an arena's size; NULL: not needed yet */
	tn_event *copied;
};

/* Optimizers of the module that are made from now on have the share of this rank; `sharded` stays
 * where it is until it is closed, and its optimizers no longer step.  Errors are kept. */
tn_status tn_sharded_open(struct tn_sharded *sharded, tn_module *module,
			  tn_communicator *communicator);
/* Takes one that has not been opened, zeroed. */
void tn_sharded_close(struct tn_sharded *sharded);

#endif
