/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Streams and events: the guaranteed order and, when deferred, no other.
 */
#include "simcuda_fixture.h"

#include <unistd.h>

enum { SEEDS = 20 };

static int restart(void **state)
{
	(void)state;
	restart_simcuda(NULL);
	return 0;
}

static void defer(int seed)
{
	static char text[32];
	snprintf(text, sizeof(text), "SIMCUDA_SEED=%d", seed);
	restart_simcuda((const char *const[]){"SIMCUDA_DEFER=1", text, NULL});
}

static char *make_block(void)
{
	char *block = NULL;
	assert_cuda(cudaMalloc((void **)&block, 16), cudaSuccess);
	assert_cuda(cudaMemset(block, 'a', 16), cudaSuccess);
	assert_cuda(cudaDeviceSynchronize(), cudaSuccess);
	return block;
}

static cudaStream_t make_stream(unsigned flags)
{
	cudaStream_t stream = NULL;
	assert_cuda(cudaStreamCreateWithFlags(&stream, flags), cudaSuccess);
	return stream;
}

static cudaEvent_t make_event(void)
{
	cudaEvent_t event = NULL;
	assert_cuda(cudaEventCreate(&event), cudaSuccess);
	return event;
}

/* A copy into pageable memory waits for `stream` only. */
static char read_on(const char *block, cudaStream_t stream)
{
	char value = 0;
	assert_cuda(cudaMemcpyAsync(&value, block, 1, cudaMemcpyDeviceToHost, stream), cudaSuccess);
	return value;
}

static void set_on(char *block, char value, cudaStream_t stream)
{
	assert_cuda(cudaMemsetAsync(block, value, 16, stream), cudaSuccess);
}

/* ---- Not deferred ----------------------------------------------------------------------------*/

static void work_runs_when_it_is_put(void **state)
{
	(void)state;
	char *block = make_block();
	cudaStream_t stream = make_stream(cudaStreamNonBlocking), other = make_stream(0);
	set_on(block, 'b', stream);
	assert_int_equal(read_on(block, other), 'b');
	assert_cuda(cudaStreamQuery(stream), cudaSuccess);
}

static void what_is_no_handle_is_refused(void **state)
{
	(void)state;
	cudaStream_t stream = make_stream(0);
	cudaEvent_t event = make_event();
	assert_cuda(cudaStreamDestroy(stream), cudaSuccess);
	assert_cuda(cudaStreamDestroy(stream), cudaErrorInvalidResourceHandle);
	assert_cuda(cudaStreamSynchronize(stream), cudaErrorInvalidResourceHandle);
	assert_cuda(cudaEventRecord(event, stream), cudaErrorInvalidResourceHandle);
	assert_cuda(cudaEventDestroy(event), cudaSuccess);
	assert_cuda(cudaEventQuery(event), cudaErrorInvalidResourceHandle);
	assert_cuda(cudaStreamCreateWithFlags(&stream, 8), cudaErrorInvalidValue);
}

static void events_say_how_long_it_took(void **state)
{
	float milliseconds = -1;
	cudaEvent_t start = make_event(), end = make_event(), plain = NULL;
	(void)state;
	assert_cuda(cudaEventElapsedTime(&milliseconds, start, end),
		    cudaErrorInvalidResourceHandle);
	assert_cuda(cudaEventRecord(start, NULL), cudaSuccess);
	usleep(2000);
	assert_cuda(cudaEventRecord(end, NULL), cudaSuccess);
	assert_cuda(cudaEventElapsedTime(&milliseconds, start, end), cudaSuccess);
	assert_true(milliseconds >= 2);
	assert_cuda(cudaEventCreateWithFlags(&plain, cudaEventDisableTiming), cudaSuccess);
	assert_cuda(cudaEventRecord(plain, NULL), cudaSuccess);
	assert_cuda(cudaEventElapsedTime(&milliseconds, start, plain),
		    cudaErrorInvalidResourceHandle);
}

/* ---- Deferred --------------------------------------------------------------------------------*/

static void deferred_work_waits_until_somebody_does(void **state)
{
	(void)state;
	defer(1);
	char *block = make_block();
	cudaStream_t stream = make_stream(cudaStreamNonBlocking);
	cudaStream_t other = make_stream(cudaStreamNonBlocking);
	int seen_before = 0;
	for (int seed = 0; seed < SEEDS; seed++) {
		set_on(block, 'a', stream);
		assert_cuda(cudaStreamSynchronize(stream), cudaSuccess);
		set_on(block, 'b', stream);
		seen_before += read_on(block, other) == 'a';
		assert_cuda(cudaStreamSynchronize(stream), cudaSuccess);
		assert_int_equal(read_on(block, other), 'b');
	}
	assert_true(seen_before > 0 && seen_before < SEEDS);
}

static void one_stream_keeps_its_order(void **state)
{
	(void)state;
	for (int seed = 1; seed <= SEEDS; seed++) {
		defer(seed);
		char *block = make_block();
		cudaStream_t stream = make_stream(cudaStreamNonBlocking);
		set_on(block, 'b', stream);
		set_on(block, 'c', stream);
		set_on(block, 'd', stream);
		assert_int_equal(read_on(block, stream), 'd');
	}
}

static void an_event_orders_two_streams(void **state)
{
	(void)state;
	for (int seed = 1; seed <= SEEDS; seed++) {
		defer(seed);
		char *block = make_block();
		cudaStream_t one = make_stream(cudaStreamNonBlocking);
		cudaStream_t two = make_stream(cudaStreamNonBlocking);
		cudaEvent_t event = make_event();
		set_on(block, 'b', one);
		assert_cuda(cudaEventRecord(event, one), cudaSuccess);
		assert_cuda(cudaStreamWaitEvent(two, event, 0), cudaSuccess);
		/* Neither a later record nor destroying the event changes an earlier wait. */
		assert_cuda(cudaEventRecord(event, two), cudaSuccess);
		assert_cuda(cudaEventDestroy(event), cudaSuccess);
		assert_cuda(cudaStreamDestroy(one), cudaSuccess);
		assert_int_equal(read_on(block, two), 'b');
	}
}

static void the_legacy_stream_orders_blocking_ones_alone(void **state)
{
	int seen_before = 0;
	(void)state;
	for (int seed = 1; seed <= SEEDS; seed++) {
		defer(seed);
		char *block = make_block();
		cudaStream_t blocking = make_stream(0), free = make_stream(cudaStreamNonBlocking);
		set_on(block, 'b', blocking);
		assert_int_equal(read_on(block, NULL), 'b');
		set_on(block, 'c', NULL);
		assert_int_equal(read_on(block, blocking), 'c');
		set_on(block, 'd', free);
		seen_before += read_on(block, NULL) == 'c';
		assert_cuda(cudaStreamSynchronize(free), cudaSuccess);
		set_on(block, 'e', cudaStreamLegacy);
		assert_int_equal(read_on(block, cudaStreamPerThread), 'e');
	}
	assert_true(seen_before > 0 && seen_before < SEEDS);
}

static void asking_again_and_again_comes_to_an_end(void **state)
{
	int asked = 0;
	(void)state;
	defer(1);
	char *block = make_block();
	cudaStream_t stream = make_stream(0);
	cudaEvent_t event = make_event();
	assert_cuda(cudaEventQuery(event), cudaSuccess); /* never recorded */
	set_on(block, 'b', stream);
	assert_cuda(cudaEventRecord(event, stream), cudaSuccess);
	assert_cuda(cudaEventQuery(event), cudaErrorNotReady);
	assert_cuda(cudaGetLastError(), cudaErrorNotReady);
	while (cudaEventQuery(event) == cudaErrorNotReady)
		assert_true(++asked < 100);
	set_on(block, 'c', stream);
	assert_cuda(cudaStreamQuery(stream), cudaErrorNotReady);
	while (cudaStreamQuery(stream) == cudaErrorNotReady)
		assert_true(++asked < 100);
	assert_cuda(cudaEventSynchronize(event), cudaSuccess);
}

static void pinned_memory_is_used_late_and_pageable_at_the_call(void **state)
{
	char *pinned = NULL, pageable[16] = "old", back[16] = "";
	(void)state;
	defer(1);
	char *block = make_block();
	cudaStream_t stream = make_stream(0);
	assert_cuda(cudaMallocHost((void **)&pinned, 16), cudaSuccess);
	snprintf(pinned, 16, "old");
	assert_cuda(cudaMemcpyAsync(block, pageable, 16, cudaMemcpyHostToDevice, stream),
		    cudaSuccess);
	snprintf(pageable, 16, "new");
	assert_cuda(cudaMemcpyAsync(back, block, 16, cudaMemcpyDeviceToHost, stream), cudaSuccess);
	assert_string_equal(back, "old");
	assert_cuda(cudaMemcpyAsync(block, pinned, 16, cudaMemcpyHostToDevice, stream),
		    cudaSuccess);
	snprintf(pinned, 16, "new");
	assert_cuda(cudaMemcpyAsync(back, block, 16, cudaMemcpyDeviceToHost, stream), cudaSuccess);
	assert_string_equal(back, "new");
	set_on(block, 'x', stream);
	assert_cuda(cudaMemcpyAsync(pinned, block, 16, cudaMemcpyDeviceToHost, stream),
		    cudaSuccess);
	assert_string_equal(pinned, "new");
	assert_cuda(cudaStreamSynchronize(stream), cudaSuccess);
	assert_int_equal(pinned[0], 'x');
}

static void host_function(void *argument)
{
	void *block = NULL;
	*(int *)argument += cudaMalloc(&block, 8) == cudaErrorNotPermitted;
}

static void functions_of_the_host_run_in_their_place(void **state)
{
	int called = 0;
	(void)state;
	defer(1);
	cudaStream_t stream = make_stream(0);
	assert_cuda(cudaLaunchHostFunc(stream, host_function, &called), cudaSuccess);
	assert_int_equal(called, 0);
	assert_cuda(cudaStreamSynchronize(stream), cudaSuccess);
	assert_int_equal(called, 1);
}

/* ---- Memory in the order of a stream ---------------------------------------------------------*/

static void memory_is_freed_when_the_stream_gets_there(void **state)
{
	char *block = NULL;
	size_t available = 0, total = 0;
	(void)state;
	defer(1);
	cudaStream_t stream = make_stream(cudaStreamNonBlocking);
	assert_cuda(cudaMallocAsync((void **)&block, 1000, stream), cudaSuccess);
	set_on(block, 'b', stream);
	assert_cuda(cudaFreeAsync(block, stream), cudaSuccess);
	assert_cuda(cudaMemGetInfo(&available, &total), cudaSuccess);
	assert_int_equal(total - available, 1000);
	assert_cuda(cudaStreamSynchronize(stream), cudaSuccess);
	assert_cuda(cudaMemGetInfo(&available, &total), cudaSuccess);
	assert_int_equal(total - available, 0);
	assert_cuda(cudaFreeAsync(block, stream), cudaErrorInvalidValue);
}

static void a_use_after_the_free_loses_the_device(void **state)
{
	char *block = NULL, value = 0;
	(void)state;
	defer(1);
	cudaStream_t stream = make_stream(cudaStreamNonBlocking);
	assert_cuda(cudaMallocAsync((void **)&block, 1000, stream), cudaSuccess);
	assert_cuda(cudaStreamSynchronize(stream), cudaSuccess);
	assert_cuda(cudaFreeAsync(block, stream), cudaSuccess);
	assert_cuda(cudaMemcpyAsync(&value, block, 1, cudaMemcpyDeviceToHost, stream),
		    cudaErrorIllegalAddress);
	assert_contains(simcudaMessage(), "of 1000 bytes, which was freed");
}

static void a_use_in_another_stream_has_to_be_ordered(void **state)
{
	int found = 0;
	(void)state;
	for (int seed = 1; seed <= SEEDS; seed++) {
		char *block = NULL;
		defer(seed);
		cudaStream_t stream = make_stream(cudaStreamNonBlocking);
		cudaStream_t other = make_stream(cudaStreamNonBlocking);
		assert_cuda(cudaMallocAsync((void **)&block, 1000, stream), cudaSuccess);
		assert_cuda(cudaMemsetAsync(block, 0, 1000, other), cudaSuccess);
		cudaError_t error = cudaDeviceSynchronize();
		if (error) {
			found++;
			assert_cuda(error, cudaErrorIllegalAddress);
			assert_contains(simcudaMessage(),
					"whose allocation its stream has not reached");
		}
	}
	assert_true(found > 0 && found < SEEDS);
}

static void pools_count_what_they_hand_out(void **state)
{
	cudaMemPool_t pool = NULL, own = NULL;
	char *block = NULL;
	uint64_t value = 9, threshold = 5000;
	const struct cudaMemPoolProps properties = {
		.allocType = cudaMemAllocationTypePinned,
		.location = {.type = cudaMemLocationTypeDevice, .id = 0}};
	(void)state;
	assert_cuda(cudaDeviceGetDefaultMemPool(&pool, 0), cudaSuccess);
	assert_cuda(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold),
		    cudaSuccess);
	assert_cuda(cudaMallocAsync((void **)&block, 3000, NULL), cudaSuccess);
	assert_cuda(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &value),
		    cudaSuccess);
	assert_int_equal(value, 3000);
	assert_cuda(cudaFreeAsync(block, NULL), cudaSuccess);
	assert_cuda(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &value),
		    cudaSuccess);
	assert_int_equal(value, 0);
	assert_cuda(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &value),
		    cudaSuccess);
	assert_int_equal(value, 3000);
	assert_cuda(cudaMemPoolTrimTo(pool, 1000), cudaSuccess);
	assert_cuda(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &value),
		    cudaSuccess);
	assert_int_equal(value, 1000);
	assert_cuda(cudaMemPoolCreate(&own, &properties), cudaSuccess);
	assert_cuda(cudaMallocFromPoolAsync((void **)&block, 70, own, NULL), cudaSuccess);
	assert_cuda(cudaMemPoolDestroy(own), cudaErrorInvalidValue);
	assert_cuda(cudaFree(block), cudaSuccess);
	assert_cuda(cudaMemPoolDestroy(own), cudaSuccess);
	assert_cuda(cudaMemPoolDestroy(pool), cudaErrorInvalidValue);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(work_runs_when_it_is_put, restart),
		cmocka_unit_test_setup(what_is_no_handle_is_refused, restart),
		cmocka_unit_test_setup(events_say_how_long_it_took, restart),
		cmocka_unit_test(deferred_work_waits_until_somebody_does),
		cmocka_unit_test(one_stream_keeps_its_order),
		cmocka_unit_test(an_event_orders_two_streams),
		cmocka_unit_test(the_legacy_stream_orders_blocking_ones_alone),
		cmocka_unit_test(asking_again_and_again_comes_to_an_end),
		cmocka_unit_test(pinned_memory_is_used_late_and_pageable_at_the_call),
		cmocka_unit_test(functions_of_the_host_run_in_their_place),
		cmocka_unit_test(memory_is_freed_when_the_stream_gets_there),
		cmocka_unit_test(a_use_after_the_free_loses_the_device),
		cmocka_unit_test(a_use_in_another_stream_has_to_be_ordered),
		cmocka_unit_test_setup(pools_count_what_they_hand_out, restart),
	};
	return cmocka_run_group_tests(tests, NULL, restart);
}
