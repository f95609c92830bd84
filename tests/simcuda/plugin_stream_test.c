/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The errors of the CUDA backend: which conditions are errors, and which operation each names.
 */
#include <unistd.h>

#include "plugin_fixture.h"

#define SETTINGS(...) ((const char *const[]){__VA_ARGS__, NULL})

enum { N = 256, BYTES = N * sizeof(float) };

static void what_is_not_ready_is_no_error(void **state)
{
	struct plugin p = {.device = NULL};
	struct tn_error_info error = {.struct_size = sizeof(error)};
	uint32_t reached = 7;
	void *event = NULL;
	(void)state;
	plugin_open(&p, SETTINGS("SIMCUDA_DEFER=1"));
	struct tn_event_args args = {.call = plugin_call(&p, sizeof(args), NULL)};
	assert_ok(p.streams->event_create(p.device, &args, &event));
	args.event = event;
	uint64_t buffer = plugin_take(&p, TN_MEMORY_DEVICE, BYTES);
	for (int i = 0; i < 8; i++)
		assert_ok(plugin_fill(&p, NULL, buffer, N, 1));
	assert_ok(p.devices->async_error(p.device, NULL, &error));
	assert_int_equal(cudaPeekAtLastError(), cudaSuccess);
	assert_ok(p.streams->event_record(p.device, &args));
	assert_ok(p.streams->event_query(p.device, &args, &reached));
	assert_int_equal(reached, 0);
	assert_int_equal(cudaPeekAtLastError(), cudaSuccess);
	assert_ok(p.streams->event_destroy(p.device, &args));
	assert_ok(plugin_sync(&p, NULL));
	assert_ok(plugin_give(&p, buffer));
	plugin_close(&p);
}

static void the_end_of_a_stream_names_what_failed(void **state)
{
	struct plugin p = {.device = NULL};
	(void)state;
	plugin_open(&p, SETTINGS("SIMCUDA_DEFER=1"));
	void *stream = plugin_stream(&p);
	uint64_t buffer = plugin_take(&p, TN_MEMORY_DEVICE, BYTES);
	assert_ok(plugin_fill(&p, stream, buffer, N, 1));
	simcudaInject("cudaStreamSynchronize", 1, cudaErrorIllegalAddress, 1);
	assert_status(plugin_stream_end(&p, stream), TN_DEVICE_LOST);
	assert_string_equal(p.error.operation, "fill");
	p.devices->close(p.device);
	p.device = NULL;
	restart_simcuda(NULL);
	plugin_close(&p);
}

/* With CUDA_LAUNCH_BLOCKING the operation that failed is named, and no other. */
static void one_at_a_time_the_culprit_is_named_alone(void **state)
{
	struct plugin p = {.device = NULL};
	(void)state;
	plugin_open(&p, SETTINGS("SIMCUDA_DEFER=1", "CUDA_LAUNCH_BLOCKING=1"));
	uint64_t buffer = plugin_take(&p, TN_MEMORY_DEVICE, BYTES);
	assert_ok(plugin_fill(&p, NULL, buffer, N, 1));
	struct tn_copy_args args = {.call = plugin_call(&p, sizeof(args), NULL),
				    .input = plugin_matrix(buffer, N / 2, 1),
				    .output = plugin_matrix(buffer + BYTES, 1, N / 2)};
	args.input.strides[0] = 2; /* a kernel, that writes past the end */
	args.output.shape[0] = N / 2;
	args.output.shape[1] = 1;
	args.output.strides[0] = args.output.strides[1] = 1;
	assert_status(p.copy->copy(p.device, &args), TN_DEVICE_LOST);
	assert_string_equal(p.error.operation, "copy");
	assert_null(strstr(p.error.text, "fill"));
	assert_null(strstr(p.error.text, "one of"));
	p.devices->close(p.device);
	p.device = NULL;
	restart_simcuda(NULL);
	plugin_close(&p);
}

static void a_launch_that_fails_is_told_and_forgotten(void **state)
{
	struct plugin p = {.device = NULL};
	(void)state;
	plugin_open(&p, NULL);
	uint64_t buffer = plugin_take(&p, TN_MEMORY_DEVICE, BYTES);
	simcudaInject("cudaLaunchKernel", 1, cudaErrorLaunchOutOfResources, 0);
	assert_status(plugin_fill(&p, NULL, buffer, N, 1), TN_BACKEND_FAILURE);
	assert_contains(p.error.text, "cudaLaunchKernel");
	assert_int_equal(cudaPeekAtLastError(), cudaSuccess);
	assert_ok(plugin_fill(&p, NULL, buffer, N, 1));
	assert_ok(plugin_sync(&p, NULL));
	simcudaInject("cudaLaunchKernel", 1, cudaErrorLaunchFailure, 1);
	assert_status(plugin_fill(&p, NULL, buffer, N, 1), TN_DEVICE_LOST);
	assert_status(plugin_sync(&p, NULL), TN_DEVICE_LOST);
	p.devices->close(p.device);
	p.device = NULL;
	restart_simcuda(NULL);
	plugin_close(&p);
}

/* ---- Bytes from a device that is lost --------------------------------------------------------*/

/* The plugin's device is the destination. */
struct exchange {
	struct plugin p;
	void *giver, *event;
	uint64_t from, to;
};

static tn_status exchange_copy(struct exchange *x, uint32_t flags)
{
	const struct tn_peer_table *peers = x->p.descriptor->query(x->p.instance, TN_TABLE_PEER);
	struct tn_peer_args args = {.call = plugin_call(&x->p, sizeof(args), NULL),
				    .peer = x->giver,
				    .buffer = x->to,
				    .peer_buffer = x->from,
				    .size = BYTES};
	args.call.flags = flags;
	return peers->peer_copy(x->p.device, &args);
}

static void exchange_begin(struct exchange *x)
{
	struct plugin *p = &x->p;
	memset(x, 0, sizeof(*x));
	plugin_open(p, SETTINGS("SIMCUDA_DEFER=1", "SIMCUDA_DEVICES=2"));
	x->giver = p->device;
	x->from = plugin_take(p, TN_MEMORY_DEVICE, BYTES);
	assert_ok(plugin_fill(p, NULL, x->from, N, 1));
	assert_ok(plugin_open_device(p, 1));
	x->to = plugin_take(p, TN_MEMORY_DEVICE, BYTES);
	struct tn_event_args args = {.call = plugin_call(p, sizeof(args), NULL)};
	assert_ok(p->streams->event_create(p->device, &args, &x->event));
}

static tn_status exchange_event(struct exchange *x,
				tn_status (*entry)(void *, const struct tn_event_args *))
{
	const struct tn_event_args args = {.call = plugin_call(&x->p, sizeof(args), NULL),
					   .event = x->event};
	return entry(x->p.device, &args);
}

static void exchange_end(struct exchange *x)
{
	assert_ok(exchange_event(x, x->p.streams->event_destroy));
	x->p.devices->close(x->p.device);
	x->p.devices->close(x->giver);
	x->p.device = NULL;
	restart_simcuda(NULL);
	plugin_close(&x->p);
}

enum asked { ASYNC_ERROR, EVENT_SYNC, SYNC, ASKED };

static tn_status exchange_ask(struct exchange *x, enum asked asked)
{
	(void)plugin_call(&x->p, 0, NULL);
	if (asked == ASYNC_ERROR)
		return x->p.devices->async_error(x->p.device, NULL, &x->p.error);
	if (asked == EVENT_SYNC)
		return exchange_event(x, x->p.streams->event_sync);
	return plugin_sync(&x->p, NULL);
}

/* Each query reports it once.  The destination's own work continues. */
static void a_lost_giver_is_told_by_whatever_is_asked(void **state)
{
	(void)state;
	for (int asked = 0; asked < ASKED; asked++) {
		struct exchange x;
		exchange_begin(&x);
		assert_ok(exchange_copy(&x, 0));
		assert_ok(exchange_event(&x, x.p.streams->event_record));
		/* It is kept while later work may be running. */
		assert_ok(exchange_ask(&x, EVENT_SYNC));
		/* The source reports next. */
		simcudaInject("cudaMemGetInfo", 1, cudaErrorIllegalAddress, 1);
		assert_status(exchange_ask(&x, asked), TN_BACKEND_FAILURE);
		assert_contains(x.p.error.text, "device 0, the source of a copy, is lost");
		assert_ok(exchange_ask(&x, asked));
		assert_ok(plugin_fill(&x.p, NULL, x.to, N, 1));
		assert_ok(plugin_sync(&x.p, NULL));
		exchange_end(&x);
	}
}

static void a_dry_run_opens_no_memory(void **state)
{
	struct exchange x;
	(void)state;
	exchange_begin(&x);
	assert_ok(exchange_copy(&x, TN_DRY_RUN));
	assert_int_equal(simcudaCalls("cudaDeviceCanAccessPeer"), 1);
	assert_int_equal(simcudaCalls("cudaMemPoolSetAccess"), 0);
	assert_int_equal(simcudaCalls("cudaDeviceEnablePeerAccess"), 0);
	assert_ok(exchange_copy(&x, 0));
	assert_int_equal(simcudaCalls("cudaMemPoolSetAccess"), 1);
	exchange_end(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_not_ready_is_no_error),
		cmocka_unit_test(the_end_of_a_stream_names_what_failed),
		cmocka_unit_test(one_at_a_time_the_culprit_is_named_alone),
		cmocka_unit_test(a_launch_that_fails_is_told_and_forgotten),
		cmocka_unit_test(a_lost_giver_is_told_by_whatever_is_asked),
		cmocka_unit_test(a_dry_run_opens_no_memory),
	};
	if (access(SIMCUDA_REAL "/libnvrtc.so.13", R_OK))
		return TEST_SKIPPED;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
