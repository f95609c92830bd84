/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * `tenon train` as one of several ranks.  Started by no launcher, it is rank 0 of one, and nothing
 * here does anything.
 *
 * A rank that fails ends the others: they would wait for it.  Only a failure that all ranks have
 * for the same reason needs no such end, and no rank knows which one that is.
 */
#ifndef TENON_TRAIN_RANKS_H
#define TENON_TRAIN_RANKS_H

#include "tool.h"

/* Where the time of a rank went. */
struct rank_times {
	double seconds; /* of training */
	double waited;  /* for other ranks, of these */
};

struct train_ranks {
	/* Options. */
	int sync_batch_norm;
	int shard;
	uint32_t wire;                 /* of train_ranks_wires */
	struct plugin_options options; /* of communicators */
	/* The rest is set by the functions below. */
	tn_communicator *communicator;
	tn_data_parallel *parallel; /* NULL: one rank */
	uint32_t rank, size;
	double waited; /* until the end of the last epoch */
	/* Of the last epoch, of each rank; NULL: one rank. */
	struct rank_times *times;
};

/* The dtypes on the wire: that of the gradients, f16, bf16; then NULL. */
extern const char *const train_ranks_wires[];

/* Joins the other ranks, and takes a device for this one: of those of the current device's backend,
 * or of those in TENON_TRAIN_DEVICES, the one of its number on this machine.  Prints the failure,
 * such as options for several ranks in a process alone, and returns its exit code. */
int train_ranks_open(struct train_ranks *ranks, tn_context *context);
/* Trains a built network with the others.  The context keeps the error. */
tn_status train_ranks_share(struct train_ranks *ranks, tn_module *module);
/* Tells each other the times of an epoch. */
tn_status train_ranks_epoch(struct train_ranks *ranks, double seconds);
/* Before the module is destroyed. */
void train_ranks_end(struct train_ranks *ranks);
/* Leaves the others; after a failure (code) ends them.  The context is open still. */
void train_ranks_close(struct train_ranks *ranks, int code);

#endif
