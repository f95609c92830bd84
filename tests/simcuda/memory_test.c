/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The simulated device's memory: permitted accesses, and detected errors.
 */
#include "simcuda_fixture.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static int restart(void **state)
{
	(void)state;
	restart_simcuda(NULL);
	return 0;
}

/* The end of a child process that reads and writes there. */
static int touch_in_child(volatile char *address)
{
	pid_t child = fork();
	int status = 0;
	if (child == 0) {
		signal(SIGSEGV, SIG_DFL);
		*address = *address;
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void the_host_may_not_touch_it(void **state)
{
	char *block = NULL;
	(void)state;
	assert_cuda(cudaMalloc((void **)&block, 100), cudaSuccess);
	assert_int_equal(touch_in_child(block), SIGSEGV);
	assert_cuda(cudaMemset(block, 1, 100), cudaSuccess);
	assert_int_equal(touch_in_child(block), SIGSEGV);
}

static void new_memory_is_not_a_number(void **state)
{
	float *block = NULL, values[25] = {0};
	(void)state;
	assert_cuda(cudaMalloc((void **)&block, sizeof(values)), cudaSuccess);
	assert_cuda(cudaMemcpy(values, block, sizeof(values), cudaMemcpyDeviceToHost), cudaSuccess);
	for (int i = 0; i < 25; i++)
		assert_true(isnan(values[i]));
}

static void what_is_copied_there_and_back_is_the_same(void **state)
{
	char *block = NULL, *other = NULL, text[16] = "";
	(void)state;
	assert_cuda(cudaMalloc((void **)&block, 16), cudaSuccess);
	assert_cuda(cudaMalloc((void **)&other, 16), cudaSuccess);
	assert_cuda(cudaMemcpy(block, "fifteen letters", 16, cudaMemcpyHostToDevice), cudaSuccess);
	assert_cuda(cudaMemcpy(other, block, 16, cudaMemcpyDefault), cudaSuccess);
	assert_cuda(cudaMemcpy(text, other, 16, cudaMemcpyDefault), cudaSuccess);
	assert_string_equal(text, "fifteen letters");
}

static void rows_are_copied_apart(void **state)
{
	char *block = NULL, text[] = "abcdefghi", back[10] = ".........";
	(void)state;
	assert_cuda(cudaMalloc((void **)&block, 32), cudaSuccess);
	assert_cuda(cudaMemset(block, '-', 32), cudaSuccess);
	assert_cuda(cudaMemcpy2D(block, 10, text, 3, 3, 3, cudaMemcpyHostToDevice), cudaSuccess);
	assert_cuda(cudaMemcpy2D(back, 4, block, 10, 2, 2, cudaMemcpyDeviceToHost), cudaSuccess);
	assert_string_equal(back, "ab..de...");
	assert_cuda(cudaMemset2D(block, 10, 'x', 1, 3), cudaSuccess);
	assert_cuda(cudaMemcpy(back, block + 9, 9, cudaMemcpyDeviceToHost), cudaSuccess);
	assert_string_equal(back, "-xef-----");
	assert_cuda(cudaMemcpy2D(block, 10, text, 2, 3, 3, cudaMemcpyHostToDevice),
		    cudaErrorInvalidPitchValue);
	assert_cuda(cudaMemcpy2D(block, 16, text, 3, 3, 3, cudaMemcpyHostToDevice),
		    cudaErrorInvalidValue);
}

static void a_copy_past_the_end_is_refused_and_named(void **state)
{
	char *block = NULL, text[200] = "";
	(void)state;
	assert_cuda(cudaMalloc((void **)&block, 100), cudaSuccess);
	assert_cuda(cudaMemcpy(block, text, 104, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
	assert_contains(simcudaMessage(), "104 bytes");
	assert_contains(simcudaMessage(), "over the end of block 1 of 100 bytes");
	assert_cuda(cudaMemcpy(text, block + 50, 51, cudaMemcpyDeviceToHost),
		    cudaErrorInvalidValue);
	assert_cuda(cudaMemset(block + 100, 0, 1), cudaErrorInvalidValue);
	assert_cuda(cudaDeviceSynchronize(), cudaSuccess);
}

static void a_copy_of_the_wrong_kind_is_refused(void **state)
{
	char *block = NULL, text[100] = "";
	(void)state;
	assert_cuda(cudaMalloc((void **)&block, 100), cudaSuccess);
	assert_cuda(cudaMemcpy(block, text, 100, cudaMemcpyDeviceToHost),
		    cudaErrorInvalidMemcpyDirection);
	assert_contains(simcudaMessage(), "from pageable memory to the device's memory");
	assert_cuda(cudaMemcpy(block, text, 100, cudaMemcpyDeviceToDevice),
		    cudaErrorInvalidMemcpyDirection);
	assert_cuda(cudaMemset(text, 0, 1), cudaErrorInvalidValue);
}

static void a_block_that_was_freed_is_remembered(void **state)
{
	char *block = NULL, text[100] = "";
	(void)state;
	assert_cuda(cudaMalloc((void **)&block, 100), cudaSuccess);
	assert_cuda(cudaFree(block), cudaSuccess);
	assert_cuda(cudaFree(block), cudaErrorInvalidValue);
	assert_contains(simcudaMessage(), "was freed before");
	assert_cuda(cudaMemcpy(text, block, 100, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
	assert_contains(simcudaMessage(), "which was freed");
	assert_cuda(cudaFree(text), cudaErrorInvalidValue);
	assert_cuda(cudaFree(NULL), cudaSuccess);
}

static void memory_ends_and_comes_back(void **state)
{
	char *most = NULL, *more = NULL;
	size_t available = 0, total = 0;
	(void)state;
	setenv("SIMCUDA_MEMORY", "1000000", 1);
	simcudaRestart();
	unsetenv("SIMCUDA_MEMORY");
	assert_cuda(cudaMalloc((void **)&most, 900000), cudaSuccess);
	assert_cuda(cudaMalloc((void **)&more, 200000), cudaErrorMemoryAllocation);
	assert_null(more);
	assert_cuda(cudaMemGetInfo(&available, &total), cudaSuccess);
	assert_int_equal(available, 100000);
	assert_int_equal(total, 1000000);
	assert_cuda(cudaFree(most), cudaSuccess);
	assert_cuda(cudaMalloc((void **)&more, 200000), cudaSuccess);
}

static void addresses_may_run_out_and_start_again(void **state)
{
	char *block = NULL, *before = NULL, *kept = NULL;
	int n = 0;
	(void)state;
	assert_cuda(cudaMalloc((void **)&kept, 1000), cudaSuccess);
	for (; block >= before && n < 100; n++) {
		before = block;
		assert_cuda(cudaMalloc((void **)&block, (size_t)900 << 20), cudaSuccess);
		assert_cuda(cudaFree(block), cudaSuccess);
	}
	assert_true(n > 10 && n < 100);
	assert_true(block > kept);
	assert_cuda(cudaFree(kept), cudaSuccess);
}

static void live_things_are_counted_and_listed(void **state)
{
	char report[500];
	void *block = NULL, *host = NULL;
	cudaStream_t stream = NULL;
	cudaEvent_t event = NULL;
	(void)state;
	assert_int_equal(simcudaLive(report, sizeof(report)), 0);
	assert_string_equal(report, "");
	assert_cuda(cudaMalloc(&block, 77), cudaSuccess);
	assert_cuda(cudaMallocHost(&host, 55), cudaSuccess);
	assert_cuda(cudaStreamCreate(&stream), cudaSuccess);
	assert_cuda(cudaEventCreate(&event), cudaSuccess);
	assert_int_equal(simcudaLive(report, sizeof(report)), 4);
	assert_contains(report, "block 1 of 77 bytes on device 0");
	assert_contains(report, "55 bytes of the host's memory, pinned");
	assert_cuda(cudaFree(block), cudaSuccess);
	assert_cuda(cudaFreeHost(host), cudaSuccess);
	assert_cuda(cudaStreamDestroy(stream), cudaSuccess);
	assert_cuda(cudaEventDestroy(event), cudaSuccess);
	assert_int_equal(simcudaLive(report, sizeof(report)), 0);
}

static void pointers_are_told_apart(void **state)
{
	struct cudaPointerAttributes attributes;
	char *block = NULL, *host = NULL, here = 0;
	(void)state;
	assert_cuda(cudaMalloc((void **)&block, 77), cudaSuccess);
	assert_cuda(cudaHostAlloc((void **)&host, 55, cudaHostAllocMapped), cudaSuccess);
	assert_cuda(cudaPointerGetAttributes(&attributes, block + 76), cudaSuccess);
	assert_int_equal(attributes.type, cudaMemoryTypeDevice);
	assert_int_equal(attributes.device, 0);
	assert_cuda(cudaPointerGetAttributes(&attributes, block + 77), cudaSuccess);
	assert_int_equal(attributes.type, cudaMemoryTypeUnregistered);
	assert_cuda(cudaPointerGetAttributes(&attributes, host + 54), cudaSuccess);
	assert_int_equal(attributes.type, cudaMemoryTypeHost);
	assert_cuda(cudaPointerGetAttributes(&attributes, &here), cudaSuccess);
	assert_int_equal(attributes.type, cudaMemoryTypeUnregistered);
}

static void the_hosts_memory_is_registered_once(void **state)
{
	static char memory[100];
	(void)state;
	assert_cuda(cudaHostUnregister(memory), cudaErrorHostMemoryNotRegistered);
	assert_cuda(cudaHostRegister(memory, 100, cudaHostRegisterDefault), cudaSuccess);
	assert_cuda(cudaHostRegister(memory + 99, 100, cudaHostRegisterDefault),
		    cudaErrorHostMemoryAlreadyRegistered);
	assert_cuda(cudaFreeHost(memory), cudaErrorInvalidValue);
	assert_cuda(cudaHostUnregister(memory), cudaSuccess);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(the_host_may_not_touch_it, restart),
		cmocka_unit_test_setup(new_memory_is_not_a_number, restart),
		cmocka_unit_test_setup(what_is_copied_there_and_back_is_the_same, restart),
		cmocka_unit_test_setup(rows_are_copied_apart, restart),
		cmocka_unit_test_setup(a_copy_past_the_end_is_refused_and_named, restart),
		cmocka_unit_test_setup(a_copy_of_the_wrong_kind_is_refused, restart),
		cmocka_unit_test_setup(a_block_that_was_freed_is_remembered, restart),
		cmocka_unit_test_setup(memory_ends_and_comes_back, restart),
		cmocka_unit_test_setup(addresses_may_run_out_and_start_again, restart),
		cmocka_unit_test_setup(live_things_are_counted_and_listed, restart),
		cmocka_unit_test_setup(pointers_are_told_apart, restart),
		cmocka_unit_test_setup(the_hosts_memory_is_registered_once, restart),
	};
	return cmocka_run_group_tests(tests, NULL, restart);
}
