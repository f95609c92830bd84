/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Batches.  Guarantees: a call's result depends only on (data set, part, options, position), so a
 * loader set to a position continues like one that reached it by reading.
 */
#include <math.h>

#include "array/runtime.h"
#include "base/answer.h"
#include "base/error.h"
#include "base/fork.h"
#include "base/memory.h"
#include "base/options.h"
#include "base/quarantine.h"
#include "data/batch_queue.h"
#include "data/data_loader.h"
#include "data/shuffle.h"
#include "program/hash.h"

#define OPERATION "data loader"
#define NO_EPOCH UINT64_MAX
#define MAX_EPOCH (((uint64_t)1 << 62) - 1) /* as in checkpoints; counting on never overflows */

#define MAX_PREFETCH 1024

/* Bytes of an array that tell it from another one. */
#define MOST_HASHED ((size_t)1 << 20)

struct tn_data_loader {
	struct tn_batch_plan plan;
	struct tn_batch_queue queue;
	tn_context *context; /* NULL: loads when asked */
	uint64_t fork_generation;
	uint32_t batch_size; /* of all ranks */
	uint32_t rank;
	uint32_t n_ranks; /* at least 1 */
	uint32_t uneven;
	uint32_t shuffle;
	struct tn_data_position position;
	uint64_t posted; /* samples of the position's epoch that are returned or being loaded */
	uint64_t n;      /* samples of the part */
	uint64_t whole;  /* samples of an epoch: all, or those in full batches */
	uint64_t limit;  /* and without a last batch that is left out for the number of ranks */
	uint32_t *order; /* the order of epoch `ordered` */
	uint64_t ordered;
	double *until; /* sums of the weights of samples 0 to i; NULL: no weights */
};

static tn_status check_options(const struct tn_data_loader_options *options, int part,
			       struct tn_error_info *error)
{
	if (part < 0 || part >= TN_N_PARTS)
		return tn_fail(error, TN_INVALID_ARGUMENT, OPERATION,
			       "expected a part from 0 to %d, found %d", TN_N_PARTS - 1, part);
	if (options->batch_size == 0)
		return tn_fail(error, TN_INVALID_ARGUMENT, OPERATION,
			       "expected a batch_size of at least 1, found 0");
	if (options->rank >= options->n_ranks)
		return tn_fail(error, TN_INVALID_ARGUMENT, OPERATION,
			       "expected a rank below n_ranks %u, found %u", options->n_ranks,
			       options->rank);
	if (options->batch_size < options->n_ranks)
		return tn_fail(error, TN_INVALID_ARGUMENT, OPERATION,
			       "batch_size: expected a sample for each of %u ranks, found %u",
			       options->n_ranks, options->batch_size);
	if (options->prefetch > MAX_PREFETCH)
		return tn_fail(error, TN_INVALID_ARGUMENT, OPERATION,
			       "expected a prefetch of at most %d, found %u", MAX_PREFETCH,
			       options->prefetch);
	return TN_OK;
}

/* ---- Shares of ranks ------------------------------------------------------------------------*/

/* The samples of the batch at `index`, of all ranks; 0: the epoch is over. */
static uint32_t batch_at(const tn_data_loader *loader, uint64_t index)
{
	uint64_t left = index < loader->limit ? loader->limit - index : 0;
	return left < loader->batch_size ? (uint32_t)left : loader->batch_size;
}

/* The first of b samples that are those of `rank` or later ones. */
static uint32_t share_begin(const tn_data_loader *loader, uint32_t b, uint32_t rank)
{
	return (uint32_t)((uint64_t)b * rank / loader->n_ranks);
}

/* This rank's part of b samples. */
static uint32_t share_size(const tn_data_loader *loader, uint32_t b)
{
	return share_begin(loader, b, loader->rank + 1) - share_begin(loader, b, loader->rank);
}

static void set_limits(tn_data_loader *loader, const struct tn_data_loader_options *options)
{
	const uint64_t rest = loader->n % options->batch_size;
	loader->whole = options->drop_last ? loader->n - rest : loader->n;
	loader->limit =
		options->uneven || rest >= options->n_ranks ? loader->whole : loader->n - rest;
}

/* ---- Life ------------------------------------------------------------------------------------*/

static tn_status take_weights(tn_data_loader *loader, const double *weights,
			      struct tn_error_info *error)
{
	double sum = 0;
	loader->until = tn_mem_zeroed((size_t)loader->n, sizeof(*loader->until));
	if (!loader->until)
		return tn_fail(error, TN_OUT_OF_MEMORY, OPERATION,
			       "no host memory for %llu weights", (unsigned long long)loader->n);
	for (uint64_t i = 0; i < loader->n; i++) {
		if (!isfinite(weights[i]) || weights[i] < 0)
			return tn_fail(error, TN_INVALID_ARGUMENT, OPERATION,
				       "weights: sample %llu: expected a finite number of at least "
				       "0, found %g",
				       (unsigned long long)i, weights[i]);
		sum += weights[i];
		loader->until[i] = sum;
	}
	if (loader->n && !(sum > 0 && isfinite(sum)))
		return tn_fail(error, TN_INVALID_ARGUMENT, OPERATION,
			       "weights: expected a positive, finite sum, found %g", sum);
	return TN_OK;
}

tn_status tn_data_loader_create(const tn_dataset *dataset, int part,
				const struct tn_data_loader_options *given, tn_data_loader **out,
				struct tn_error_info *error)
{
	struct tn_data_loader_options options = tn_data_loader_defaults();
	if (!dataset)
		return tn_fail(error, TN_INVALID_ARGUMENT, OPERATION, "dataset is NULL");
	tn_status status = tn_quarantine_check(dataset, OPERATION, error);
	if (!status)
		status = tn_options_take(&options, sizeof(options), given,
					 "struct tn_data_loader_options", OPERATION, error);
	if (status)
		return status;
	status = check_options(&options, part, error);
	if (status)
		return status;
	tn_data_loader *loader = tn_mem_zeroed(1, sizeof(*loader));
	if (!loader)
		return tn_no_memory(error, OPERATION, NULL, "a loader");
	uint64_t n = dataset->count[part];
	loader->context = options.context;
	loader->fork_generation = tn_fork_generation();
	loader->batch_size = options.batch_size;
	loader->rank = options.rank;
	loader->n_ranks = options.n_ranks;
	loader->uneven = options.uneven;
	loader->shuffle = options.shuffle;
	loader->n = n;
	set_limits(loader, &options);
	loader->ordered = NO_EPOCH;
	status = tn_batch_plan_take(&loader->plan, dataset, part, &options, error);
	if (!status && options.weights)
		status = take_weights(loader, options.weights, error);
	loader->order = tn_mem_zeroed((size_t)n, sizeof(*loader->order));
	if (!status && !loader->order)
		status = tn_fail(error, TN_OUT_OF_MEMORY, OPERATION,
				 "no host memory for the order of %llu samples",
				 (unsigned long long)n);
	/* The first batch is the largest, and so is this rank's part of it. */
	uint32_t largest = share_size(loader, batch_at(loader, 0));
	if (!status)
		status = tn_batch_queue_open(&loader->queue, &loader->plan, largest ? largest : 1,
					     options.context ? options.prefetch : 0,
					     options.context, error);
	if (!status)
		*out = loader;
	else
		tn_data_loader_destroy(loader);
	return status;
}

static tn_status check_context(const tn_data_loader *loader, struct tn_error_info *error)
{
	const struct tn_runtime *rt = tn_runtime_of(loader->context);
	if (!tn_quarantine_is_open || !rt || !rt->ended)
		return TN_OK;
	return tn_quarantine_report(OPERATION, "the context has been closed", error);
}

void tn_data_loader_destroy(tn_data_loader *loader)
{
	if (!loader || tn_quarantine_check(loader, "data_loader_destroy", NULL))
		return;
	if (!check_context(loader, NULL)) {
		tn_batch_queue_close(&loader->queue);
		tn_mem_free(loader->order);
		tn_mem_free(loader->until);
	}
	tn_quarantine_end(loader, "the data loader has been destroyed");
}

static int is_usable(const tn_data_loader *loader, const char *operation)
{
	return loader && !tn_quarantine_check(loader, operation, NULL);
}

uint64_t tn_data_loader_batches(const tn_data_loader *loader)
{
	if (!is_usable(loader, "data_loader_batches"))
		return 0;
	const uint64_t n_full = loader->limit / loader->batch_size;
	return n_full + (share_size(loader, (uint32_t)(loader->limit % loader->batch_size)) > 0);
}

tn_status tn_data_loader_field_at(const tn_data_loader *loader, uint32_t index,
				  struct tn_field *field)
{
	if (!is_usable(loader, "data_loader_field") || index >= loader->plan.n_fields)
		return TN_INVALID_ARGUMENT;
	*field = loader->plan.fields[index];
	return TN_OK;
}

/* Updates `order` to the position's epoch. */
static void bring_order(tn_data_loader *loader)
{
	if (loader->ordered == loader->position.epoch)
		return;
	if (loader->until) {
		tn_draw_weighted(loader->plan.seed, loader->position.epoch, loader->until,
				 loader->order, loader->n);
	} else if (loader->shuffle) {
		tn_shuffle(loader->plan.seed, loader->position.epoch, loader->order, loader->n);
	} else {
		for (uint64_t i = 0; i < loader->n; i++)
			loader->order[i] = (uint32_t)i;
	}
	loader->ordered = loader->position.epoch;
}

/* Begins to load as many batches of the epoch as there is room for. */
static void load_ahead(tn_data_loader *loader)
{
	bring_order(loader);
	while (loader->posted < loader->limit && tn_batch_queue_has_room(&loader->queue)) {
		uint32_t b = batch_at(loader, loader->posted), n = share_size(loader, b);
		uint64_t first = loader->posted + share_begin(loader, b, loader->rank);
		if (n)
			tn_batch_queue_post(&loader->queue, loader->position.epoch, first,
					    loader->order + first, n);
		loader->posted += b;
	}
}

/* Continues at a position that is not that of the posted batches. */
static void move_to(tn_data_loader *loader, struct tn_data_position position)
{
	tn_batch_queue_drop(&loader->queue);
	loader->position = position;
	loader->posted = position.index;
}

/* The next batch, or an empty one at the end of the epoch. */
static tn_status next_batch(tn_data_loader *loader, struct tn_batch *batch,
			    struct tn_error_info *error)
{
	const struct tn_batch_slot *slot;
	struct tn_data_position *position = &loader->position;
	const uint32_t b = batch_at(loader, position->index);
	if (!share_size(loader, b)) {
		move_to(loader, (struct tn_data_position){position->epoch + 1, 0});
		return TN_OK;
	}
	load_ahead(loader);
	tn_status status = tn_batch_queue_take(&loader->queue, &slot, error);
	if (status) {
		move_to(loader, *position);
		return status;
	}
	position->index += b;
	batch->n = slot->n;
	batch->n_global = b;
	batch->data = (const void *const *)slot->data;
	batch->samples = slot->samples;
	if (loader->queue.n_slots > 1)
		load_ahead(loader);
	return TN_OK;
}

/* The loader, and what it refers to, have not ended. */
static tn_status check(const tn_data_loader *loader, struct tn_error_info *error)
{
	tn_status status = tn_quarantine_check(loader, OPERATION, error);
	if (!status)
		status = tn_quarantine_check(loader->plan.dataset, OPERATION, error);
	return status ? status : check_context(loader, error);
}

tn_status tn_data_loader_next(tn_data_loader *loader, struct tn_batch *batch,
			      struct tn_error_info *error)
{
	static const char type[] = "struct tn_batch";
	if (!loader)
		return tn_fail(error, TN_INVALID_ARGUMENT, OPERATION, "loader is NULL");
	if (check(loader, error))
		return TN_STATE;
	const struct tn_batch_slot *any = &loader->queue.slots[0];
	struct tn_batch own = {.struct_size = sizeof(own),
			       .n_fields = loader->plan.n_fields,
			       .fields = loader->plan.fields,
			       .data = (const void *const *)any->data,
			       .samples = any->samples,
			       .epoch = loader->position.epoch,
			       .index = loader->position.index};
	tn_status status = tn_answer_check(batch, sizeof(own), type, OPERATION, error);
	if (status)
		return status;
	if (loader->context && loader->fork_generation != tn_fork_generation())
		return tn_fail(error, TN_FORKED, OPERATION,
			       "expected the process that made the loader, found its forked child");
	status = next_batch(loader, &own, error);
	return status ? status : tn_answer(batch, &own, sizeof(own), type, OPERATION, error);
}

uint64_t tn_data_loader_image(tn_data_loader *loader, uint64_t index)
{
	if (!is_usable(loader, "data_loader_image") || index >= loader->n)
		return UINT64_MAX;
	bring_order(loader);
	return loader->order[index];
}

struct tn_data_position tn_data_loader_position(const tn_data_loader *loader)
{
	return is_usable(loader, "data_loader_position") ? loader->position
							 : (struct tn_data_position){0};
}

tn_status tn_data_loader_seek(tn_data_loader *loader, struct tn_data_position position,
			      struct tn_error_info *error)
{
	if (!loader)
		return tn_fail(error, TN_INVALID_ARGUMENT, OPERATION, "loader is NULL");
	if (check(loader, error))
		return TN_STATE;
	if (position.index > loader->n)
		return tn_fail(error, TN_INVALID_ARGUMENT, OPERATION,
			       "expected an index of at most %llu, found %llu",
			       (unsigned long long)loader->n, (unsigned long long)position.index);
	if (position.epoch > MAX_EPOCH)
		return tn_fail(error, TN_INVALID_ARGUMENT, OPERATION,
			       "expected an epoch below 2^62, found %llu",
			       (unsigned long long)position.epoch);
	if (position.epoch != loader->position.epoch || position.index != loader->position.index)
		move_to(loader, position);
	return TN_OK;
}

static uint64_t hash_beginning(const void *data, size_t size)
{
	uint64_t hash[2];
	tn_hash_bytes(data, size < MOST_HASHED ? size : MOST_HASHED, hash);
	return hash[0];
}

/* Which samples the part has, how they are normalised, and the beginning of what is in memory. */
static uint64_t hash_part(const tn_dataset *dataset, int part)
{
	const struct tn_samples *samples = dataset->samples;
	const struct tn_input_format *format = &dataset->format;
	uint64_t hashes[3 + TN_MAX_FIELDS] = {
		hash_beginning(dataset->index[part],
			       (size_t)dataset->count[part] * sizeof(*dataset->index[part])),
		hash_beginning(format->mean, sizeof(format->mean)),
		hash_beginning(format->deviation, sizeof(format->deviation))};
	for (uint32_t i = 0; i < samples->n_fields; i++) {
		if (samples->data[i])
			hashes[3 + i] = hash_beginning(samples->data[i],
						       (size_t)samples->n * samples->size[i]);
	}
	return hash_beginning(hashes, sizeof(hashes));
}

struct tn_loader_facts tn_data_loader_facts(const tn_data_loader *loader)
{
	const struct tn_batch_plan *plan = &loader->plan;
	const struct tn_augment_plan *augmentation = &plan->augmentation;
	uint64_t hash[2] = {0}, weights[2] = {0};
	if (loader->until)
		tn_hash_bytes(loader->until, (size_t)loader->n * sizeof(*loader->until), weights);
	if (augmentation->per_image || augmentation->mixes)
		tn_hash_bytes(&augmentation->options, sizeof(augmentation->options), hash);
	return (struct tn_loader_facts){.dataset = plan->dataset->name,
					.part = plan->part,
					.count = loader->n,
					.whole = loader->whole,
					.limit = loader->limit,
					.seed = plan->seed,
					.batch_size = loader->batch_size,
					.rank = loader->rank,
					.n_ranks = loader->n_ranks,
					.uneven = loader->uneven != 0,
					.shuffle = loader->shuffle != 0,
					.augmentation = hash[0],
					.weights = weights[0],
					.data = hash_part(plan->dataset, plan->part)};
}
