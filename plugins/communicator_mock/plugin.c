/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * communicator_mock.so: the entries.  Each hands its call to the other communicator, or does not.
 */
#include <signal.h>

#include "mock.h"

static tn_status create(const struct tn_host *host, struct tn_error_info *error, void **instance)
{
	const char *name = tn_plugin_option(host, "communicator");
	struct mock_instance *own = tn_plugin_alloc(host, sizeof(*own));
	if (!own)
		return tn_plugin_fail(error, TN_OUT_OF_MEMORY, "create",
				      "no memory for an instance");
	own->host = host;
	tn_status status = mock_faults_parse(tn_plugin_option(host, "faults"), &own->faults, error);
	if (!status)
		status = mock_inner_open(&own->inner, host, name && *name ? name : "local", error);
	if (status) {
		tn_plugin_free(host, own);
		return status;
	}
	*instance = own;
	return TN_OK;
}

static void destroy(void *instance)
{
	struct mock_instance *own = instance;
	mock_inner_close(&own->inner);
	tn_plugin_free(own->host, own);
}

static tn_status open_communicator(void *instance, const struct tn_communicator_open_args *args,
				   void **communicator)
{
	const struct mock_instance *own = instance;
	struct tn_communicator_description description = {.struct_size = sizeof(description)};
	struct mock_communicator *opened = tn_plugin_alloc(own->host, sizeof(*opened));
	if (!opened)
		return tn_plugin_fail(args->call.error, TN_OUT_OF_MEMORY, "open",
				      "no memory for a communicator");
	opened->instance = own;
	tn_status status = own->inner.table->open(own->inner.instance, args, &opened->inner);
	if (!status) {
		status = own->inner.table->describe(opened->inner, &description);
		if (status)
			own->inner.table->close(opened->inner);
	}
	if (status) {
		tn_plugin_free(own->host, opened);
		return status;
	}
	opened->rank = description.rank;
	opened->size = description.size;
	*communicator = opened;
	return TN_OK;
}

/* ---- Requests --------------------------------------------------------------------------------*/

static void append(struct mock_communicator *communicator, struct mock_request *request)
{
	request->previous = communicator->last;
	if (communicator->last)
		communicator->last->next = request;
	else
		communicator->first = request;
	communicator->last = request;
}

static void drop(struct mock_communicator *communicator, struct mock_request *request)
{
	if (request->previous)
		request->previous->next = request->next;
	else
		communicator->first = request->next;
	if (request->next)
		request->next->previous = request->previous;
	else
		communicator->last = request->previous;
	tn_plugin_free(communicator->instance->host, request);
}

static void close_communicator(void *communicator)
{
	struct mock_communicator *own = communicator;
	while (own->first)
		drop(own, own->first);
	own->instance->inner.table->close(own->inner);
	tn_plugin_free(own->instance->host, own);
}

static tn_status describe(void *communicator, struct tn_communicator_description *description)
{
	const struct mock_communicator *own = communicator;
	return own->instance->inner.table->describe(own->inner, description);
}

/* One element less, or another operation where there is none. */
static void change(struct tn_collective_args *args, uint32_t rank)
{
	const size_t element = tn_dtype_size(args->dtype);
	const char *source = args->source;
	char *target = args->target;
	const size_t own = rank * args->n * element, moved = rank * element;
	if (args->operation == TN_COLLECTIVE_BARRIER) {
		args->operation = TN_COLLECTIVE_BROADCAST;
		args->dtype = TN_U8;
		args->source = NULL;
	} else if (!args->n) {
		args->operation = TN_COLLECTIVE_BARRIER;
		args->dtype = 0;
		args->combiner = args->root = 0;
	} else {
		/* In place stays in place. */
		if (args->operation == TN_COLLECTIVE_ALL_GATHER && source == target + own)
			args->source = source - moved;
		if (args->operation == TN_COLLECTIVE_REDUCE_SCATTER && target == source + own)
			args->target = target - moved;
		args->n--;
	}
}

static int is_now(const struct mock_communicator *communicator, enum mock_fault_kind kind)
{
	const struct mock_fault *fault = mock_fault_of(communicator, kind);
	return fault && communicator->n_started == fault->value;
}

static tn_status begin(struct mock_communicator *communicator, struct mock_request *request,
		       const struct tn_collective_args *args)
{
	const struct mock_fault *lost = mock_fault_of(communicator, MOCK_DROP);
	struct tn_collective_args changed;
	communicator->n_started++;
	if (is_now(communicator, MOCK_DIE))
		(void)raise(SIGKILL);
	if (is_now(communicator, MOCK_LATE))
		mock_sleep(mock_fault_of(communicator, MOCK_LATE)->value2);
	request->ready = mock_ready(communicator, args);
	request->dies = is_now(communicator, MOCK_DIE_IN);
	if (lost && communicator->n_started >= lost->value) {
		request->is_lost = 1;
		return TN_OK;
	}
	if (is_now(communicator, MOCK_DISAGREE)) {
		(void)tn_arguments_take(&changed, sizeof(changed), args);
		change(&changed, communicator->rank);
		args = &changed;
	}
	return communicator->instance->inner.table->start(communicator->inner, args,
							  &request->inner);
}

static tn_status start(void *communicator, const struct tn_collective_args *args, void **request)
{
	struct mock_communicator *own = communicator;
	struct mock_request *begun = tn_plugin_alloc(own->instance->host, sizeof(*begun));
	if (!begun)
		return tn_plugin_fail(args->call.error, TN_OUT_OF_MEMORY, "start",
				      "no memory for a request");
	tn_status status = begin(own, begun, args);
	if (status) {
		tn_plugin_free(own->instance->host, begun);
		return status;
	}
	begun->failure.struct_size = sizeof(begun->failure);
	append(own, begun);
	*request = begun;
	return TN_OK;
}

/* Tests one request of the other communicator, which is then done, failed or still there. */
static void test_inner(struct mock_communicator *communicator, struct mock_request *request,
		       struct tn_collective_state *state)
{
	request->failure.status = communicator->instance->inner.table->test(
		communicator->inner, request->inner, state, &request->failure);
	if (request->failure.status || state->is_done)
		request->inner = NULL;
}

/* A test makes progress with all operations: also one of a request that is not in the other
 * communicator, or no more. */
static void test_any_inner(struct mock_communicator *communicator)
{
	struct tn_collective_state state = {.struct_size = sizeof(state)};
	struct mock_request *request = communicator->first;
	while (request && !request->inner)
		request = request->next;
	if (request)
		test_inner(communicator, request, &state);
}

static tn_status test(void *communicator, void *request, struct tn_collective_state *state,
		      struct tn_error_info *error)
{
	struct mock_communicator *own = communicator;
	struct mock_request *tested = request;
	struct tn_collective_state answer = {.struct_size = sizeof(answer),
					     .waits_for = TN_RANK_UNKNOWN};
	if (tested->dies)
		(void)raise(SIGKILL);
	if (tested->inner)
		test_inner(own, tested, &answer);
	else
		test_any_inner(own);
	const struct tn_error_info failure = tested->failure;
	answer.is_done = !failure.status && !tested->inner && !tested->is_lost &&
			 mock_now() >= tested->ready;
	if (answer.is_done || failure.status)
		drop(own, tested);
	if (failure.status)
		return tn_plugin_fail_native(error, failure.status, failure.native_code,
					     failure.operation, "%s", failure.text);
	tn_struct_answer(state, &answer, sizeof(answer));
	return TN_OK;
}

static void abort_communicator(void *communicator, int32_t code, const char *reason)
{
	struct mock_communicator *own = communicator;
	own->instance->inner.table->abort(own->inner, code, reason);
}

static const void *query(void *instance, const char *table)
{
	static const struct tn_communicator_table communicator = {
		.struct_size = sizeof(communicator),
		.open = open_communicator,
		.close = close_communicator,
		.describe = describe,
		.start = start,
		.test = test,
		.abort = abort_communicator,
	};
	static const struct tn_plugin_table tables[] = {{TN_TABLE_COMMUNICATOR, &communicator}};
	(void)instance;
	return tn_plugin_table_find(tables, sizeof(tables) / sizeof(tables[0]), table);
}

/* The other communicator has the host of this one: what it asks for as its own is here. */
static const struct tn_option_row options[] = {
	{
		.name = "communicator",
		.variable = "TENON_MOCK_COMMUNICATOR",
		.type = TN_OPTION_TEXT,
		.standard = "local",
		.help = "the communicator that it wraps, a name or a path",
	},
	{
		.name = "faults",
		.variable = "TENON_MOCK_COMMUNICATOR_FAULT",
		.type = TN_OPTION_TEXT,
		.help = "faults on request, with commas between: delay:MS, "
			"network:MICROSECONDS:GBITS, drop:N, die:N, die-in:N, disagree:N, "
			"late:N:MS, each with @RANK for one rank only",
	},
	{
		.name = "bytes",
		.variable = "TENON_LOCAL_BYTES",
		.type = TN_OPTION_TEXT,
		.standard = "2M",
		.help = "local.bytes of the communicator that it wraps",
	},
	{
		.name = "folder",
		.variable = "TENON_LOCAL_DIR",
		.type = TN_OPTION_TEXT,
		.help = "local.folder of the communicator that it wraps",
	},
};

#define MOCK_UUID                                                                                  \
	0x86, 0x2d, 0x5a, 0xe1, 0x4b, 0x90, 0x47, 0xd3, 0x9c, 0x68, 0x1f, 0x37, 0xe2, 0xa4, 0x0b,  \
		0x5d
TN_COMMUNICATOR_PLUGIN_OPTIONS(MOCK_UUID, "mock", "0.1.0", "Apache-2.0", 0, create, destroy, query,
			       options);
