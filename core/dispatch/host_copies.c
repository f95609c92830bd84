/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Copies the operands of a call to the host: lists the bytes that they span, joins spans that
 * overlap, and copies back what the call wrote.
 */
#include "dispatch/host_copies.h"

#include "array/array.h"
#include "array/shape.h"
#include "base/memory.h"
#include "device/pool.h"
#include "device/transfer.h"

/* ---- Spans of bytes --------------------------------------------------------------------------*/

/* Adds a span and merges all spans that it touches into it. */
static void add_span(struct tn_host_copies *copies, struct tn_host_span span)
{
	uint32_t i = 0;
	while (i < copies->n_spans) {
		struct tn_host_span *other = &copies->spans[i];
		if (other->buffer != span.buffer || other->low >= span.high ||
		    span.low >= other->high) {
			i++;
			continue;
		}
		/* One span covers the union only where the two are equal. */
		if (other->low != span.low || other->high != span.high)
			span.reads = 1;
		span.reads |= other->reads;
		span.writes |= other->writes;
		span.low = other->low < span.low ? other->low : span.low;
		span.high = other->high > span.high ? other->high : span.high;
		*other = copies->spans[--copies->n_spans];
		i = 0;
	}
	copies->spans[copies->n_spans++] = span;
}

static void list_spans(struct tn_host_copies *copies)
{
	const struct tn_slot_contents *contents = &copies->contents;
	for (uint32_t i = 0; i < contents->n_operands; i++) {
		const struct tn_operand *operand = contents->operands[i].operand;
		uint32_t access = contents->operands[i].access;
		int64_t size = (int64_t)tn_dtype_size(operand->dtype), n = 1, low, high;
		struct tn_host_span span = {.buffer = operand->buffer,
					    .reads = (access & TN_READS) != 0,
					    .writes = (access & TN_WRITES) != 0};
		tn_shape_extent((int)operand->rank, operand->shape, operand->strides, &low, &high);
		span.low = operand->offset + (uint64_t)(low * size);
		span.high = operand->offset + (uint64_t)((high + 1) * size);
		for (uint32_t k = 0; k < operand->rank; k++)
			n *= operand->shape[k];
		/* A view with gaps: the bytes between are written back, so read them first. */
		if (span.writes && (uint64_t)(n * size) != span.high - span.low)
			span.reads = 1;
		add_span(copies, span);
	}
	for (uint32_t i = 0; i < contents->n_scalars; i++) {
		const struct tn_scalar *scalar = contents->scalars[i];
		if (scalar->on_device)
			add_span(copies, (struct tn_host_span){.buffer = scalar->buffer,
							       .low = scalar->offset,
							       .high = scalar->offset +
								       tn_dtype_size(scalar->dtype),
							       .reads = 1});
	}
}

/* ---- Copying ---------------------------------------------------------------------------------*/

static tn_status copy_span(struct tn_host_copies *copies, struct tn_host_span *span, int to_host)
{
	struct tn_device *device = copies->device;
	struct tn_error_info *error = &copies->runtime->report;
	uint64_t size = span->high - span->low;
	/* The span as a block of its own: it may be one of many in a buffer. */
	struct tn_block block = {.buffer = span->buffer, .offset = span->low, .size = size};
	copies->bytes += size;
	return to_host ? tn_device_download(device, &block, 0, span->address, size, error)
		       : tn_device_upload(device, &block, 0, span->address, size, error);
}

/* Turns {buffer, offset} into an address on the host. */
static void point_to_copy(const struct tn_host_copies *copies, uint64_t *buffer, uint64_t *offset)
{
	for (uint32_t i = 0; i < copies->n_spans; i++) {
		const struct tn_host_span *span = &copies->spans[i];
		if (*buffer == span->buffer && *offset >= span->low && *offset < span->high) {
			*offset -= span->low;
			*buffer = (uint64_t)(uintptr_t)span->address;
			return;
		}
	}
}

tn_status tn_host_copies_make(struct tn_host_copies *copies, struct tn_runtime *runtime,
			      struct tn_device *device, enum tn_slot slot,
			      const struct tn_call *call)
{
	struct tn_slot_contents *contents = &copies->contents;
	copies->runtime = runtime;
	copies->device = device;
	copies->n_spans = 0;
	copies->bytes = 0;
	copies->call = tn_slot_copy(slot, call, NULL);
	if (!copies->call)
		return tn_no_memory(&runtime->report, tn_slots[slot].name, NULL,
				    "a copy of the call");
	tn_slot_list(slot, copies->call, contents);
	list_spans(copies);
	for (uint32_t i = 0; i < copies->n_spans; i++)
		copies->spans[i].host.address = NULL;
	for (uint32_t i = 0; i < copies->n_spans; i++) {
		struct tn_host_span *span = &copies->spans[i];
		/* Elements keep their alignment. */
		uint64_t skew = span->low % 16;
		tn_status status = tn_block_take(runtime->reference, span->high - span->low + skew,
						 &span->host, &runtime->report);
		if (status)
			return status;
		span->address = (unsigned char *)span->host.address + skew;
		if (span->reads)
			status = copy_span(copies, span, 1);
		if (status)
			return status;
	}
	for (uint32_t i = 0; i < contents->n_operands; i++)
		point_to_copy(copies, &contents->operands[i].operand->buffer,
			      &contents->operands[i].operand->offset);
	for (uint32_t i = 0; i < contents->n_scalars; i++) {
		if (contents->scalars[i]->on_device)
			point_to_copy(copies, &contents->scalars[i]->buffer,
				      &contents->scalars[i]->offset);
	}
	return TN_OK;
}

tn_status tn_host_copies_take_back(struct tn_host_copies *copies)
{
	tn_status status = TN_OK;
	for (uint32_t i = 0; i < copies->n_spans && !status; i++) {
		if (copies->spans[i].writes)
			status = copy_span(copies, &copies->spans[i], 0);
	}
	return status;
}

void tn_host_copies_end(struct tn_host_copies *copies)
{
	for (uint32_t i = 0; i < copies->n_spans; i++) {
		if (copies->spans[i].host.address)
			tn_block_give(copies->runtime->reference, &copies->spans[i].host);
	}
	tn_mem_free(copies->call);
}
