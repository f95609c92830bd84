/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The samples of a batch.
 */
#ifndef TN_DATA_BATCH_H
#define TN_DATA_BATCH_H

#include "data/augment_plan.h"
#include "data/dataset.h"

/* What determines the samples of a loader's batches, besides their numbers; immutable, used by any
 * thread. */
struct tn_batch_plan {
	const tn_dataset *dataset;
	int part;
	uint64_t seed;
	int repeats; /* an epoch may have a sample several times, each with other random numbers */
	struct tn_augment_plan augmentation; /* zeros: the data set is not of images */
	tn_status (*transform)(void *user, struct tn_sample *sample, struct tn_error_info *error);
	void *user;
	uint32_t n_fields;
	struct tn_field fields[TN_MAX_FIELDS]; /* as batches have them */
	size_t size[TN_MAX_FIELDS];            /* bytes of one sample */
	size_t scratch_size;                   /* bytes that each function below needs; 0: none */
	float table[TN_MAX_CHANNELS][256];     /* [c][v] = (v / scale - mean) / deviation */
};

/* Fills the plan from the options and from the data set, which gives fields, sizes and table. */
tn_status tn_batch_plan_take(struct tn_batch_plan *plan, const tn_dataset *dataset, int part,
			     const struct tn_data_loader_options *options,
			     struct tn_error_info *error);

/* Writes sample `number` of the part, as in this epoch, to number `at` of the batch in data[].  Its
 * random numbers depend on `draw`, below 2^32. */
tn_status tn_batch_load(const struct tn_batch_plan *plan, uint64_t epoch, uint64_t number,
			uint64_t draw, uint64_t at, void *const *data, void *scratch,
			struct tn_error_info *error);

/* Once all n samples of a batch are written, from sample `index` of the epoch on: mixes images and
 * targets, if the augmentation does so. */
void tn_batch_mix(const struct tn_batch_plan *plan, uint64_t epoch, uint64_t index, uint32_t n,
		  void *const *data, void *scratch);

#endif
