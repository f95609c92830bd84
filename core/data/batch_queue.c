/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Batches that are loaded ahead.  Guarantees: what a batch holds does not depend on the number of
 * threads, pieces or slots, and its error is that of its first sample that failed.
 */
#include "data/batch_queue.h"

#include <string.h>

#include "array/runtime.h"
#include "base/error.h"
#include "base/memory.h"

#define OPERATION "data loader"
enum { ALIGNMENT = 256 };

/* A part of a batch, loaded by one thread. */
struct tn_batch_piece {
	struct tn_job job;
	const struct tn_batch_plan *plan;
	const struct tn_batch_slot *slot;
	uint32_t begin;
	uint32_t end;
	void *scratch;
	tn_status status; /* of the first sample that failed */
	struct tn_error_info error;
};

static void load_piece(void *argument)
{
	struct tn_batch_piece *piece = argument;
	const struct tn_batch_slot *slot = piece->slot;
	piece->status = TN_OK;
	for (uint32_t i = piece->begin; i < piece->end && !piece->status; i++) {
		tn_error_reset(&piece->error);
		uint64_t number = slot->samples[i];
		uint64_t draw = piece->plan->repeats ? slot->index + i : number;
		piece->status = tn_batch_load(piece->plan, slot->epoch, number, draw, i, slot->data,
					      piece->scratch, &piece->error);
		if (piece->status && !piece->error.text[0])
			tn_fail(&piece->error, piece->status, OPERATION,
				"sample %llu: reading it failed, without an error text",
				(unsigned long long)number);
	}
}

/* ---- Memory ----------------------------------------------------------------------------------*/

/* Memory of a batch, pinned if the context's current device has such memory. */
static tn_status allocate_data(const struct tn_batch_queue *queue, struct tn_batch_slot *slot,
			       tn_context *context, struct tn_error_info *error)
{
	const struct tn_batch_plan *plan = queue->plan;
	size_t offsets[TN_MAX_FIELDS], size = 0;
	for (uint32_t i = 0; i < plan->n_fields; i++) {
		if (queue->batch_size > TN_HOST_ARRAY_MAX_BYTES / plan->size[i])
			return tn_fail(error, TN_LIMIT, OPERATION,
				       "field %u: expected a batch of at most %llu bytes, found %u "
				       "samples of %zu",
				       i, (unsigned long long)TN_HOST_ARRAY_MAX_BYTES,
				       queue->batch_size, plan->size[i]);
		offsets[i] = size;
		size += (queue->batch_size * plan->size[i] + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	}
	if (context) {
		slot->buffer = tn_host_buffer_create(tn_device_current(context), size);
		if (!slot->buffer) {
			tn_status status = tn_runtime_of(context)->error.status;
			if (error)
				*error = tn_runtime_of(context)->error;
			tn_error_clear(context);
			return status;
		}
	} else {
		slot->memory = tn_mem_aligned(size, ALIGNMENT);
	}
	unsigned char *data = context ? tn_host_buffer_data(slot->buffer) : slot->memory;
	if (!data)
		return tn_fail(error, TN_OUT_OF_MEMORY, OPERATION,
			       "no host memory for a batch of %u samples", queue->batch_size);
	memset(data, 0, size);
	for (uint32_t i = 0; i < plan->n_fields; i++)
		slot->data[i] = data + offsets[i];
	return TN_OK;
}

static tn_status open_slot(const struct tn_batch_queue *queue, struct tn_batch_slot *slot,
			   tn_context *context, struct tn_error_info *error)
{
	tn_status status = allocate_data(queue, slot, context, error);
	if (status)
		return status;
	slot->samples = tn_mem_zeroed(queue->batch_size, sizeof(*slot->samples));
	slot->pieces = tn_mem_zeroed(queue->n_pieces, sizeof(*slot->pieces));
	int failed = !slot->samples || !slot->pieces;
	for (uint32_t i = 0; !failed && i < queue->n_pieces; i++) {
		struct tn_batch_piece *piece = &slot->pieces[i];
		*piece = (struct tn_batch_piece){.job = {.run = load_piece, .argument = piece},
						 .plan = queue->plan,
						 .slot = slot};
		piece->scratch = tn_mem_alloc(queue->plan->scratch_size);
		failed = !piece->scratch;
	}
	return failed ? tn_fail(error, TN_OUT_OF_MEMORY, OPERATION,
				"no host memory for a batch of %u samples", queue->batch_size)
		      : TN_OK;
}

static void close_slot(const struct tn_batch_queue *queue, struct tn_batch_slot *slot)
{
	for (uint32_t i = 0; slot->pieces && i < queue->n_pieces; i++)
		tn_mem_free(slot->pieces[i].scratch);
	tn_mem_free(slot->pieces);
	tn_mem_free(slot->samples);
	tn_host_buffer_destroy(slot->buffer);
	tn_mem_free(slot->memory);
}

tn_status tn_batch_queue_open(struct tn_batch_queue *queue, const struct tn_batch_plan *plan,
			      uint32_t batch_size, uint32_t ahead, tn_context *context,
			      struct tn_error_info *error)
{
	*queue =
		(struct tn_batch_queue){.plan = plan,
					.threads = context ? tn_runtime_of(context)->threads : NULL,
					.batch_size = batch_size,
					.n_slots = ahead + 1};
	queue->n_pieces = tn_threads_count(queue->threads);
	if (queue->n_pieces > batch_size)
		queue->n_pieces = batch_size;
	if (context && tn_runtime_ready(tn_runtime_of(context)))
		return tn_fail(error, TN_PENDING_ERROR, OPERATION,
			       "expected a context without an error, found one that keeps: %s",
			       tn_runtime_of(context)->error.text);
	queue->slots = tn_mem_zeroed(queue->n_slots, sizeof(*queue->slots));
	if (!queue->slots)
		return tn_fail(error, TN_OUT_OF_MEMORY, OPERATION, "no host memory for %u batches",
			       queue->n_slots);
	tn_status status = TN_OK;
	for (uint32_t i = 0; i < queue->n_slots && !status; i++)
		status = open_slot(queue, &queue->slots[i], context, error);
	if (status)
		tn_batch_queue_close(queue);
	return status;
}

void tn_batch_queue_close(struct tn_batch_queue *queue)
{
	tn_batch_queue_drop(queue);
	for (uint32_t i = 0; queue->slots && i < queue->n_slots; i++)
		close_slot(queue, &queue->slots[i]);
	tn_mem_free(queue->slots);
	queue->slots = NULL;
}

/* ---- Batches ---------------------------------------------------------------------------------*/

int tn_batch_queue_has_room(const struct tn_batch_queue *queue)
{
	/* With one slot there is nothing ahead, and the program's batch is loaded in its place. */
	return queue->n_posted < (queue->n_slots > 1 ? queue->n_slots - 1 : 1);
}

void tn_batch_queue_post(struct tn_batch_queue *queue, uint64_t epoch, uint64_t index,
			 const uint32_t *numbers, uint32_t n)
{
	struct tn_batch_slot *slot =
		&queue->slots[(queue->first + queue->n_posted) % queue->n_slots];
	slot->epoch = epoch;
	slot->index = index;
	slot->n = n;
	for (uint32_t i = 0; i < n; i++)
		slot->samples[i] = numbers[i];
	for (uint32_t i = 0; i < queue->n_pieces; i++) {
		struct tn_batch_piece *piece = &slot->pieces[i];
		piece->begin = (uint32_t)((uint64_t)n * i / queue->n_pieces);
		piece->end = (uint32_t)((uint64_t)n * (i + 1) / queue->n_pieces);
		tn_threads_post(queue->threads, &piece->job);
	}
	queue->n_posted++;
}

tn_status tn_batch_queue_take(struct tn_batch_queue *queue, const struct tn_batch_slot **batch,
			      struct tn_error_info *error)
{
	struct tn_batch_slot *slot = &queue->slots[queue->first];
	const struct tn_batch_piece *failed = NULL;
	for (uint32_t i = 0; i < queue->n_pieces; i++) {
		tn_job_wait(queue->threads, &slot->pieces[i].job);
		if (!failed && slot->pieces[i].status)
			failed = &slot->pieces[i];
	}
	if (failed) {
		tn_batch_queue_drop(queue);
		if (error)
			*error = failed->error;
		return failed->status;
	}
	tn_batch_mix(queue->plan, slot->epoch, slot->index, slot->n, slot->data,
		     slot->pieces[0].scratch);
	queue->first = (queue->first + 1) % queue->n_slots;
	queue->n_posted--;
	*batch = slot;
	return TN_OK;
}

void tn_batch_queue_drop(struct tn_batch_queue *queue)
{
	for (uint32_t k = 0; k < queue->n_posted; k++) {
		struct tn_batch_slot *slot = &queue->slots[(queue->first + k) % queue->n_slots];
		for (uint32_t i = 0; i < queue->n_pieces; i++)
			tn_job_cancel(queue->threads, &slot->pieces[i].job);
	}
	queue->n_posted = 0;
}
