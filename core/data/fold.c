/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Folds for cross-validation: the samples of each group, in a random order, are dealt to the folds
 * in turn, each group going on with the fold after the last one's.
 */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/options.h"
#include "base/quarantine.h"
#include "data/dataset.h"
#include "data/groups.h"
#include "data/shuffle.h"

#define OPERATION "dataset fold"

static tn_status check_options(const tn_dataset *dataset, const struct tn_fold_options *options,
			       struct tn_error_info *error)
{
	uint64_t n = dataset->count[TN_PART_TRAIN] + dataset->count[TN_PART_VALIDATION];
	if (options->n_folds < 2 || options->n_folds > n)
		return tn_fail(error, TN_INVALID_ARGUMENT, OPERATION,
			       "%s: expected 2 to %llu folds, the number of samples, found %u",
			       dataset->name, (unsigned long long)n, options->n_folds);
	if (options->fold >= options->n_folds)
		return tn_fail(error, TN_INVALID_ARGUMENT, OPERATION,
			       "%s: expected a fold from 0 to %u, found %u", dataset->name,
			       options->n_folds - 1, options->fold);
	if (options->stratify > dataset->samples->n_fields)
		return tn_fail(error, TN_INVALID_ARGUMENT, OPERATION,
			       "%s: stratify: expected 0, or 1 + a field below %u, found %u",
			       dataset->name, dataset->samples->n_fields, options->stratify);
	return TN_OK;
}

/* Deals the samples whose part is not TN_PART_TEST. */
static void deal(const struct tn_fold_options *options, uint64_t n, const uint32_t *order,
		 const uint32_t *groups, uint64_t *next, uint32_t n_groups, uint8_t *parts)
{
	uint64_t first = 0;
	/* next[g]: the turn of the next sample of group g, which begins after the groups below. */
	memset(next, 0, n_groups * sizeof(*next));
	for (uint64_t i = 0; i < n; i++)
		next[groups[i]] += parts[i] != TN_PART_TEST;
	for (uint32_t g = 0; g < n_groups; g++) {
		uint64_t size = next[g];
		next[g] = first;
		first += size;
	}
	for (uint64_t k = 0; k < n; k++) {
		uint32_t i = order[k];
		if (parts[i] == TN_PART_TEST)
			continue;
		uint64_t turn = next[groups[i]]++;
		parts[i] = turn % options->n_folds == options->fold ? TN_PART_VALIDATION
								    : TN_PART_TRAIN;
	}
}

static tn_status make_parts(const tn_dataset *dataset, const struct tn_fold_options *options,
			    uint8_t *parts, struct tn_error_info *error)
{
	uint64_t n = dataset->samples->n;
	uint32_t n_groups = 1;
	uint32_t *order = tn_mem_zeroed((size_t)n, sizeof(*order));
	uint32_t *groups = tn_mem_zeroed((size_t)n, sizeof(*groups));
	uint64_t *next = NULL;
	tn_status status = order && groups
				   ? TN_OK
				   : tn_no_memory(error, OPERATION, dataset->name, "its samples");
	for (uint64_t i = 0; i < dataset->count[TN_PART_TEST]; i++)
		parts[dataset->index[TN_PART_TEST][i]] = TN_PART_TEST;
	if (!status && options->stratify)
		status = tn_group_samples(dataset->samples, options->stratify - 1, groups,
					  &n_groups, error);
	if (!status) {
		next = tn_mem_zeroed(n_groups, sizeof(*next));
		status =
			next ? TN_OK : tn_no_memory(error, OPERATION, dataset->name, "its samples");
	}
	if (!status) {
		tn_permute(options->seed, TN_STREAM_FOLD, order, n);
		deal(options, n, order, groups, next, n_groups, parts);
	}
	tn_mem_free(order);
	tn_mem_free(groups);
	tn_mem_free(next);
	return status;
}

tn_status tn_dataset_fold(const tn_dataset *dataset, const struct tn_fold_options *given,
			  tn_dataset **out, struct tn_error_info *error)
{
	struct tn_fold_options options = tn_fold_defaults();
	if (!dataset)
		return tn_fail(error, TN_INVALID_ARGUMENT, OPERATION, "dataset is NULL");
	if (tn_quarantine_check(dataset, "dataset_fold", error))
		return TN_STATE;
	struct tn_dataset_raw raw = {
		.format = dataset->format,
		.samples = tn_samples_hold(dataset->samples),
		.n_classes = dataset->n_classes,
		.origin = dataset->origin,
		.class_names = dataset->class_names,
		.own_class_names = 1,
		.normalise_as = dataset->is_normalised_as ? &dataset->format : NULL,
	};
	tn_status status = tn_options_take(&options, sizeof(options), given,
					   "struct tn_fold_options", OPERATION, error);
	if (!status)
		status = check_options(dataset, &options, error);
	if (!status) {
		raw.parts = tn_mem_zeroed((size_t)dataset->samples->n, 1);
		status = raw.parts ? make_parts(dataset, &options, raw.parts, error)
				   : tn_no_memory(error, OPERATION, dataset->name, "its samples");
	}
	if (!status)
		status = tn_dataset_build(&raw, dataset->name, dataset->path, out, error);
	tn_dataset_raw_release(&raw);
	return status;
}
