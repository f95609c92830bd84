/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Buckets: ranges of a network's arena of gradients, each summed over the ranks by one operation
 * of the communicator, which is started as soon as the range is complete.
 *
 * All ranks must start the same operations in the same order.  So the order of the buckets is
 * fixed, about that in which backward completes them, and a bucket that is complete before an
 * earlier one waits for it: what the ranks start depends on the network, never on the time.
 *
 *	order      by the weight that forward uses first (the network's listing has about its
 *	           order), the bucket of the last weights first
 *	size       as asked for; the first one is smaller, so that it can start early
 *	borders    at weights that are not trained, which are not sent, and between weights and
 *	           biases, which lie apart in the arena (nn/arena.h): the biases of all layers are
 *	           complete at the end only.  Within a weight too: a large one has several buckets
 *
 * Where the device's memory is the host's and its work is done when a call returns, a bucket is
 * summed in place.  Elsewhere it goes through pinned memory.  The copy is begun when the bucket is
 * complete, and waited for when the next one is, so that it costs no time; that, too, depends on
 * the network alone.
 */
#ifndef TN_DISTRIBUTED_BUCKETS_H
#define TN_DISTRIBUTED_BUCKETS_H

#include <tenon/distributed.h>
#include <tenon/memory.h>
#include <tenon/stream.h>

#include "nn/module.h"

struct tn_bucket {
	int64_t begin, end;   /* elements of the arena */
	size_t first_weight;  /* the first in the listing of those that lie here */
	size_t n_weights;     /* those that are trained */
	size_t n_missing;     /* of these, in the present pass */
	tn_array *gradients;  /* this range of the arena, held */
	tn_array *wire;       /* in the dtype that is sent, held; NULL: the gradients are sent */
	tn_host_buffer *host; /* NULL: sums are made in place */
	tn_request *request;  /* started and not waited for; NULL: none */
};

struct tn_buckets {
	/* Set by the owner. */
	tn_module *module;
	tn_communicator *communicator;
	tn_dtype wire;  /* 0: that of the gradients */
	uint64_t bytes; /* of a bucket's gradients, about */
	/* Those of the weights that are trained now, in the order in which they start. */
	size_t n;
	struct tn_bucket *list;
	unsigned char *trained; /* of each weight in the listing, as the list was made for */
	size_t n_posted;  /* those before have been copied, or are being copied, for sending */
	size_t n_started; /* those before have been given to the communicator */
	tn_event *copied; /* the end of the last copy */
};

/* A new pass: no gradient is complete.  Makes the list when weights are trained that were not
 * before, or the reverse.  Errors are kept, here and below. */
tn_status tn_buckets_begin(struct tn_buckets *buckets);
/* The gradient of these elements is complete.  Starts what can be started, after a
 * multiplication by `scale`.  TN_STATE: it was complete already. */
tn_status tn_buckets_ready(struct tn_buckets *buckets, int64_t begin, int64_t end, double scale,
			   uint64_t step);
/* Starts all others. */
tn_status tn_buckets_flush(struct tn_buckets *buckets, double scale, uint64_t step);
/* Waits for all that were started; the gradients are then sums.  Waits after a failure too. */
tn_status tn_buckets_wait(struct tn_buckets *buckets);
void tn_buckets_release(struct tn_buckets *buckets);

#endif
