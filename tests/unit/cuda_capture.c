/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Capture and replay on the CUDA backend: graphs of the simulated runtime,
 * whose streams are deferred.
 */
#include <unistd.h>

#include "capture_cases.h"
#include "cuda_fixture.h"

/* Each replay was the launch of one graph. */
static void close_and_count(tn_context *context)
{
	assert_int_equal(simcudaCalls("cudaGraphLaunch"), replays_of(context));
	close_cuda(context);
}

static const struct capture_subject subject = {.open = open_deferred, .close = close_and_count};

static void steps_with_norms_are_captured(void **state)
{
	(void)state;
	tn_context *context = open_deferred();
	check_replays_of(context, WITH_LAMB);
	tn_context_close(context);
}

/* Replays launch graphs only: no kernels, copies or allocations by CUDA or the host.  Values that
 * change from step to step are uploaded at once, without waiting. */
static void a_replay_is_one_call(void **state)
{
	tn_graph *graph = NULL;
	(void)state;
	tn_context *context = open_cuda(NULL);
	struct training t = make_training(context, 1);
	set_batch(&t, 0);
	assert_ok(step(&t));
	assert_ok(tn_capture_begin(context));
	assert_ok(step(&t));
	assert_ok(tn_capture_end(context, &graph));
	/* The first one also clears the record of the graph's checks. */
	assert_ok(tn_graph_replay(graph));
	simcudaForgetCalls();
	assert_ok(tn_graph_replay(graph));
	assert_int_equal(simcudaCalls("cudaGraphLaunch"), 1);
	assert_int_equal(simcudaCalls("cudaLaunchKernel"), 0);
	assert_int_equal(simcudaCalls("cudaMalloc*"), 0);
	assert_int_equal(simcudaCalls("cudaMemcpyAsync"), 1);
	assert_int_equal(simcudaCalls("cudaStreamSynchronize"), 0);
	assert_ok(tn_synchronize(context));
	end_training(&t);
	tn_graph_destroy(graph);
	tn_context_close(context);
}

static void a_kernel_of_the_program_lives_as_long_as_the_graph(void **state)
{
	float value = 0;
	tn_graph *graph = NULL;
	(void)state;
	tn_context *context = open_deferred();
	tn_array *x = tn_zeros(context, TN_F32, 1, (int64_t[]){1});
	struct tn_kernel_source source = tn_kernel_source_defaults();
	source.format = "cuda-c";
	source.text = "extern \"C\" __global__ void more(float *x) { x[0] += 1; }";
	source.name = "more";
	tn_kernel *kernel = tn_kernel_compile(context, &source);
	const struct tn_kernel_argument argument = {.array = x};
	const struct tn_kernel_grid grid = {.threads = {1}};
	assert_ok(tn_kernel_launch(kernel, grid, 1, &argument));
	assert_ok(tn_capture_begin(context));
	assert_ok(tn_kernel_launch(kernel, grid, 1, &argument));
	assert_ok(tn_kernel_launch(kernel, grid, 1, &argument));
	tn_kernel_destroy(kernel);
	assert_ok(tn_capture_end(context, &graph));
	assert_ok(tn_graph_replay(graph));
	assert_ok(tn_graph_replay(graph));
	assert_ok(tn_to_host(x, &value, sizeof(value)));
	assert_true(value == 5);
	tn_graph_destroy(graph);
	close_cuda(context);
}

/* The error of a replay names what was captured. */
static void a_fault_names_what_was_captured(void **state)
{
	tn_graph *graph = NULL;
	(void)state;
	tn_context *context = open_deferred();
	tn_array *x = tn_ones(context, TN_F32, 1, (int64_t[]){100});
	tn_array *y = tn_ones(context, TN_F32, 1, (int64_t[]){100});
	assert_ok(tn_add_into(y, y, x));
	assert_ok(tn_synchronize(context));
	assert_ok(tn_capture_begin(context));
	assert_ok(tn_add_into(y, y, x));
	assert_ok(tn_capture_end(context, &graph));
	assert_ok(tn_graph_replay(graph));
	simcudaInject("cudaStreamSynchronize", 1, cudaErrorIllegalAddress, 1);
	assert_int_equal(tn_synchronize(context), TN_DEVICE_LOST);
	assert_error(context, TN_DEVICE_LOST, "map", "it failed on the device");
	tn_graph_destroy(graph);
	tn_context_close(context);
}

/* If CUDA cannot make a graph, the step runs eagerly. */
static void what_cannot_be_captured_goes_on_as_usual(void **state)
{
	tn_graph *graph = NULL;
	double sum = 0;
	(void)state;
	tn_context *context = open_cuda(NULL);
	tn_array *x = tn_ones(context, TN_F32, 1, (int64_t[]){100});
	assert_ok(tn_capture_begin(context));
	assert_non_null(tn_add(x, x));
	simcudaInject("cudaStreamEndCapture", 1, cudaErrorStreamCaptureInvalidated, 0);
	assert_int_equal(tn_capture_end(context, &graph), TN_NOT_CAPTURABLE);
	assert_error(context, TN_NOT_CAPTURABLE, "capture_end", "cudaStreamEndCapture");
	tn_context_close(context);
	context = open_cuda(NULL);
	x = tn_ones(context, TN_F32, 1, (int64_t[]){100});
	assert_ok(tn_capture_begin(context));
	assert_non_null(tn_add(x, x));
	simcudaInject("cudaGraphInstantiate", 1, cudaErrorNotSupported, 0);
	assert_int_equal(tn_capture_end(context, &graph), TN_NOT_CAPTURABLE);
	assert_error(context, TN_NOT_CAPTURABLE, "capture_end", "cudaGraphInstantiate");
	assert_ok(tn_item(tn_sum(tn_add(x, x), TN_ALL_AXES, NULL, 0), &sum));
	assert_true(sum == 200);
	tn_context_close(context);
}

/* x[i] = 2 x[j], whose indices change from replay to replay; a mask has to be counted. */
static void indexing_is_captured_but_for_masks(void **state)
{
	float values[4];
	tn_graph *graph = NULL;
	(void)state;
	tn_context *context = open_deferred();
	const int64_t first[] = {0, 3, 0}, second[] = {2, 2, 1};
	tn_array *x = tn_arange(context, TN_F32, 1, 5, 1);
	tn_array *i = tn_from_host(context, TN_I64, 1, (int64_t[]){3}, first);
	tn_array *j = tn_from_host(context, TN_I64, 1, (int64_t[]){3}, second);
	const struct tn_index_term to = TN_BY(i), from = TN_BY(j);
	for (int is_captured = 0; is_captured < 2; is_captured++) {
		if (is_captured)
			assert_ok(tn_capture_begin(context));
		tn_array *chosen = tn_index(x, 1, &from);
		assert_ok(tn_index_put(x, 1, &to, tn_add(chosen, chosen), TN_PUT_ASSIGN));
		if (is_captured)
			assert_ok(tn_capture_end(context, &graph));
	}
	/* The capture does nothing yet. */
	assert_ok(tn_to_host(x, values, sizeof(values)));
	assert_memory_equal(values, ((const float[]){4, 2, 3, 6}), sizeof(values));
	assert_ok(tn_assign_host(i, second, sizeof(second)));
	assert_ok(tn_assign_host(j, first, sizeof(first)));
	assert_ok(tn_graph_replay(graph));
	assert_ok(tn_to_host(x, values, sizeof(values)));
	assert_memory_equal(values, ((const float[]){4, 8, 12, 6}), sizeof(values));
	tn_graph_destroy(graph);
	assert_ok(tn_capture_begin(context));
	assert_null(tn_flatnonzero(x));
	assert_error(context, TN_NOT_CAPTURABLE, "download", "the host cannot wait");
	assert_ok(tn_capture_end(context, &graph));
	tn_graph_destroy(graph);
	tn_context_close(context);
}

/* If CUDA cannot make the graph, the trainer continues with the same results. */
static void the_trainer_goes_on_without(void **state)
{
	struct history with, without;
	(void)state;
	tn_context *context = open_cuda(NULL);
	assert_ok(train_history(context, train_net(context), TN_CAPTURE_OFF, &without));
	simcudaInject("cudaGraphInstantiate", 1, cudaErrorNotSupported, 0);
	assert_ok(train_history(context, train_net(context), TN_CAPTURE_AUTO, &with));
	assert_int_equal(with.replays, 0);
	assert_same_history(&with, &without);
	simcudaInject("cudaGraphInstantiate", 1, cudaErrorNotSupported, 0);
	assert_int_equal(train_history(context, train_net(context), TN_CAPTURE_ON, &with),
			 TN_NOT_CAPTURABLE);
	assert_error(context, TN_NOT_CAPTURABLE, "capture_end", "cudaGraphInstantiate");
	tn_context_close(context);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(steps_with_norms_are_captured),
		cmocka_unit_test(a_replay_is_one_call),
		cmocka_unit_test(a_kernel_of_the_program_lives_as_long_as_the_graph),
		cmocka_unit_test(a_fault_names_what_was_captured),
		cmocka_unit_test(what_cannot_be_captured_goes_on_as_usual),
		cmocka_unit_test(indexing_is_captured_but_for_masks),
		cmocka_unit_test(the_trainer_goes_on_without),
	};
	if (access(SIMCUDA_REAL "/libnvrtc.so.13", R_OK))
		return TEST_SKIPPED;
	int n_failed = run_capture_cases();
	return n_failed + cmocka_run_group_tests(tests, NULL, NULL);
}
