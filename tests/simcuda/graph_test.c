/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Capture of streams: the contents of a graph, the end of a capture, and the graph's replay.
 */
#include "simcuda_fixture.h"

static int restart(void **state)
{
	(void)state;
	restart_simcuda(NULL);
	return 0;
}

static char *make_block(void)
{
	char *block = NULL;
	assert_cuda(cudaMalloc((void **)&block, 16), cudaSuccess);
	assert_cuda(cudaMemset(block, 'a', 16), cudaSuccess);
	return block;
}

static char read(const char *block)
{
	char value = 0;
	assert_cuda(cudaMemcpy(&value, block, 1, cudaMemcpyDeviceToHost), cudaSuccess);
	return value;
}

static cudaStream_t make_stream(void)
{
	cudaStream_t stream = NULL;
	assert_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
	return stream;
}

static cudaStream_t begin(enum cudaStreamCaptureMode mode)
{
	cudaStream_t stream = make_stream();
	assert_cuda(cudaStreamBeginCapture(stream, mode), cudaSuccess);
	return stream;
}

/* The capture has to be invalid, and to end with that. */
static void assert_invalidated(cudaStream_t stream)
{
	enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
	cudaGraph_t graph = (cudaGraph_t)&status;
	assert_cuda(cudaStreamIsCapturing(stream, &status), cudaSuccess);
	assert_int_equal(status, cudaStreamCaptureStatusInvalidated);
	assert_cuda(cudaMemsetAsync(NULL, 0, 0, stream), cudaSuccess);
	assert_cuda(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
	assert_null(graph);
	assert_cuda(cudaStreamIsCapturing(stream, &status), cudaSuccess);
	assert_int_equal(status, cudaStreamCaptureStatusNone);
}

/* ---- Replay ----------------------------------------------------------------------------------*/

static void a_graph_replays_what_was_captured(void **state)
{
	cudaGraph_t graph = NULL;
	cudaGraphExec_t exec = NULL;
	size_t nodes = 0;
	(void)state;
	char *one = make_block(), *two = make_block();
	cudaStream_t stream = begin(cudaStreamCaptureModeGlobal);
	assert_cuda(cudaMemsetAsync(one, 'b', 16, stream), cudaSuccess);
	assert_cuda(cudaMemcpyAsync(two, one, 16, cudaMemcpyDeviceToDevice, stream), cudaSuccess);
	assert_cuda(cudaStreamEndCapture(stream, &graph), cudaSuccess);
	assert_int_equal(read(two), 'a');
	assert_cuda(cudaGraphGetNodes(graph, NULL, &nodes), cudaSuccess);
	assert_int_equal(nodes, 2);
	assert_cuda(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
	assert_cuda(cudaGraphDestroy(graph), cudaSuccess);
	assert_cuda(cudaGraphDestroy(graph), cudaErrorInvalidValue);
	for (int i = 0; i < 2; i++) {
		assert_cuda(cudaMemset(two, 'x', 16), cudaSuccess);
		assert_cuda(cudaGraphLaunch(exec, stream), cudaSuccess);
		assert_int_equal(read(two), 'b');
	}
	assert_cuda(cudaGraphExecDestroy(exec), cudaSuccess);
	assert_cuda(cudaGraphLaunch(exec, stream), cudaErrorInvalidValue);
}

static void a_graph_uses_its_memory_anew_each_time(void **state)
{
	cudaGraph_t graph = NULL;
	cudaGraphExec_t exec = NULL;
	char *block = NULL, *result = make_block();
	(void)state;
	cudaStream_t stream = begin(cudaStreamCaptureModeGlobal);
	assert_cuda(cudaMallocAsync((void **)&block, 16, stream), cudaSuccess);
	assert_cuda(cudaMemsetAsync(block, 'c', 16, stream), cudaSuccess);
	assert_cuda(cudaMemcpyAsync(result, block, 16, cudaMemcpyDeviceToDevice, stream),
		    cudaSuccess);
	assert_cuda(cudaFreeAsync(block, stream), cudaSuccess);
	assert_cuda(cudaStreamEndCapture(stream, &graph), cudaSuccess);
	assert_cuda(cudaGraphInstantiateWithFlags(&exec, graph, 0), cudaSuccess);
	for (int i = 0; i < 3; i++) {
		assert_cuda(cudaMemset(result, 'x', 16), cudaSuccess);
		assert_cuda(cudaGraphLaunch(exec, stream), cudaSuccess);
		assert_int_equal(read(result), 'c');
	}
}

static void a_graph_is_updated_by_one_that_is_alike(void **state)
{
	cudaGraph_t graphs[3] = {NULL, NULL, NULL};
	cudaGraphExec_t exec = NULL;
	cudaGraphExecUpdateResultInfo info;
	(void)state;
	char *block = make_block();
	for (int i = 0; i < 3; i++) {
		cudaStream_t stream = begin(cudaStreamCaptureModeRelaxed);
		for (int n = 0; n <= i / 2; n++)
			assert_cuda(cudaMemsetAsync(block, 'b' + i, 16, stream), cudaSuccess);
		assert_cuda(cudaStreamEndCapture(stream, &graphs[i]), cudaSuccess);
	}
	assert_cuda(cudaGraphInstantiate(&exec, graphs[0], 0), cudaSuccess);
	assert_cuda(cudaGraphExecUpdate(exec, graphs[1], &info), cudaSuccess);
	assert_cuda(cudaGraphLaunch(exec, NULL), cudaSuccess);
	assert_int_equal(read(block), 'c');
	assert_cuda(cudaGraphExecUpdate(exec, graphs[2], &info), cudaErrorGraphExecUpdateFailure);
	assert_int_equal(info.result, cudaGraphExecUpdateErrorTopologyChanged);
}

/* ---- Two streams -----------------------------------------------------------------------------*/

static void a_stream_joins_by_an_event_and_has_to_come_back(void **state)
{
	cudaGraph_t graph = NULL;
	cudaEvent_t fork = NULL, join = NULL;
	(void)state;
	char *block = make_block();
	assert_cuda(cudaEventCreate(&fork), cudaSuccess);
	assert_cuda(cudaEventCreate(&join), cudaSuccess);
	for (int joins = 0; joins < 2; joins++) {
		cudaStream_t one = begin(cudaStreamCaptureModeGlobal), two = make_stream();
		assert_cuda(cudaEventRecord(fork, one), cudaSuccess);
		assert_cuda(cudaStreamWaitEvent(two, fork, 0), cudaSuccess);
		assert_cuda(cudaMemsetAsync(block, 'b', 16, two), cudaSuccess);
		assert_cuda(cudaEventRecord(join, two), cudaSuccess);
		assert_cuda(cudaEventSynchronize(join), cudaErrorCapturedEvent);
		if (joins)
			assert_cuda(cudaStreamWaitEvent(one, join, 0), cudaSuccess);
		assert_cuda(cudaStreamEndCapture(one, &graph),
			    joins ? cudaSuccess : cudaErrorStreamCaptureUnjoined);
		assert_cuda(cudaStreamQuery(two), cudaSuccess);
	}
	assert_int_equal(read(block), 'a');
}

static void an_event_from_outside_ends_a_capture(void **state)
{
	cudaEvent_t event = NULL;
	cudaStream_t outside = make_stream();
	(void)state;
	assert_cuda(cudaEventCreate(&event), cudaSuccess);
	assert_cuda(cudaEventRecord(event, outside), cudaSuccess);
	cudaStream_t stream = begin(cudaStreamCaptureModeGlobal);
	assert_cuda(cudaStreamWaitEvent(stream, event, 0), cudaErrorStreamCaptureIsolation);
	assert_invalidated(stream);
}

/* ---- What is not allowed ---------------------------------------------------------------------*/

static void calls_that_wait_or_allocate_end_a_capture(void **state)
{
	void *block = make_block();
	char value = 0;
	(void)state;
	cudaStream_t stream = begin(cudaStreamCaptureModeGlobal);
	assert_cuda(cudaStreamSynchronize(stream), cudaErrorStreamCaptureUnsupported);
	assert_invalidated(stream);
	stream = begin(cudaStreamCaptureModeGlobal);
	assert_cuda(cudaMalloc(&block, 8), cudaErrorStreamCaptureUnsupported);
	assert_invalidated(stream);
	stream = begin(cudaStreamCaptureModeThreadLocal);
	assert_cuda(cudaDeviceSynchronize(), cudaErrorStreamCaptureUnsupported);
	assert_invalidated(stream);
	stream = begin(cudaStreamCaptureModeGlobal);
	assert_cuda(cudaMemcpy(&value, block, 1, cudaMemcpyDeviceToHost),
		    cudaErrorStreamCaptureUnsupported);
	assert_invalidated(stream);
}

static void a_relaxed_capture_stands_them(void **state)
{
	void *block = NULL;
	cudaGraph_t graph = NULL;
	enum cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
	(void)state;
	cudaStream_t stream = begin(cudaStreamCaptureModeRelaxed);
	assert_cuda(cudaMalloc(&block, 8), cudaSuccess);
	assert_cuda(cudaStreamEndCapture(stream, &graph), cudaSuccess);
	stream = begin(cudaStreamCaptureModeGlobal);
	assert_cuda(cudaThreadExchangeStreamCaptureMode(&mode), cudaSuccess);
	assert_int_equal(mode, cudaStreamCaptureModeGlobal);
	assert_cuda(cudaMalloc(&block, 8), cudaSuccess);
	assert_cuda(cudaThreadExchangeStreamCaptureMode(&mode), cudaSuccess);
	assert_cuda(cudaStreamEndCapture(stream, &graph), cudaSuccess);
}

static void the_legacy_stream_neither_captures_nor_goes_beside_it(void **state)
{
	cudaStream_t stream = NULL;
	cudaGraph_t graph = NULL;
	(void)state;
	char *block = make_block();
	assert_cuda(cudaStreamBeginCapture(NULL, cudaStreamCaptureModeGlobal),
		    cudaErrorStreamCaptureUnsupported);
	assert_cuda(cudaStreamEndCapture(make_stream(), &graph), cudaErrorIllegalState);
	assert_cuda(cudaStreamCreate(&stream), cudaSuccess);
	assert_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
	assert_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal),
		    cudaErrorIllegalState);
	assert_cuda(cudaMemsetAsync(block, 'b', 16, NULL), cudaErrorStreamCaptureImplicit);
	assert_invalidated(stream);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_graph_replays_what_was_captured, restart),
		cmocka_unit_test_setup(a_graph_uses_its_memory_anew_each_time, restart),
		cmocka_unit_test_setup(a_graph_is_updated_by_one_that_is_alike, restart),
		cmocka_unit_test_setup(a_stream_joins_by_an_event_and_has_to_come_back, restart),
		cmocka_unit_test_setup(an_event_from_outside_ends_a_capture, restart),
		cmocka_unit_test_setup(calls_that_wait_or_allocate_end_a_capture, restart),
		cmocka_unit_test_setup(a_relaxed_capture_stands_them, restart),
		cmocka_unit_test_setup(the_legacy_stream_neither_captures_nor_goes_beside_it,
				       restart),
	};
	return cmocka_run_group_tests(tests, NULL, restart);
}
