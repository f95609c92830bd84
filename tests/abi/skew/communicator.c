/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A communicator of any version: rank 1 of four, whose others always have the same operands.  It
 * follows the rules of sizes, and uses everything in its header.
 */
#include <string.h>
#include <tenon/communicator.h>

#include "level.h"

enum { RANKS = 4 };

static tn_status fail(const struct tn_call *call, tn_status status, const char *operation)
{
	struct tn_error_info own = {.status = status};
	strncpy(own.operation, operation, sizeof(own.operation) - 1);
	strcpy(own.text, "not in this version");
	if (call->error)
		tn_struct_answer(call->error, &own, sizeof(own));
	return status;
}

static tn_status create(const struct tn_host *host, struct tn_error_info *error, void **instance)
{
	const struct tn_host **made = host->alloc(host->context, sizeof(*made), 0);
	(void)error;
	if (!made)
		return TN_OUT_OF_MEMORY;
	*made = host;
	*instance = made;
	return TN_OK;
}

static void destroy(void *instance)
{
	const struct tn_host *host = *(const struct tn_host **)instance;
	host->free(host->context, instance);
}

static tn_status open_communicator(void *instance, const struct tn_communicator_open_args *args,
				   void **communicator)
{
	struct tn_communicator_open_args own;
	if (tn_arguments_take(&own, sizeof(own), args) || own.call.flags)
		return fail(&own.call, TN_UNSUPPORTED, "open");
	*communicator = instance;
	return TN_OK;
}

static void close_communicator(void *communicator)
{
	(void)communicator;
}

#if LEVEL >= 1
/* The option's value; "-": the host is older than options. */
static const char *mode_of(const struct tn_host *host)
{
	return TN_HAS_FIELD(struct tn_host, host, option) ? host->option(host->context, "mode")
							  : "-";
}
#endif

static tn_status describe(void *communicator, struct tn_communicator_description *description)
{
	struct tn_communicator_description own = {
		.flags = TN_COMMUNICATOR_ORDERED,
		.rank = 1,
		.size = RANKS,
		.local_rank = 1,
		.local_size = RANKS,
		.host = "here",
#if LEVEL >= 1
		.engine = "an engine, ",
#endif
#if LEVEL >= 2
		.cores = 64,
#endif
	};
#if LEVEL >= 1
	strcat(own.engine, mode_of(*(const struct tn_host **)communicator));
#else
	(void)communicator;
#endif
	tn_struct_answer(description, &own, sizeof(own));
	return TN_OK;
}

/* A sum of floats, done at once. */
static tn_status start(void *communicator, const struct tn_collective_args *args, void **request)
{
	struct tn_collective_args own;
	if (tn_arguments_take(&own, sizeof(own), args) || own.call.flags & ~TN_DETERMINISTIC ||
	    own.operation != TN_COLLECTIVE_ALL_REDUCE || own.dtype != TN_F32)
		return fail(&own.call, TN_UNSUPPORTED, "start");
	for (uint64_t i = 0; i < own.n; i++) {
		((float *)own.target)[i] = RANKS * ((const float *)own.source)[i];
#if LEVEL >= 2
		((float *)own.target)[i] += (float)own.later;
#endif
	}
	*request = communicator;
	return TN_OK;
}

static tn_status test(void *communicator, void *request, struct tn_collective_state *state,
		      struct tn_error_info *error)
{
	struct tn_collective_state own = {
		.is_done = 1,
#if LEVEL >= 1
		.waits_for = TN_RANK_UNKNOWN,
#endif
#if LEVEL >= 2
		.bytes_left = 5,
#endif
	};
	(void)communicator;
	(void)request;
	(void)error;
	tn_struct_answer(state, &own, sizeof(own));
	return TN_OK;
}

static void abort_ranks(void *communicator, int32_t code, const char *reason)
{
	(void)communicator;
	(void)code;
	(void)reason;
}

#if LEVEL >= 2
static tn_status later(void *communicator)
{
	(void)communicator;
	return TN_OK;
}
#endif

static const struct tn_communicator_table communicator_table = {
	.struct_size = sizeof(communicator_table),
	.open = open_communicator,
	.close = close_communicator,
	.describe = describe,
	.start = start,
	.test = test,
	.abort = abort_ranks,
#if LEVEL >= 2
	.later = later,
#endif
};

static const void *query(void *instance, const char *table)
{
	(void)instance;
	return strcmp(table, TN_TABLE_COMMUNICATOR) ? NULL : &communicator_table;
}

#define UUID                                                                                       \
	0x3d, 0x91, 0x5e, 0x02, 0xb8, 0x47, 0x4c, 0x1a, 0x8f, 0x6d, 0x20, 0xe5, 0x7b, 0xc3, 0x19,  \
		0xf4
#if LEVEL >= 1
static const struct tn_option_row options[] = {
	{
		.name = "mode",
		.type = TN_OPTION_CHOICE,
		.standard = "one",
		.choices = "one,two",
		.help = "which of two",
	},
};
TN_COMMUNICATOR_PLUGIN_OPTIONS(UUID, "skew", LEVEL_TEXT, "Apache-2.0", 0, create, destroy, query,
			       options);
#else
TN_COMMUNICATOR_PLUGIN(UUID, "skew", LEVEL_TEXT, "Apache-2.0", 0, create, destroy, query);
#endif
