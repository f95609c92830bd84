/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The time of a data-parallel step on N ranks, from the time of a step on one: an alpha-beta model
 * of an all-reduce, and a simulation of buckets of gradients that are sent while backward goes on.
 *
 * Sources: R. Thakur, R. Rabenseifner and W. Gropp, "Optimization of Collective Communication
 * Operations in MPICH", IJHPCA 19(1), 2005 (halving and doubling); P. Patarasuk and X. Yuan,
 * "Bandwidth Optimal All-reduce Algorithms for Clusters of Workstations", JPDC 69(2), 2009 (the
 * ring, and that no rank can send less than 2 (N - 1) / N of the bytes); D. Culler et al., "LogP:
 * Towards a Realistic Model of Parallel Computation", PPoPP 1993 (overhead beside latency, which
 * tells the direct exchange from the ring).
 */
#ifndef TN_BENCH_SCALE_MODEL_H
#define TN_BENCH_SCALE_MODEL_H

#include <stddef.h>
#include <stdint.h>

struct scale_link {
	double seconds_a_byte; /* in each direction */
	double latency;        /* of a message, in seconds */
	double overhead;       /* of its sender, in seconds */
	double seconds_a_summed_byte;
};

/* How gradients are reduced. */
enum {
	SCALE_RING,
	SCALE_TREE, /* recursive halving and doubling */
	/* What Tenon does: each rank sends each other its segment, which that one sums and sends
	 * back. */
	SCALE_DIRECT,
	SCALE_AFTER,   /* the direct exchange of the whole arena after backward */
	SCALE_SHARDED, /* the direct one, then the parameters from each rank to each other */
	SCALE_WAYS
};
const char *scale_way_name(int way);

/* Messages that a rank sends for one bucket. */
double scale_messages(int way, uint32_t n_ranks);
/* Seconds of the all-reduce of so many bytes on an idle network. */
double scale_all_reduce(int way, uint32_t n_ranks, double bytes, const struct scale_link *link);

/* In the order of the arena, in elements; ready: the part of backward's time after which the
 * gradient is there. */
struct scale_weight {
	double begin;
	double end;
	double ready;
};
struct scale_network {
	size_t n_weights;
	struct scale_weight *weights;
	double parameters;
	double elements; /* of the arena */
	double matrices; /* of these, in weights of two axes or more, which come first */
};

struct scale_bucket {
	double bytes;
	double ready;
};
struct scale_buckets {
	size_t n;
	struct scale_bucket *buckets; /* in the order in which they are ready */
};
/* Cuts the arena of f32 as core/distributed/buckets.h does: from its end, the first bucket a
 * quarter of the others, those of one axis apart; a small arena is one bucket.  The last one
 * tells which weights have gradients.  The buckets are freed by the caller; 0: no memory. */
int scale_cut(const struct scale_network *network, double bytes, struct scale_buckets *buckets);

struct scale_step {
	double seconds;  /* on one rank */
	double backward; /* the part of it in backward */
	uint32_t n_ranks;
	int way;
	struct scale_link link;
};
/* One link a rank, on which the buckets follow each other as they are ready. */
double scale_step_seconds(const struct scale_step *step, const struct scale_buckets *buckets);

#endif
