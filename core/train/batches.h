/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Batches of a loader as arrays.
 */
#ifndef TN_TRAIN_BATCHES_H
#define TN_TRAIN_BATCHES_H

#include <tenon/data.h>

#include "array/runtime.h"

/* One pass over a loader's part. */
struct tn_batches {
	tn_context *context;
	struct tn_runtime *runtime;
	tn_data_loader *loader; /* borrowed */
	struct tn_batch batch;  /* the loaded one */
	uint32_t batch_size;
	uint32_t n_fields;
	uint64_t limit;  /* samples in an epoch */
	uint64_t n_full; /* full batches in an epoch */
};

tn_status tn_batches_of(struct tn_batches *batches, tn_context *context, tn_data_loader *loader);
/* Loads the next batch on the host; batch.n is 0 at the end of an epoch. */
tn_status tn_batches_load(struct tn_batches *batches);
/* Arrays of the loaded batch, one for each field, in the current scope. */
tn_status tn_batches_upload(struct tn_batches *batches, tn_array **fields);
/* Makes arrays for full batches, held; and copies the loaded batch into them. */
tn_status tn_batches_make(struct tn_batches *batches, tn_array **fields);
tn_status tn_batches_assign(const struct tn_batches *batches, tn_array *const *fields);

#endif
