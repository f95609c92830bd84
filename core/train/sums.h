/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The sums of a pass over data: of losses, of their weights, and of metrics.  They stay on the
 * device until they are read.
 */
#ifndef TN_TRAIN_SUMS_H
#define TN_TRAIN_SUMS_H

#include <tenon/train.h>

#include "train/loss_object.h"
#include "train/metric.h"

enum { TN_MOST_METRICS = 16 };

struct tn_sums {
	tn_context *context;
	size_t n_metrics;
	tn_metric *const *metrics;
	void *passes[TN_MOST_METRICS];
	tn_array *loss;
	tn_array *weight; /* of losses that have one; all other samples weigh 1 */
	uint64_t samples;
	uint64_t equal; /* samples that weigh 1 */
	double started; /* by the clock */
};

/* dtype: of the network. */
tn_status tn_sums_begin(struct tn_sums *sums, tn_context *context, tn_dtype dtype, size_t n_metrics,
			tn_metric *const *metrics);
void tn_sums_end(struct tn_sums *sums); /* takes a zeroed struct */
/* Adds a batch of n samples with this loss. */
tn_status tn_sums_add(struct tn_sums *sums, const struct tn_loss_value *loss,
		      const tn_array *output, const tn_array *target, uint32_t n);
/* Counts a batch that a replay has added. */
void tn_sums_count(struct tn_sums *sums, int is_weighted, uint32_t n);
/* The means so far, metrics into the caller's array; waits for the device. */
tn_status tn_sums_read(const struct tn_sums *sums, double *metrics,
		       struct tn_trainer_values *values);

/* With ranks, each has the sums of its own samples.  Join makes them those of all ranks, and leave
 * gives each rank its own back, which were kept (kept NULL: they are not). */
struct tn_sums_kept {
	double loss, weight;
	uint64_t samples, equal;
	tn_array *arrays[TN_MOST_METRICS][TN_METRIC_ARRAYS]; /* held; NULL: there was none */
};
tn_status tn_sums_join(struct tn_sums *sums, tn_communicator *communicator,
		       struct tn_sums_kept *kept);
/* Also after a join that failed. */
tn_status tn_sums_leave(struct tn_sums *sums, struct tn_sums_kept *kept);

/* Seconds of a monotonic clock. */
double tn_clock_seconds(void);

#endif
