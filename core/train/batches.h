/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Batches of a data set as arrays, and sums over them that stay on the device until they are read.
 */
#ifndef TN_TRAIN_BATCHES_H
#define TN_TRAIN_BATCHES_H

#include <tenon/train.h>

#include "array/runtime.h"

/* One pass over a part of a data set. */
struct tn_batches {
	tn_context *context;
	struct tn_runtime *runtime;
	tn_data_loader *loader;
	const float *images; /* the loaded batch, on the host; borrowed from the loader */
	const int32_t *labels;
	int64_t shape[4]; /* of a full batch */
	uint64_t n_full;  /* number of full batches in an epoch */
};

tn_status tn_batches_open(struct tn_batches *batches, tn_context *context,
			  const tn_dataset *dataset, int part,
			  const struct tn_data_loader_options *options);
void tn_batches_close(struct tn_batches *batches); /* takes a zeroed struct */
/* The next batch as arrays of the current scope; *n = 0 at the end of an epoch. */
tn_status tn_batches_next(struct tn_batches *batches, tn_array **x, tn_array **labels, uint32_t *n);
/* Its two steps: loads the next batch on the host, and makes arrays of it. */
tn_status tn_batches_load(struct tn_batches *batches, uint32_t *n);
tn_status tn_batches_upload(struct tn_batches *batches, uint32_t n, tn_array **x,
			    tn_array **labels);
/* Makes arrays for full batches, held; and copies the loaded batch into them. */
tn_status tn_batches_make(struct tn_batches *batches, tn_array **x, tn_array **labels);
tn_status tn_batches_assign(const struct tn_batches *batches, tn_array *x, tn_array *labels);

/* Sums over batches: of losses times images, and of correct answers; 0-d arrays on the device. */
struct tn_sums {
	tn_array *loss;
	tn_array *right;
	uint64_t images;
	double started;
};
tn_status tn_sums_begin(struct tn_sums *sums, tn_context *context);
void tn_sums_end(struct tn_sums *sums); /* takes a zeroed struct */
/* Adds a batch of n images with this mean loss. */
tn_status tn_sums_add(struct tn_sums *sums, const tn_array *loss, const tn_array *logits,
		      const tn_array *labels, uint32_t n);
/* The means so far; waits for the device. */
tn_status tn_sums_read(const struct tn_sums *sums, struct tn_evaluation *result);

/* Seconds of a monotonic clock. */
double tn_clock_seconds(void);

#endif
