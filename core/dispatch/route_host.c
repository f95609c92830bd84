/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The last step of a route: the operation runs on the built-in backend.  Where the host cannot read
 * the device's memory, the bytes that the operands span are brought over, and those that were written
 * are taken back.  Operands that share bytes share the copy, so that an in-place operation stays one,
 * and what lies between the elements of a written view comes back as it was.
 */
#include <string.h>

#include "array/array.h"
#include "array/shape.h"
#include "base/memory.h"
#include "dispatch/route.h"

/* Bytes [low, high) of a device buffer. */
struct span {
	uint64_t buffer;
	uint64_t low, high;
	int reads;  /* what is there is needed */
	int writes; /* it changes */
	struct tn_block host;
	unsigned char *address; /* of byte `low` */
};

enum { MOST_SPANS = TN_SLOT_MOST_OPERANDS + TN_SLOT_MOST_SCALARS };

struct journey {
	struct tn_route *route;
	struct tn_slot_contents contents; /* of a copy of the call, which is changed */
	uint32_t n_spans;
	struct span spans[MOST_SPANS];
	uint64_t bytes;
};

/* ---- Which bytes -----------------------------------------------------------------------------*/

static uint64_t count(const struct tn_operand *operand)
{
	uint64_t n = 1;
	for (uint32_t i = 0; i < operand->rank; i++)
		n *= (uint64_t)operand->shape[i];
	return n;
}

static struct span operand_span(const struct tn_operand *operand, uint32_t access)
{
	int64_t size = (int64_t)tn_dtype_size(operand->dtype), low, high;
	struct span span = {.buffer = operand->buffer,
			    .reads = (access & TN_READS) != 0,
			    .writes = (access & TN_WRITES) != 0};
	tn_shape_extent((int)operand->rank, operand->shape, operand->strides, &low, &high);
	span.low = operand->offset + (uint64_t)(low * size);
	span.high = operand->offset + (uint64_t)((high + 1) * size);
	/* A view with gaps: what lies between is written back, so it is read first. */
	if (span.writes && count(operand) * (uint64_t)size != span.high - span.low)
		span.reads = 1;
	return span;
}

/* Adds a span and swallows all that it touches. */
static void add_span(struct journey *journey, struct span span)
{
	uint32_t i = 0;
	while (i < journey->n_spans) {
		struct span *other = &journey->spans[i];
		if (other->buffer != span.buffer || other->low >= span.high ||
		    span.low >= other->high) {
			i++;
			continue;
		}
		/* The union is covered by one alone only where the two are equal. */
		if (other->low != span.low || other->high != span.high)
			span.reads = 1;
		span.reads |= other->reads;
		span.writes |= other->writes;
		span.low = other->low < span.low ? other->low : span.low;
		span.high = other->high > span.high ? other->high : span.high;
		*other = journey->spans[--journey->n_spans];
		i = 0;
	}
	journey->spans[journey->n_spans++] = span;
}

static void plan(struct journey *journey)
{
	const struct tn_slot_contents *contents = &journey->contents;
	for (uint32_t i = 0; i < contents->n_operands; i++)
		add_span(journey,
			 operand_span(contents->operands[i].operand, contents->operands[i].access));
	for (uint32_t i = 0; i < contents->n_scalars; i++) {
		const struct tn_scalar *scalar = contents->scalars[i];
		if (scalar->on_device)
			add_span(journey, (struct span){.buffer = scalar->buffer,
							.low = scalar->offset,
							.high = scalar->offset +
								tn_dtype_size(scalar->dtype),
							.reads = 1});
	}
}

/* ---- There and back --------------------------------------------------------------------------*/

static tn_status move(struct journey *journey, struct span *span, int to_host)
{
	struct tn_device *device = journey->route->device;
	struct tn_error_info *error = &journey->route->runtime->report;
	uint64_t size = span->high - span->low;
	/* The span as a block of its own: it may be one of many in a buffer. */
	struct tn_block block = {.buffer = span->buffer, .offset = span->low, .size = size};
	journey->bytes += size;
	return to_host ? tn_device_download(device, &block, 0, span->address, size, error)
		       : tn_device_upload(device, &block, 0, span->address, size, error);
}

static tn_status bring(struct journey *journey)
{
	struct tn_runtime *runtime = journey->route->runtime;
	for (uint32_t i = 0; i < journey->n_spans; i++) {
		struct span *span = &journey->spans[i];
		/* Elements keep their alignment. */
		uint64_t skew = span->low % 16;
		tn_status status = tn_block_take(runtime->reference, span->high - span->low + skew,
						 &span->host, &runtime->report);
		if (status)
			return status;
		span->address = (unsigned char *)span->host.address + skew;
		if (span->reads)
			status = move(journey, span, 1);
		if (status)
			return status;
	}
	return TN_OK;
}

static tn_status take_back(struct journey *journey)
{
	for (uint32_t i = 0; i < journey->n_spans; i++) {
		tn_status status = TN_OK;
		if (journey->spans[i].writes)
			status = move(journey, &journey->spans[i], 0);
		if (status)
			return status;
	}
	return TN_OK;
}

/* Turns {buffer, offset} into an address on the host. */
static void point(const struct journey *journey, uint64_t *buffer, uint64_t *offset)
{
	for (uint32_t i = 0; i < journey->n_spans; i++) {
		const struct span *span = &journey->spans[i];
		if (*buffer == span->buffer && *offset >= span->low && *offset < span->high) {
			*offset -= span->low;
			*buffer = (uint64_t)(uintptr_t)span->address;
			return;
		}
	}
}

static void point_all(struct journey *journey)
{
	struct tn_slot_contents *contents = &journey->contents;
	for (uint32_t i = 0; i < contents->n_operands; i++)
		point(journey, &contents->operands[i].operand->buffer,
		      &contents->operands[i].operand->offset);
	for (uint32_t i = 0; i < contents->n_scalars; i++) {
		if (contents->scalars[i]->on_device)
			point(journey, &contents->scalars[i]->buffer,
			      &contents->scalars[i]->offset);
	}
}

static void end(struct journey *journey)
{
	for (uint32_t i = 0; i < journey->n_spans; i++) {
		if (journey->spans[i].host.address)
			tn_block_give(journey->route->runtime->reference, &journey->spans[i].host);
	}
}

static tn_status run_with_copies(struct tn_route *route, uint64_t *bytes_moved)
{
	struct journey journey;
	struct tn_call *original = route->call, *call = tn_slot_copy(route->slot, original, NULL);
	tn_status status;
	if (!call)
		return tn_fail(&route->runtime->report, TN_OUT_OF_MEMORY,
			       tn_slots[route->slot].name,
			       "the host has no memory left for a copy of the call");
	tn_slot_list(route->slot, call, &journey.contents);
	journey.route = route;
	journey.n_spans = 0;
	journey.bytes = 0;
	plan(&journey);
	for (uint32_t i = 0; i < journey.n_spans; i++)
		journey.spans[i].host.address = NULL;
	status = bring(&journey);
	if (!status) {
		point_all(&journey);
		route->call = call;
		status = tn_route_native(route, route->runtime->reference);
		route->call = original;
	}
	if (!status)
		status = take_back(&journey);
	end(&journey);
	tn_mem_free(call);
	*bytes_moved = journey.bytes;
	return status;
}

tn_status tn_route_host(struct tn_route *route, uint64_t *bytes_moved)
{
	struct tn_runtime *runtime = route->runtime;
	tn_status status = tn_device_open(runtime->reference, &runtime->report);
	*bytes_moved = 0;
	if (status)
		return status;
	if (!route->device->host_memory)
		return run_with_copies(route, bytes_moved);
	if (!(route->device->description.flags & TN_DEVICE_SYNCHRONOUS))
		status = tn_device_sync(route->device, &runtime->report);
	return status ? status : tn_route_native(route, runtime->reference);
}
