/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Cuts the arena of gradients into buckets, starts the sum of each as soon as it is complete, in
 * the fixed order, and waits for all of them.
 */
#include "distributed/buckets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array/array.h"
#include "array/make.h"
#include "base/dtype.h"
#include "base/memory.h"
#include "dispatch/ledger.h"
#include "ops/map.h"

static const char operation[] = "data_parallel";

/* The bucket that is started first is this part of the others, and a network that fits in it has
 * one bucket: a second message would cost more than it could hide. */
enum { FIRST_PART = 4 };

/* ---- The list --------------------------------------------------------------------------------*/

static int64_t padded_end(const struct tn_weight *weight)
{
	const int64_t alignment = TN_ARENA_ALIGNMENT;
	return weight->offset + (weight->size + alignment - 1) / alignment * alignment;
}

static const struct tn_weight *weight_at(const tn_module *module, size_t place)
{
	return module->listing[module->arena.order[place]].weight;
}

/* The elements of a bucket of that many bytes. */
static int64_t elements_of(const struct tn_buckets *b, uint64_t bytes)
{
	const uint64_t width = tn_dtype_size(tn_arena_dtype(b->module));
	const uint64_t n = bytes / width / TN_ARENA_ALIGNMENT * TN_ARENA_ALIGNMENT;
	return n ? (int64_t)n : TN_ARENA_ALIGNMENT;
}

/* Adds a bucket; 0: out of memory. */
static int add(struct tn_buckets *b, int64_t begin, int64_t end)
{
	struct tn_bucket *more = tn_mem_realloc(b->list, b->n + 1, sizeof(*more));
	if (!more)
		return 0;
	b->list = more;
	more[b->n] = (struct tn_bucket){.begin = begin, .end = end, .first_weight = SIZE_MAX};
	for (size_t i = 0; i < b->module->n_listing; i++) {
		const struct tn_weight *weight = b->module->listing[i].weight;
		if (!weight->trainable || weight->offset >= end || padded_end(weight) <= begin)
			continue;
		more[b->n].n_weights++;
		if (more[b->n].first_weight == SIZE_MAX)
			more[b->n].first_weight = i;
	}
	b->n++;
	return 1;
}

/* Elements from `begin` to `end` in buckets, the last elements first.  *most is the limit of the
 * first bucket, then of the others. */
static int add_run(struct tn_buckets *b, int64_t begin, int64_t end, int64_t *most)
{
	while (begin < end) {
		const int64_t from = end - begin > *most ? end - *most : begin;
		if (!add(b, from, end))
			return 0;
		end = from;
		*most = elements_of(b, b->bytes);
	}
	return 1;
}

/* Weights of two axes or more (is_matrix) or the others, or both (-1), run by run from the end. */
static int add_runs(struct tn_buckets *b, int is_matrix, int64_t *most)
{
	int64_t begin = 0, end = 0;
	for (size_t place = b->module->n_listing; place-- > 0;) {
		const struct tn_weight *weight = weight_at(b->module, place);
		int wanted =
			weight->trainable && (is_matrix < 0 || (weight->rank >= 2) == is_matrix);
		if (wanted && padded_end(weight) == begin) {
			begin = weight->offset;
			continue;
		}
		if (!add_run(b, begin, end, most))
			return 0;
		begin = end = 0;
		if (wanted) {
			begin = weight->offset;
			end = padded_end(weight);
		}
	}
	return add_run(b, begin, end, most);
}

static int by_start(const void *left, const void *right)
{
	const struct tn_bucket *a = left, *b = right;
	if (a->first_weight != b->first_weight)
		return a->first_weight > b->first_weight ? -1 : 1;
	return (a->begin < b->begin) - (a->begin > b->begin);
}

/* Where the bucket's sums are made. */
static tn_status furnish(struct tn_buckets *b, struct tn_bucket *bucket)
{
	struct tn_runtime *rt = b->module->runtime;
	tn_array *arena = b->module->arena.gradients;
	struct tn_device *device = tn_array_home(arena);
	const int64_t size = bucket->end - bucket->begin;
	tn_array *part = tn_slice(arena, 0, bucket->begin, bucket->end, 1);
	if (!part)
		return rt->error.status;
	bucket->gradients = tn_array_hold(part);
	if (b->wire && b->wire != arena->dtype) {
		tn_array *wire = tn_empty(b->module->context, b->wire, 1, &size);
		if (!wire)
			return rt->error.status;
		bucket->wire = tn_array_hold(wire);
	}
	if (device->host_memory && device->synchronous)
		return TN_OK;
	const tn_array *sent = bucket->wire ? bucket->wire : bucket->gradients;
	bucket->host = tn_host_buffer_create(device, (size_t)size * tn_dtype_size(sent->dtype));
	return bucket->host ? TN_OK : rt->error.status;
}

static tn_status furnish_all(struct tn_buckets *b)
{
	struct tn_runtime *rt = b->module->runtime;
	struct tn_device *home = tn_array_home(b->module->arena.gradients), *device = rt->device;
	tn_status status = tn_scope_begin(b->module->context);
	if (status)
		return status;
	rt->device = home;
	for (size_t i = 0; i < b->n && !status; i++)
		status = furnish(b, &b->list[i]);
	if (!status && b->n && b->list[0].host) {
		b->copied = tn_event_create(home);
		status = b->copied ? TN_OK : rt->error.status;
	}
	rt->device = device;
	tn_scope_end(b->module->context, NULL);
	return status;
}

void tn_buckets_release(struct tn_buckets *b)
{
	for (size_t i = 0; i < b->n; i++) {
		tn_array_unhold(b->list[i].gradients);
		tn_array_unhold(b->list[i].wire);
		tn_host_buffer_destroy(b->list[i].host);
	}
	tn_event_destroy(b->copied);
	tn_mem_free(b->list);
	tn_mem_free(b->trained);
	b->copied = NULL;
	b->list = NULL;
	b->trained = NULL;
	b->n = 0;
}

static tn_status make_list(struct tn_buckets *b)
{
	const tn_module *module = b->module;
	const uint64_t width = tn_dtype_size(tn_arena_dtype(module));
	const uint64_t first = b->bytes / FIRST_PART;
	const int is_small = (uint64_t)module->arena.size * width <= first;
	int64_t most = elements_of(b, first);
	b->trained = tn_mem_zeroed(module->n_listing ? module->n_listing : 1, 1);
	int is_made = b->trained && (is_small ? add_runs(b, -1, &most)
					      : add_runs(b, 1, &most) && add_runs(b, 0, &most));
	if (!is_made) {
		tn_buckets_release(b);
		return tn_runtime_no_memory(module->runtime, operation, "the list of buckets");
	}
	for (size_t i = 0; i < module->n_listing; i++)
		b->trained[i] = module->listing[i].weight->trainable != 0;
	if (b->n)
		qsort(b->list, b->n, sizeof(*b->list), by_start);
	tn_status status = furnish_all(b);
	if (status)
		tn_buckets_release(b);
	return status;
}

static int is_current(const struct tn_buckets *b)
{
	for (size_t i = 0; b->trained && i < b->module->n_listing; i++) {
		if (b->trained[i] != (b->module->listing[i].weight->trainable != 0))
			return 0;
	}
	return b->trained != NULL;
}

tn_status tn_buckets_begin(struct tn_buckets *b)
{
	tn_status status = TN_OK;
	if (!is_current(b)) {
		tn_buckets_release(b);
		status = make_list(b);
	}
	b->n_posted = b->n_started = 0;
	for (size_t i = 0; i < b->n; i++)
		b->list[i].n_missing = b->list[i].n_weights;
	return status;
}

/* ---- Starting --------------------------------------------------------------------------------*/

/* Weights whose gradient holds nothing add nothing. */
static tn_status clear_empty(const struct tn_buckets *b, const struct tn_bucket *bucket)
{
	const tn_module *module = b->module;
	for (size_t i = 0; i < module->n_listing; i++) {
		const struct tn_weight *weight = module->listing[i].weight;
		const int64_t end = weight->offset + weight->size;
		const int64_t from =
			weight->offset > bucket->begin ? weight->offset : bucket->begin;
		const int64_t to = end < bucket->end ? end : bucket->end;
		if (!weight->trainable || weight->filled || from >= to)
			continue;
		tn_array *part = tn_slice(module->arena.gradients, 0, from, to, 1);
		if (!part || tn_fill(part, 0))
			return module->runtime->error.status;
	}
	return TN_OK;
}

/* The gradients times the scale. */
static tn_status multiply(struct tn_runtime *rt, const struct tn_bucket *bucket, double scale)
{
	static const struct tn_formula scaled = {
		.text = "g = g * scale", .inputs = "g", .scalars = "scale", .outputs = "g"};
	const tn_array *in = bucket->gradients;
	if (scale == 1.0)
		return TN_OK;
	return tn_end_into(rt, tn_formula_map(rt, tn_operation_named(rt, operation), &scaled, &in,
					      &bucket->gradients, &scale));
}

/* What the ranks have to add, in the form in which it is sent. */
static tn_status post(struct tn_buckets *b, struct tn_bucket *bucket, double scale)
{
	struct tn_runtime *rt = b->module->runtime;
	tn_status status = tn_scope_begin(b->module->context);
	if (status)
		return status;
	status = clear_empty(b, bucket);
	if (!status)
		status = multiply(rt, bucket, scale);
	if (!status && bucket->wire)
		status = tn_assign(bucket->wire, bucket->gradients);
	if (!status && bucket->host)
		status = tn_to_host_async(bucket->wire ? bucket->wire : bucket->gradients,
					  bucket->host, 0);
	if (!status && bucket->host)
		status = tn_event_record(b->copied);
	tn_scope_end(b->module->context, NULL);
	b->n_posted += !status;
	return status;
}

/* The host's address of what is sent. */
static void *memory_of(const struct tn_bucket *bucket)
{
	const tn_array *sent = bucket->wire ? bucket->wire : bucket->gradients;
	if (bucket->host)
		return tn_host_buffer_data(bucket->host);
	return (char *)sent->storage->block.address +
	       (size_t)sent->offset * tn_dtype_size(sent->dtype);
}

/* Gives the communicator what has been posted. */
static tn_status start_posted(struct tn_buckets *b, uint64_t step)
{
	tn_status status = TN_OK;
	while (b->n_started < b->n_posted && !status) {
		struct tn_bucket *bucket = &b->list[b->n_started];
		const tn_array *sent = bucket->wire ? bucket->wire : bucket->gradients;
		if (bucket->host)
			status = tn_event_synchronize(b->copied);
		if (status)
			break;
		char label[48];
		snprintf(label, sizeof(label), "gradients %zu of step %llu", b->n_started,
			 (unsigned long long)step);
		void *memory = memory_of(bucket);
		status = tn_communicator_start(
			b->communicator,
			&(struct tn_collective_host){.struct_size =
							     sizeof(struct tn_collective_host),
						     .operation = TN_COLLECTIVE_ALL_REDUCE,
						     .combiner = TN_REDUCE_SUM,
						     .dtype = sent->dtype,
						     .n = (uint64_t)sent->size,
						     .source = memory,
						     .target = memory,
						     .label = label},
			&bucket->request);
		b->n_started += !status;
	}
	return status;
}

/* The next bucket.  The copy of the one before has had the time of a bucket. */
static tn_status start_next(struct tn_buckets *b, double scale, uint64_t step)
{
	struct tn_bucket *bucket = &b->list[b->n_posted];
	tn_status status = start_posted(b, step);
	if (!status)
		status = post(b, bucket, scale);
	return status || bucket->host ? status : start_posted(b, step);
}

tn_status tn_buckets_ready(struct tn_buckets *b, int64_t begin, int64_t end, double scale,
			   uint64_t step)
{
	tn_status status = TN_OK;
	for (size_t i = 0; i < b->n; i++) {
		struct tn_bucket *bucket = &b->list[i];
		if (bucket->begin >= end || bucket->end <= begin)
			continue;
		if (!bucket->n_missing)
			return tn_runtime_fail(
				b->module->runtime, TN_STATE, operation,
				"backward: expected tn_data_parallel_finish after the backward "
				"before, or tn_data_parallel_hold, found neither");
		bucket->n_missing--;
	}
	while (b->n_posted < b->n && !b->list[b->n_posted].n_missing && !status)
		status = start_next(b, scale, step);
	return status;
}

tn_status tn_buckets_flush(struct tn_buckets *b, double scale, uint64_t step)
{
	tn_status status = TN_OK;
	while (b->n_posted < b->n && !status)
		status = start_next(b, scale, step);
	return status ? status : start_posted(b, step);
}

/* ---- Waiting ---------------------------------------------------------------------------------*/

/* Sums that were not made in place. */
static tn_status take(const struct tn_bucket *bucket)
{
	tn_array *sent = bucket->wire ? bucket->wire : bucket->gradients;
	tn_status status = TN_OK;
	if (bucket->host)
		status = tn_assign_host_async(sent, bucket->host, 0);
	else
		tn_array_touch(sent);
	return !status && bucket->wire ? tn_assign(bucket->gradients, bucket->wire) : status;
}

tn_status tn_buckets_wait(struct tn_buckets *b)
{
	tn_status status = TN_OK;
	for (size_t i = 0; i < b->n_started; i++) {
		struct tn_bucket *bucket = &b->list[i];
		tn_status own = tn_request_wait(bucket->request);
		bucket->request = NULL;
		if (!own && !status)
			own = take(bucket);
		status = status ? status : own;
	}
	b->n_posted = b->n_started = 0;
	return status;
}
