/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Batches.  Guarantees: a call's result depends only on (data set, part, options, position), so a
 * loader set to a position continues like one that reached it by reading.
 */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/options.h"
#include "data/batch.h"
#include "data/shuffle.h"

#define OPERATION "data loader"
#define NO_EPOCH UINT64_MAX

struct tn_data_loader {
	struct tn_batch_plan plan;
	uint32_t batch_size;
	uint32_t shuffle;
	struct tn_data_position position;
	uint64_t n;      /* samples of the part */
	uint64_t limit;  /* samples of an epoch: all, or those in full batches */
	uint32_t *order; /* the order of epoch `ordered` */
	uint64_t ordered;
	void *data[TN_MAX_FIELDS]; /* a batch of each field */
	uint64_t *samples;         /* their numbers within the part */
	void *scratch;
};

static tn_status allocate(tn_data_loader *loader, struct tn_error_info *error)
{
	const struct tn_batch_plan *plan = &loader->plan;
	int failed = 0;
	for (uint32_t i = 0; i < plan->n_fields; i++) {
		if (loader->batch_size > TN_HOST_ARRAY_MAX_BYTES / plan->size[i])
			return tn_fail(error, TN_LIMIT, OPERATION,
				       "field %u: expected a batch of at most %llu bytes, found %u "
				       "samples of %zu",
				       i, (unsigned long long)TN_HOST_ARRAY_MAX_BYTES,
				       loader->batch_size, plan->size[i]);
		loader->data[i] = tn_mem_zeroed(loader->batch_size, plan->size[i]);
		failed |= !loader->data[i];
	}
	loader->order = tn_mem_zeroed((size_t)loader->n, sizeof(*loader->order));
	loader->samples = tn_mem_zeroed(loader->batch_size, sizeof(*loader->samples));
	loader->scratch = tn_mem_alloc(plan->scratch_size);
	failed |= !loader->order || !loader->samples || !loader->scratch;
	if (failed)
		return tn_fail(error, TN_OUT_OF_MEMORY, OPERATION,
			       "no memory for the order of %llu samples and a batch of %u",
			       (unsigned long long)loader->n, loader->batch_size);
	return TN_OK;
}

tn_status tn_data_loader_create(const tn_dataset *dataset, int part,
				const struct tn_data_loader_options *given, tn_data_loader **out,
				struct tn_error_info *error)
{
	struct tn_data_loader_options options = {0};
	tn_status status = tn_options_take(&options, sizeof(options), given,
					   "struct tn_data_loader_options", OPERATION, error);
	if (status != TN_OK)
		return status;
	if (part < 0 || part >= TN_N_PARTS)
		return tn_fail(error, TN_INVALID_ARGUMENT, OPERATION,
			       "expected a part from 0 to %d, found %d", TN_N_PARTS - 1, part);
	if (options.batch_size == 0)
		return tn_fail(error, TN_INVALID_ARGUMENT, OPERATION,
			       "expected a batch_size of at least 1, found 0");
	tn_data_loader *loader = tn_mem_zeroed(1, sizeof(*loader));
	if (!loader)
		return tn_fail(error, TN_OUT_OF_MEMORY, OPERATION, "no memory for a loader");
	uint64_t n = dataset->count[part];
	loader->batch_size = options.batch_size;
	loader->shuffle = options.shuffle;
	loader->n = n;
	loader->limit = options.drop_last ? n - n % options.batch_size : n;
	loader->ordered = NO_EPOCH;
	status = tn_batch_plan_take(&loader->plan, dataset, part, &options, error);
	if (status == TN_OK)
		status = allocate(loader, error);
	if (status == TN_OK)
		*out = loader;
	else
		tn_data_loader_destroy(loader);
	return status;
}

void tn_data_loader_destroy(tn_data_loader *loader)
{
	if (!loader)
		return;
	for (uint32_t i = 0; i < loader->plan.n_fields; i++)
		tn_mem_free(loader->data[i]);
	tn_mem_free(loader->order);
	tn_mem_free(loader->samples);
	tn_mem_free(loader->scratch);
	tn_mem_free(loader);
}

uint64_t tn_data_loader_batches(const tn_data_loader *loader)
{
	return (loader->limit + loader->batch_size - 1) / loader->batch_size;
}

tn_status tn_data_loader_field(const tn_data_loader *loader, uint32_t index, struct tn_field *field)
{
	if (index >= loader->plan.n_fields)
		return TN_INVALID_ARGUMENT;
	*field = loader->plan.fields[index];
	return TN_OK;
}

/* Updates `order` to the position's epoch. */
static void bring_order(tn_data_loader *loader)
{
	if (loader->ordered == loader->position.epoch)
		return;
	if (loader->shuffle) {
		tn_shuffle(loader->plan.seed, loader->position.epoch, loader->order, loader->n);
	} else {
		for (uint64_t i = 0; i < loader->n; i++)
			loader->order[i] = (uint32_t)i;
	}
	loader->ordered = loader->position.epoch;
}

/* Loads the n samples from the position on. */
static tn_status load(tn_data_loader *loader, uint32_t n, struct tn_error_info *error)
{
	struct tn_error_info own;
	bring_order(loader);
	for (uint32_t i = 0; i < n; i++) {
		uint64_t number = loader->order[loader->position.index + i];
		tn_error_reset(&own);
		tn_status status = tn_batch_load(&loader->plan, loader->position.epoch, number, i,
						 loader->data, loader->scratch, &own);
		if (status != TN_OK && !own.text[0])
			return tn_fail(error, status, OPERATION,
				       "sample %llu: expected it to be read, found a failure "
				       "without a text",
				       (unsigned long long)number);
		if (status != TN_OK && error)
			*error = own;
		if (status != TN_OK)
			return status;
		loader->samples[i] = number;
	}
	return TN_OK;
}

tn_status tn_data_loader_next(tn_data_loader *loader, struct tn_batch *batch,
			      struct tn_error_info *error)
{
	struct tn_data_position *position = &loader->position;
	struct tn_batch own = {.struct_size = sizeof(own),
			       .n_fields = loader->plan.n_fields,
			       .fields = loader->plan.fields,
			       .data = (const void *const *)loader->data,
			       .samples = loader->samples,
			       .epoch = position->epoch,
			       .index = position->index};
	if (batch->struct_size < sizeof(batch->struct_size))
		return tn_fail(error, TN_INVALID_ARGUMENT, OPERATION,
			       "struct tn_batch: expected struct_size %zu, as sizeof sets it, "
			       "found %u",
			       sizeof(*batch), batch->struct_size);
	if (position->index >= loader->limit) {
		position->epoch++;
		position->index = 0;
		tn_struct_answer(batch, &own, sizeof(own));
		return TN_OK;
	}
	uint64_t left = loader->limit - position->index;
	own.n = left < loader->batch_size ? (uint32_t)left : loader->batch_size;
	tn_status status = load(loader, own.n, error);
	if (status != TN_OK)
		return status;
	position->index += own.n;
	tn_struct_answer(batch, &own, sizeof(own));
	return TN_OK;
}

uint64_t tn_data_loader_image(tn_data_loader *loader, uint64_t index)
{
	if (index >= loader->n)
		return UINT64_MAX;
	bring_order(loader);
	return loader->order[index];
}

struct tn_data_position tn_data_loader_position(const tn_data_loader *loader)
{
	return loader->position;
}

tn_status tn_data_loader_seek(tn_data_loader *loader, struct tn_data_position position,
			      struct tn_error_info *error)
{
	if (position.index > loader->n)
		return tn_fail(error, TN_INVALID_ARGUMENT, OPERATION,
			       "expected an index of at most %llu, found %llu",
			       (unsigned long long)loader->n, (unsigned long long)position.index);
	loader->position = position;
	return TN_OK;
}
