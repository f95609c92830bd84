/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The errors of the CUDA backend: what is none, and whose name stands in one.
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_not_ready_is_no_error),
		cmocka_unit_test(the_end_of_a_stream_names_what_failed),
		cmocka_unit_test(one_at_a_time_the_culprit_is_named_alone),
		cmocka_unit_test(a_launch_that_fails_is_told_and_forgotten),
	};
	if (access(SIMCUDA_REAL "/libnvrtc.so.13", R_OK))
		return TEST_SKIPPED;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
