/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Requests: starting the parts of an operation, and testing them in order.
 *
 * A gathering or scattering operation in several parts has operands that are not contiguous within
 * a part: part k is elements [k p, (k + 1) p) of every rank.  Its larger operand is then packed, in
 * memory of the request's own, part after part.
 */
#include <string.h>

#include "array/handle.h"
#include "base/memory.h"
#include "base/options.h"
#include "distributed/collective.h"
#include "distributed/request.h"

static uint64_t elements_of(const tn_request *request, uint64_t part)
{
	uint64_t left = request->operation.n - part * request->part_elements;
	return left < request->part_elements ? left : request->part_elements;
}

/* Copies between the packed memory and the larger operand: source to packed before a
 * reduce_scatter, packed to target after an all_gather. */
static void repack(const tn_request *request)
{
	const struct tn_collective_host *o = &request->operation;
	uint32_t size = request->communicator->description.size;
	size_t element = tn_dtype_size(o->dtype);
	char *packed = request->packed;
	int gathers = o->operation == TN_COLLECTIVE_ALL_GATHER;
	for (uint64_t part = 0; part < request->n_parts; part++) {
		size_t bytes = elements_of(request, part) * element;
		for (uint32_t rank = 0; rank < size; rank++) {
			size_t at = (rank * o->n + part * request->part_elements) * element;
			if (gathers)
				memcpy((char *)o->target + at, packed, bytes);
			else
				memcpy(packed, (const char *)o->source + at, bytes);
			packed += bytes;
		}
	}
}

/* The plugin's arguments of one part. */
static void describe_part(const tn_request *request, uint64_t part, struct tn_collective_args *args)
{
	const struct tn_collective_host *o = &request->operation;
	size_t element = tn_dtype_size(o->dtype);
	size_t at = part * request->part_elements * element;
	size_t packed_at = at * request->communicator->description.size;
	args->operation = o->operation;
	args->combiner = o->combiner;
	args->dtype = o->dtype;
	args->root = o->root;
	args->n = elements_of(request, part);
	args->source = o->source ? (const char *)o->source + at : NULL;
	args->target = o->target ? (char *)o->target + at : NULL;
	if (request->packed && o->operation == TN_COLLECTIVE_ALL_GATHER)
		args->target = (char *)request->packed + packed_at;
	else if (request->packed)
		args->source = (const char *)request->packed + packed_at;
}

/* How many parts, of how many elements. */
static tn_status divide(tn_request *request, struct tn_error_info *error)
{
	const struct tn_communicator_description *own = &request->communicator->description;
	const struct tn_collective_host *o = &request->operation;
	const char *name = tn_collective_name(o->operation);
	uint64_t elements = tn_collective_elements(o, own->size);
	size_t element = tn_dtype_size(o->dtype);
	request->part_elements = o->n;
	request->n_parts = o->n || o->operation == TN_COLLECTIVE_BARRIER;
	if (!own->max_bytes || elements * element <= own->max_bytes)
		return TN_OK;
	uint64_t most = own->max_bytes / element / (elements / o->n);
	if (!most)
		return tn_fail(error, TN_LIMIT, name,
			       "communicator %s moves at most %llu bytes at once, fewer than an "
			       "element of every rank",
			       request->communicator->name, (unsigned long long)own->max_bytes);
	request->part_elements = most;
	request->n_parts = (o->n - 1) / most + 1;
	if (elements == o->n)
		return TN_OK;
	request->packed = tn_mem_alloc(elements * element);
	if (!request->packed)
		return tn_fail(error, TN_OUT_OF_MEMORY, name, "no host memory for %llu bytes",
			       (unsigned long long)(elements * element));
	if (o->operation == TN_COLLECTIVE_REDUCE_SCATTER)
		repack(request);
	return TN_OK;
}

/* Without a plugin the one rank's operand is the result. */
static void run_alone(tn_request *request)
{
	const struct tn_collective_host *o = &request->operation;
	if (o->source && o->source != o->target)
		memcpy(o->target, o->source, o->n * tn_dtype_size(o->dtype));
	request->n_parts = 0;
}

/* Replaces the plugin's text by one that says who, what and where. */
static tn_status explain(const tn_request *request, tn_status status, struct tn_error_info *error)
{
	const struct tn_communicator_description *own = &request->communicator->description;
	struct tn_error_info theirs = *error;
	theirs.text[sizeof(theirs.text) - 1] = '\0';
	tn_fail(error, status, tn_collective_name(request->operation.operation),
		"%s%srank %u of %u: %s", request->label, request->label[0] ? ", " : "", own->rank,
		own->size, theirs.text[0] ? theirs.text : tn_status_text(status));
	error->native_code = theirs.native_code;
	return status;
}

/* *is_broken: the ranks may have begun different operations. */
static tn_status start_parts(tn_request *request, int *is_broken, struct tn_error_info *error)
{
	tn_communicator *communicator = request->communicator;
	const struct tn_communicator_table *table = &communicator->plugin->table;
	for (uint64_t part = 0; part < request->n_parts; part++) {
		struct tn_collective_args args = {
			.call = {.struct_size = sizeof(args),
				 .flags = communicator->runtime->call_flags & TN_DETERMINISTIC,
				 .error = error}};
		describe_part(request, part, &args);
		tn_error_reset(error);
		tn_status status = table->start(communicator->handle, &args, &request->parts[part]);
		if (!status)
			continue;
		*is_broken = part || (status != TN_UNSUPPORTED && status != TN_INVALID_ARGUMENT);
		return explain(request, status, error);
	}
	return TN_OK;
}

static void take_operation(tn_request *request, const struct tn_collective_host *operation)
{
	request->operation = *operation;
	if (operation->label)
		strncpy(request->label, operation->label, sizeof(request->label) - 1);
	request->operation.label = request->label;
	request->waits_for = TN_RANK_UNKNOWN;
}

static void link_request(tn_request *request)
{
	tn_communicator *communicator = request->communicator;
	request->previous = communicator->newest;
	if (communicator->newest)
		communicator->newest->next = request;
	else
		communicator->oldest = request;
	communicator->newest = request;
}

void tn_request_free(tn_request *request)
{
	tn_communicator *communicator = request->communicator;
	if (request->previous)
		request->previous->next = request->next;
	else if (communicator->oldest == request)
		communicator->oldest = request->next;
	if (request->next)
		request->next->previous = request->previous;
	else if (communicator->newest == request)
		communicator->newest = request->previous;
	tn_mem_free(request->parts);
	tn_mem_free(request->packed);
	tn_quarantine_end(request, "the request has ended (tn_request_wait), or its "
				   "communicator has been closed");
}

/* Fills a request and starts it. */
static tn_status begin(tn_request *request, int *is_broken, struct tn_error_info *error)
{
	const char *name = tn_collective_name(request->operation.operation);
	if (!request->communicator->plugin) {
		run_alone(request);
		return TN_OK;
	}
	tn_status status = divide(request, error);
	if (status)
		return status;
	request->parts = tn_mem_zeroed(request->n_parts + 1, sizeof(*request->parts));
	if (!request->parts)
		return tn_no_memory(error, name, NULL, "a request");
	return start_parts(request, is_broken, error);
}

/* Checks before anything is sent. */
static tn_status take(tn_communicator *communicator, const struct tn_collective_host *given,
		      struct tn_collective_host *own)
{
	struct tn_runtime *runtime = communicator->runtime;
	tn_status status = tn_runtime_ready(runtime);
	if (!status)
		status = tn_runtime_take(runtime, own, sizeof(*own), given,
					 "struct tn_collective_host", "communicator_start");
	if (status)
		return status;
	status = tn_communicator_ready(communicator, tn_collective_name(own->operation),
				       &runtime->report);
	if (!status)
		status = tn_collective_check(communicator, own, &runtime->report);
	return status ? tn_runtime_keep(runtime, &runtime->report) : TN_OK;
}

tn_status tn_communicator_start(tn_communicator *communicator,
				const struct tn_collective_host *given, tn_request **out)
{
	struct tn_collective_host own = tn_collective_host_defaults();
	int is_broken = 0;
	if (!communicator || !given || !out)
		return TN_INVALID_ARGUMENT;
	*out = NULL;
	struct tn_runtime *runtime = communicator->runtime;
	tn_status status = take(communicator, given, &own);
	if (status)
		return status;
	tn_request *made = tn_mem_zeroed(1, sizeof(*made));
	if (!made)
		return tn_runtime_no_memory(runtime, tn_collective_name(own.operation),
					    "a request");
	made->communicator = communicator;
	take_operation(made, &own);
	link_request(made);
	status = begin(made, &is_broken, &runtime->report);
	if (!status) {
		*out = made;
		return TN_OK;
	}
	/* Parts that the plugin has keep the memory until the communicator is closed. */
	made->was_failed = 1;
	if (!is_broken) {
		tn_request_free(made);
		return tn_runtime_keep(runtime, &runtime->report);
	}
	return tn_communicator_break(communicator, &runtime->report);
}

tn_status tn_request_advance(tn_request *request, int *is_done)
{
	tn_communicator *communicator = request->communicator;
	struct tn_error_info *error = &communicator->runtime->report;
	*is_done = request->n_done == request->n_parts;
	if (*is_done)
		return TN_OK;
	tn_status status = tn_communicator_ready(
		communicator, tn_collective_name(request->operation.operation), error);
	while (!status && request->n_done < request->n_parts) {
		struct tn_collective_state state = {.struct_size = sizeof(state),
						    .waits_for = TN_RANK_UNKNOWN};
		tn_error_reset(error);
		status = communicator->plugin->table.test(
			communicator->handle, request->parts[request->n_done], &state, error);
		request->waits_for = state.waits_for;
		if (status)
			explain(request, status, error);
		else if (state.is_done)
			request->n_done++;
		else
			return TN_OK;
	}
	if (status) {
		request->was_failed = 1;
		return tn_communicator_break(communicator, error);
	}
	*is_done = 1;
	if (request->packed && request->operation.operation == TN_COLLECTIVE_ALL_GATHER)
		repack(request);
	return TN_OK;
}

tn_status tn_request_test(tn_request *request, int *is_done)
{
	if (!request || !is_done)
		return TN_INVALID_ARGUMENT;
	if (tn_handle_find(request->communicator->runtime, request, "request_test"))
		return TN_STATE;
	return tn_request_advance(request, is_done);
}

tn_status tn_communicator_progress(tn_communicator *communicator)
{
	int is_done;
	if (!communicator)
		return TN_INVALID_ARGUMENT;
	tn_status status = tn_handle_check(communicator->runtime, "communicator_progress");
	if (status)
		return status;
	tn_request *request = communicator->oldest;
	while (request && (request->was_failed || request->n_done == request->n_parts))
		request = request->next;
	return request ? tn_request_advance(request, &is_done) : TN_OK;
}
