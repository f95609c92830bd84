/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A communicator in one process: rank 1 of fake.size, whose other ranks always have the same
 * operands.  FAKE_FAULT makes it fail.  Each broken fixture includes it and breaks one thing.
 *
 *	open      the other ranks cannot be joined
 *	second    an instance lives already
 *	describe  a rank that is not below the size
 *	start     an operation cannot be begun
 *	lost      rank 2 ends in the second test of an operation
 *	late      an operation is done in its third test
 *	hang      an operation is never done: rank 2 does not come
 *	small     at most 24 bytes in one operation
 *	unordered sums have no order
 */
#ifndef TN_TESTS_COMMUNICATOR_H
#define TN_TESTS_COMMUNICATOR_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/communicator.h>
#include <tenon/plugin.h>

struct fake_request {
	struct tn_collective_args args;
	int tests;
	struct fake_request *next;
};

struct fake {
	const struct tn_host *host;
	uint32_t size;
	const char *fault;
	int has_failed;
	struct fake_request *requests; /* under way */
};

static inline int fake_has(const struct fake *fake, const char *fault)
{
	return fake->fault && !strcmp(fake->fault, fault);
}

static inline tn_status fake_fail(struct tn_error_info *error, tn_status status, const char *text)
{
	if (error) {
		error->status = status;
		error->native_code = 77;
		snprintf(error->text, sizeof(error->text), "%s", text);
	}
	return status;
}

static inline tn_status fake_create(const struct tn_host *host, struct tn_error_info *error,
				    void **instance)
{
	struct fake *fake = (struct fake *)host->alloc(host->context, sizeof(*fake), 0);
	if (!fake)
		return TN_OUT_OF_MEMORY;
	const char *size = tn_plugin_option(host, "size");
	memset(fake, 0, sizeof(*fake));
	fake->host = host;
	fake->size = size ? (uint32_t)atoi(size) : 4;
	fake->fault = host->parameter(host->context, "FAKE_FAULT", "how to fail");
	if (fake_has(fake, "second")) {
		host->free(host->context, fake);
		return fake_fail(error, TN_STATE, "an instance lives already");
	}
	*instance = fake;
	return TN_OK;
}

static inline void fake_destroy(void *instance)
{
	struct fake *fake = (struct fake *)instance;
	fake->host->free(fake->host->context, fake);
}

static inline tn_status fake_open(void *instance, const struct tn_communicator_open_args *args,
				  void **communicator)
{
	struct fake *fake = (struct fake *)instance;
	if (fake_has(fake, "open"))
		return fake_fail(args->call.error, TN_BACKEND_FAILURE, "nobody is there");
	*communicator = fake;
	return TN_OK;
}

static inline void fake_free(struct fake *fake, struct fake_request *request)
{
	struct fake_request **at = &fake->requests;
	while (*at != request)
		at = &(*at)->next;
	*at = request->next;
	fake->host->free(fake->host->context, request);
}

static inline void fake_close(void *communicator)
{
	struct fake *fake = (struct fake *)communicator;
	while (fake->requests)
		fake_free(fake, fake->requests);
}

static inline tn_status fake_describe(void *communicator,
				      struct tn_communicator_description *description)
{
	const struct fake *fake = (const struct fake *)communicator;
	struct tn_communicator_description own = {
		.struct_size = sizeof(own),
		.flags = fake_has(fake, "unordered") ? 0 : TN_COMMUNICATOR_ORDERED,
		.rank = fake->size > 1 ? 1 : 0,
		.size = fake->size,
		.local_size = 1,
		.max_bytes = fake_has(fake, "small") ? 24 : 0,
		.host = "fake-host",
		.engine = "Fake 1.0",
	};
	if (fake_has(fake, "describe"))
		own.rank = own.size;
	tn_struct_answer(description, &own, sizeof(own));
	return TN_OK;
}

static inline tn_status fake_start(void *communicator, const struct tn_collective_args *args,
				   void **request)
{
	struct fake *fake = (struct fake *)communicator;
	if (fake_has(fake, "unordered") && args->call.flags & TN_DETERMINISTIC)
		return fake_fail(args->call.error, TN_UNSUPPORTED, "sums have no order");
	if (fake_has(fake, "start"))
		return fake_fail(args->call.error, TN_BACKEND_FAILURE, "the wire is cut");
	struct fake_request *made =
		(struct fake_request *)fake->host->alloc(fake->host->context, sizeof(*made), 0);
	if (!made)
		return TN_OUT_OF_MEMORY;
	made->args = *args;
	made->tests = 0;
	made->next = fake->requests;
	fake->requests = made;
	*request = made;
	return TN_OK;
}

/* Sums of f32 alone: x + x + ...; a maximum or minimum of equals is the operand. */
static inline void fake_reduce(const struct fake *fake, const struct tn_collective_args *args,
			       const void *source)
{
	const float *from = (const float *)source;
	float *to = (float *)args->target;
	for (uint64_t i = 0; i < args->n; i++)
		to[i] = args->combiner == TN_REDUCE_SUM ? from[i] * (float)fake->size : from[i];
}

static inline void fake_do(const struct fake *fake, const struct tn_collective_args *args)
{
	size_t bytes = args->n * tn_dtype_size(args->dtype);
	switch (args->operation) {
	case TN_COLLECTIVE_ALL_REDUCE:
		fake_reduce(fake, args, args->source);
		break;
	case TN_COLLECTIVE_REDUCE_SCATTER:
		fake_reduce(fake, args, (const char *)args->source + bytes);
		break;
	case TN_COLLECTIVE_ALL_GATHER:
		for (uint32_t rank = 0; rank < fake->size; rank++)
			memmove((char *)args->target + rank * bytes, args->source, bytes);
		break;
	default:
		break;
	}
}

static inline tn_status fake_test(void *communicator, void *given,
				  struct tn_collective_state *answer, struct tn_error_info *error)
{
	struct fake *fake = (struct fake *)communicator;
	struct fake_request *request = (struct fake_request *)given;
	struct tn_collective_state state = {.struct_size = sizeof(state), .waits_for = 2};
	request->tests++;
	int late = fake_has(fake, "late") || fake_has(fake, "small");
	state.is_done = !fake_has(fake, "hang") && (!late || request->tests == 3);
	if (fake_has(fake, "lost")) {
		state.is_done = 0;
		fake->has_failed = fake->has_failed || request->tests == 2;
	}
	if (state.is_done)
		fake_do(fake, &request->args);
	if (state.is_done || fake->has_failed)
		fake_free(fake, request);
	if (fake->has_failed)
		return fake_fail(error, TN_PEER_LOST, "rank 2 has ended");
	tn_struct_answer(answer, &state, sizeof(state));
	return TN_OK;
}

static inline void fake_abort(void *communicator, int32_t code, const char *reason)
{
	(void)communicator;
	(void)code;
	(void)reason;
}

static const struct tn_communicator_table fake_table = {
	.struct_size = sizeof(fake_table),
	.open = fake_open,
	.close = fake_close,
	.describe = fake_describe,
	.start = fake_start,
	.test = fake_test,
	.abort = fake_abort,
};

static inline const void *fake_query(void *instance, const char *table)
{
	(void)instance;
	return strcmp(table, TN_TABLE_COMMUNICATOR) ? NULL : &fake_table;
}

#endif
