/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Errors that come later, on the CUDA backend with deferred streams.
 */
#include "cuda_fixture.h"
#include "late_cases.h"

static const struct late_subject subject = {
	.open = open_deferred,
	.close = close_cuda,
	.takes = LATER,
};

/* The first check clears its record without waiting. */
static void a_check_does_not_wait(void **state)
{
	(void)state;
	const int32_t bad = 9;
	tn_context *context = open_deferred();
	tn_array *x = tn_ones(context, TN_F32, 1, (int64_t[]){4});
	tn_array *index = tn_from_host(context, TN_I32, 1, (int64_t[]){1}, &bad);
	simcudaForgetCalls();
	assert_non_null(tn_take(x, index, 0, TN_RAISE));
	assert_non_null(tn_take(x, index, 0, TN_RAISE));
	assert_int_equal(simcudaCalls("cudaStreamSynchronize"), 0);
	assert_status(tn_synchronize(context), TN_INVALID_ARGUMENT);
	check_index_error(context, "take", "cuda:0: index 9 is out of range");
	assert_ok(tn_synchronize(context));
	/* Nothing is read back where no index was used. */
	simcudaForgetCalls();
	assert_non_null(tn_add(x, x));
	assert_ok(tn_synchronize(context));
	assert_int_equal(simcudaCalls("cudaMemcpyAsync"), 0);
	tn_context_close(context);
}

/* An index, which CUDA takes natively. */
static void an_index_of_a_later_replay_is_reported(void **state)
{
	(void)state;
	const int64_t numbers[] = {3, -5};
	tn_graph *graph = NULL;
	double value;
	tn_context *context = open_deferred();
	tn_array *x = tn_ones(context, TN_F32, 1, (int64_t[]){4});
	tn_array *index = tn_from_host(context, TN_I64, 1, (int64_t[]){1}, numbers);
	assert_ok(tn_capture_begin(context));
	tn_array *taken = tn_take(x, index, 0, TN_RAISE);
	assert_ok(tn_capture_end(context, &graph));
	assert_ok(tn_graph_replay(graph));
	assert_ok(tn_item(taken, &value));
	assert_true(value == 1);
	assert_ok(tn_assign_host(index, numbers + 1, sizeof(*numbers)));
	assert_ok(tn_graph_replay(graph));
	assert_ok(tn_graph_replay(graph));
	assert_status(tn_item(taken, &value), TN_INVALID_ARGUMENT);
	check_index_error(context, "take", "index -5 is out of range: the axis has length 4");
	assert_ok(tn_item(taken, &value));
	assert_true(value == 0);
	tn_graph_destroy(graph);
	tn_context_close(context);
}

/* An upload does not wait for earlier work, and reports its error. */
static void a_copy_to_the_device_reports_what_is_known(void **state)
{
	(void)state;
	const float values[4] = {0};
	tn_context *context = open_deferred();
	tn_array *x = tn_ones(context, TN_F32, 1, (int64_t[]){4});
	assert_ok(tn_synchronize(context));
	assert_non_null(tn_add(x, x));
	simcudaInject("cudaStreamQuery", 1, cudaErrorIllegalAddress, 1);
	assert_status(tn_assign_host(x, values, sizeof(values)), TN_DEVICE_LOST);
	assert_error(context, TN_DEVICE_LOST, "map", "it failed on the device");
	tn_context_close(context);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_check_does_not_wait),
		cmocka_unit_test(an_index_of_a_later_replay_is_reported),
		cmocka_unit_test(a_copy_to_the_device_reports_what_is_known),
	};
	int n_failed = run_late_cases();
	return n_failed + cmocka_run_group_tests(tests, NULL, NULL);
}
