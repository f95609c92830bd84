/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Streams and events on the CUDA backend.  The simulated device defers work and picks the stream
 * that runs next at random: several seeds are tried.
 */
#include "cuda_fixture.h"
#include "shared_cases.h"
#include "stream_tests.h"

static void check_streams(stream_case *check)
{
	static const char *const seeds[] = {"SIMCUDA_SEED=1", "SIMCUDA_SEED=2", "SIMCUDA_SEED=3",
					    "SIMCUDA_SEED=4"};
	for (size_t i = 0; i < sizeof(seeds) / sizeof(seeds[0]); i++) {
		tn_context *context =
			open_cuda((const char *const[]){"SIMCUDA_DEFER=1", seeds[i], NULL});
		check(context);
		close_cuda(context);
	}
}

static void a_replay_runs_in_the_current_stream(void **state)
{
	(void)state;
	check_streams(check_replays_in_several_streams);
	check_streams(check_memory_that_a_replay_reads);
}

static void closing_the_context_destroys_what_is_left(void **state)
{
	(void)state;
	leave_streams(open_deferred());
	assert_int_equal(simcudaLive(NULL, 0), 0);
}

/* Without user streams no call names a stream but the device's own, and no event is made. */
static void without_streams_there_are_no_events(void **state)
{
	(void)state;
	tn_context *context = open_cuda(NULL);
	tn_array *x = stream_numbers(context, 1);
	simcudaForgetCalls();
	for (int i = 0; i < 5; i++) {
		tn_array *y = tn_add(x, x);
		tn_array_destroy(x);
		x = y;
	}
	assert_true(value_of(x) == 32);
	assert_int_equal(simcudaCalls("cudaEvent*"), 0);
	assert_int_equal(simcudaCalls("cudaStreamWaitEvent"), 0);
	tn_context_close(context);
}

/* cuBLAS's handle has one stream at a time: products follow the current one. */
static void products_follow_the_current_stream(void **state)
{
	static const int64_t shape[] = {8, 8};
	float values[64];
	(void)state;
	tn_context *context = open_deferred();
	tn_device *device = tn_device_current(context);
	tn_stream *side = tn_stream_create(device);
	tn_array *a = tn_ones(context, TN_F32, 2, shape), *products[6];
	order_streams(device, NULL, side);
	for (int i = 0; i < 6; i++) {
		if (i % 2)
			assert_ok(tn_stream_push(side));
		tn_array *b = tn_full(context, TN_F32, 2, shape, i);
		products[i] = tn_matmul(a, b);
		tn_array_destroy(b);
		if (i % 2)
			assert_ok(tn_stream_pop(device));
	}
	assert_ok(tn_synchronize(context));
	tn_stream_destroy(side);
	for (int i = 0; i < 6; i++) {
		assert_ok(tn_to_host(products[i], values, sizeof(values)));
		for (int k = 0; k < 64; k++)
			assert_true(values[k] == (float)(8 * i));
	}
	tn_array *last = tn_matmul(a, a);
	assert_ok(tn_to_host(last, values, sizeof(values)));
	assert_true(values[0] == 8);
	close_cuda(context);
}

/* The simulation is the process's, so the second context does not begin it anew. */
static void contexts_share_the_device_and_have_streams_of_their_own(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		const char *path = cuda_file();
		struct tn_context_options options = tn_context_defaults();
		tn_context *one = open_deferred(), *two = NULL;
		options.backend = "cuda";
		options.plugin_paths = &path;
		options.n_plugin_paths = 1;
		options.log = drop_message;
		assert_ok(tn_context_open(&options, &two, NULL));
		check_shared(one, two, i ? two : one);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_order_a_producer_and_a_consumer),
		cmocka_unit_test(memory_is_not_used_again_before_another_stream_has_read_it),
		cmocka_unit_test(pushed_streams_are_a_stack),
		cmocka_unit_test(events_are_reached_in_order),
		cmocka_unit_test(a_replay_runs_in_the_current_stream),
		cmocka_unit_test(closing_the_context_destroys_what_is_left),
		cmocka_unit_test(without_streams_there_are_no_events),
		cmocka_unit_test(products_follow_the_current_stream),
		cmocka_unit_test(contexts_share_the_device_and_have_streams_of_their_own),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
