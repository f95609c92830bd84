/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The simulated devices: their number, properties, lasting errors, and faults on demand.
 */
#include "simcuda_fixture.h"

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

static int restart(void **state)
{
	(void)state;
	restart_simcuda(NULL);
	return 0;
}

#define WITH(...) restart_simcuda((const char *const[]){__VA_ARGS__, NULL})

/* ---- Which -----------------------------------------------------------------------------------*/

static void without_a_driver_or_a_device_nothing_works(void **state)
{
	int count = 77, version = 77;
	void *block = NULL;
	(void)state;
	WITH("SIMCUDA_DRIVER=0");
	assert_cuda(cudaGetDeviceCount(&count), cudaErrorInsufficientDriver);
	assert_int_equal(count, 77);
	assert_cuda(cudaMalloc(&block, 8), cudaErrorInsufficientDriver);
	assert_cuda(cudaDriverGetVersion(&version), cudaSuccess);
	assert_int_equal(version, 0);
	WITH("SIMCUDA_DRIVER=12000");
	assert_cuda(cudaGetDeviceCount(&count), cudaErrorInsufficientDriver);
	WITH("SIMCUDA_DEVICES=0");
	assert_cuda(cudaGetDeviceCount(&count), cudaErrorNoDevice);
	assert_cuda(cudaSetDevice(0), cudaErrorNoDevice);
	WITH("CUDA_VISIBLE_DEVICES=");
	assert_cuda(cudaGetDeviceCount(&count), cudaErrorNoDevice);
	assert_int_equal(count, 77);
}

static void devices_can_be_made_visible_in_any_order(void **state)
{
	int count = 0, bus = 0;
	(void)state;
	WITH("SIMCUDA_DEVICES=4", "CUDA_VISIBLE_DEVICES=2,0,9,1");
	assert_cuda(cudaGetDeviceCount(&count), cudaSuccess);
	assert_int_equal(count, 2);
	assert_cuda(cudaDeviceGetAttribute(&bus, cudaDevAttrPciBusId, 0), cudaSuccess);
	assert_int_equal(bus, 3);
	assert_cuda(cudaDeviceGetAttribute(&bus, cudaDevAttrPciBusId, 1), cudaSuccess);
	assert_int_equal(bus, 1);
}

/* The addresses' bus numbers, as digits. */
static void unlike_devices_are_ordered_by_speed(void **state)
{
	static const struct {
		const char *setting, *buses;
	} cases[] = {
		{"SIMCUDA_PEER=1", "231"},
		{"CUDA_DEVICE_ORDER=PCI_BUS_ID", "123"},
		{"CUDA_VISIBLE_DEVICES=1,0", "32"},
		{"CUDA_VISIBLE_DEVICES=0,0", ""},
		{"CUDA_VISIBLE_DEVICES=GPU-73, GPU-75696d75", "13"},
		{"CUDA_VISIBLE_DEVICES=GPU-7,0", ""},
		{"CUDA_VISIBLE_DEVICES=MIG-73", ""},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char found[8] = "";
		int count = 0, bus = 0;
		WITH("SIMCUDA_MODELS=t400,a100,rtx3050", cases[i].setting);
		(void)cudaGetDeviceCount(&count);
		for (int k = 0; k < count; k++) {
			assert_cuda(cudaDeviceGetAttribute(&bus, cudaDevAttrPciBusId, k),
				    cudaSuccess);
			found[k] = (char)('0' + bus);
		}
		assert_string_equal(found, cases[i].buses);
	}
}

static void a_slice_hides_all_else(void **state)
{
	static const char *const visible[] = {
		"SIMCUDA_PEER=1", "CUDA_VISIBLE_DEVICES=1,0", "CUDA_VISIBLE_DEVICES=GPU-74",
		"CUDA_VISIBLE_DEVICES=MIG-74",
		"CUDA_VISIBLE_DEVICES=MIG-GPU-74696d75-6c61-7465-6420-435544412301/1/0"};
	struct cudaDeviceProp properties;
	int count = 0, device = 9;
	size_t total = 0;
	(void)state;
	for (size_t i = 0; i < sizeof(visible) / sizeof(visible[0]); i++) {
		WITH("SIMCUDA_MODELS=a100,a100/10", visible[i]);
		assert_cuda(cudaGetDeviceCount(&count), cudaSuccess);
		assert_int_equal(count, 1);
		assert_cuda(cudaMemGetInfo(&total, &total), cudaSuccess);
		assert_int_equal(total, (size_t)10 << 30);
		assert_cuda(cudaGetDeviceProperties(&properties, 0), cudaSuccess);
		assert_int_equal(properties.pciBusID, 2);
		assert_int_equal(properties.multiProcessorCount, 13);
		assert_cuda(cudaDeviceGetByPCIBusId(&device, "0000:02:00.0"),
			    cudaErrorInvalidValue);
	}
}

static void each_thread_chooses_its_device(void **state)
{
	int device = 9;
	void *block = NULL;
	struct cudaPointerAttributes attributes;
	(void)state;
	WITH("SIMCUDA_DEVICES=2");
	assert_cuda(cudaSetDevice(1), cudaSuccess);
	assert_cuda(cudaGetDevice(&device), cudaSuccess);
	assert_int_equal(device, 1);
	assert_cuda(cudaSetDevice(2), cudaErrorInvalidDevice);
	assert_cuda(cudaMalloc(&block, 8), cudaSuccess);
	assert_cuda(cudaPointerGetAttributes(&attributes, block), cudaSuccess);
	assert_int_equal(attributes.device, 1);
}

static void properties_and_attributes_agree(void **state)
{
	struct cudaDeviceProp properties;
	char bus[16];
	int value = 0, device = 9;
	(void)state;
	WITH("SIMCUDA_DEVICES=2", "SIMCUDA_ARCH=86", "SIMCUDA_MEMORY=123456789");
	assert_cuda(cudaGetDeviceProperties(&properties, 1), cudaSuccess);
	assert_string_equal(properties.name, "Simulated CUDA device sm_86");
	assert_int_equal(properties.major, 8);
	assert_int_equal(properties.minor, 6);
	assert_int_equal(properties.totalGlobalMem, 123456789);
	assert_int_equal(properties.uuid.bytes[15], 1);
	assert_cuda(cudaDeviceGetAttribute(&value, cudaDevAttrMaxSharedMemoryPerBlockOptin, 1),
		    cudaSuccess);
	assert_int_equal(value, properties.sharedMemPerBlockOptin);
	assert_int_equal(value, 99 << 10);
	assert_cuda(cudaDeviceGetAttribute(&value, cudaDevAttrComputeCapabilityMinor, 1),
		    cudaSuccess);
	assert_int_equal(value, 6);
	assert_cuda(cudaDeviceGetAttribute(&value, cudaDevAttrMaxTexture1DWidth, 1),
		    cudaErrorInvalidValue);
	assert_contains(simcudaMessage(), "21 is not simulated");
	assert_cuda(cudaDeviceGetPCIBusId(bus, sizeof(bus), 1), cudaSuccess);
	assert_cuda(cudaDeviceGetByPCIBusId(&device, bus), cudaSuccess);
	assert_int_equal(device, 1);
}

static void the_runtime_is_13_0(void **state)
{
	int version = 0;
	(void)state;
	assert_cuda(cudaRuntimeGetVersion(&version), cudaSuccess);
	assert_int_equal(version, 13000);
}

/* ---- Peers -----------------------------------------------------------------------------------*/

static void peers_reach_each_other_when_they_are_allowed_to(void **state)
{
	int can = 9;
	(void)state;
	WITH("SIMCUDA_DEVICES=2");
	assert_cuda(cudaDeviceCanAccessPeer(&can, 0, 1), cudaSuccess);
	assert_int_equal(can, 1);
	assert_cuda(cudaDeviceDisablePeerAccess(1), cudaErrorPeerAccessNotEnabled);
	assert_cuda(cudaDeviceEnablePeerAccess(1, 0), cudaSuccess);
	assert_cuda(cudaDeviceEnablePeerAccess(1, 0), cudaErrorPeerAccessAlreadyEnabled);
	assert_cuda(cudaDeviceDisablePeerAccess(1), cudaSuccess);
	WITH("SIMCUDA_DEVICES=2", "SIMCUDA_PEER=0");
	assert_cuda(cudaDeviceCanAccessPeer(&can, 0, 1), cudaSuccess);
	assert_int_equal(can, 0);
	assert_cuda(cudaDeviceEnablePeerAccess(1, 0), cudaErrorPeerAccessUnsupported);
}

static void a_copy_between_devices_names_the_right_ones(void **state)
{
	char *one = NULL, *two = NULL, text[8] = "";
	(void)state;
	WITH("SIMCUDA_DEVICES=2");
	assert_cuda(cudaMalloc((void **)&one, 8), cudaSuccess);
	assert_cuda(cudaMemcpy(one, "seven..", 8, cudaMemcpyHostToDevice), cudaSuccess);
	assert_cuda(cudaSetDevice(1), cudaSuccess);
	assert_cuda(cudaMalloc((void **)&two, 8), cudaSuccess);
	assert_cuda(cudaMemcpyPeer(two, 0, one, 1, 8), cudaErrorInvalidValue);
	assert_contains(simcudaMessage(), "the addresses are on 0 and 1");
	assert_cuda(cudaMemcpyPeerAsync(two, 1, one, 0, 8, NULL), cudaSuccess);
	assert_cuda(cudaMemcpy(text, two, 8, cudaMemcpyDeviceToHost), cudaSuccess);
	assert_string_equal(text, "seven..");
}

/* ---- Errors ----------------------------------------------------------------------------------*/

static void the_last_error_is_kept_until_it_is_fetched(void **state)
{
	(void)state;
	assert_cuda(cudaGetLastError(), cudaSuccess);
	assert_cuda(cudaSetDevice(7), cudaErrorInvalidDevice);
	assert_cuda(cudaSetDevice(0), cudaSuccess);
	assert_cuda(cudaPeekAtLastError(), cudaErrorInvalidDevice);
	assert_cuda(cudaGetLastError(), cudaErrorInvalidDevice);
	assert_cuda(cudaGetLastError(), cudaSuccess);
}

static void a_lost_device_answers_every_call_with_its_loss(void **state)
{
	void *block = NULL;
	int version = 0, count = 0;
	(void)state;
	WITH("SIMCUDA_DEVICES=2", "SIMCUDA_FAIL=cudaMalloc:2=719:sticky");
	assert_cuda(cudaMalloc(&block, 8), cudaSuccess);
	assert_cuda(cudaMalloc(&block, 8), cudaErrorLaunchFailure);
	assert_cuda(cudaFree(NULL), cudaErrorLaunchFailure);
	assert_cuda(cudaStreamSynchronize(NULL), cudaErrorLaunchFailure);
	assert_cuda(cudaGetLastError(), cudaErrorLaunchFailure);
	assert_cuda(cudaGetLastError(), cudaErrorLaunchFailure);
	assert_cuda(cudaDeviceReset(), cudaErrorLaunchFailure);
	assert_cuda(cudaRuntimeGetVersion(&version), cudaSuccess);
	assert_cuda(cudaGetDeviceCount(&count), cudaSuccess);
	assert_cuda(cudaSetDevice(1), cudaSuccess);
	assert_cuda(cudaMalloc(&block, 8), cudaSuccess);
	assert_cuda(cudaSetDevice(0), cudaErrorLaunchFailure);
}

static void the_nth_call_fails_and_only_that(void **state)
{
	void *block = NULL;
	size_t total = 0;
	(void)state;
	simcudaInject("cudaMalloc", 2, cudaErrorMemoryAllocation, 0);
	assert_cuda(cudaMalloc(&block, 8), cudaSuccess);
	assert_cuda(cudaMemGetInfo(&total, &total), cudaSuccess);
	assert_cuda(cudaMalloc(&block, 8), cudaErrorMemoryAllocation);
	assert_cuda(cudaMalloc(&block, 8), cudaSuccess);
	assert_int_equal(simcudaCalls("cudaMalloc"), 3);
	assert_int_equal(simcudaCalls("cuda*"), 4);
	simcudaInject("*", 2, cudaErrorUnknown, 0);
	assert_cuda(cudaMalloc(&block, 8), cudaSuccess);
	assert_cuda(cudaMemGetInfo(&total, &total), cudaErrorUnknown);
	assert_cuda(cudaMemGetInfo(&total, &total), cudaSuccess);
	simcudaInject("cudaMalloc", 1, cudaErrorMemoryAllocation, 0);
	simcudaInject("", 0, 0, 0);
	assert_cuda(cudaMalloc(&block, 8), cudaSuccess);
}

static void a_forked_process_cannot_go_on(void **state)
{
	int status = 0;
	void *block = NULL;
	(void)state;
	pid_t child = fork();
	if (child == 0)
		_exit(cudaMalloc(&block, 8) == cudaErrorInitializationError ? 42 : 1);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 42);
}

/* The real library answers these without a driver. */
static void errors_have_the_names_and_texts_of_the_real_ones(void **state)
{
	const char *(*name)(cudaError_t) = NULL, *(*text)(cudaError_t) = NULL;
	int known = 0;
	(void)state;
	void *real = dlopen(SIMCUDA_REAL "/libcudart.so.13", RTLD_NOW | RTLD_LOCAL);
	if (!real)
		skip();
	*(void **)&name = dlsym(real, "cudaGetErrorName");
	*(void **)&text = dlsym(real, "cudaGetErrorString");
	for (int code = 0; code < 1000; code++) {
		if (strcmp(cudaGetErrorName(code), "unrecognized error code") == 0)
			continue;
		known++;
		assert_string_equal(cudaGetErrorName(code), name(code));
		assert_string_equal(cudaGetErrorString(code), text(code));
	}
	assert_true(known > 50);
	dlclose(real);
}

static void a_reset_takes_everything_away(void **state)
{
	void *block = NULL;
	cudaStream_t stream = NULL;
	(void)state;
	assert_cuda(cudaMalloc(&block, 8), cudaSuccess);
	assert_cuda(cudaStreamCreate(&stream), cudaSuccess);
	assert_cuda(cudaDeviceReset(), cudaSuccess);
	assert_int_equal(simcudaLive(NULL, 0), 0);
	assert_cuda(cudaFree(block), cudaErrorInvalidValue);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_driver_or_a_device_nothing_works),
		cmocka_unit_test(devices_can_be_made_visible_in_any_order),
		cmocka_unit_test(unlike_devices_are_ordered_by_speed),
		cmocka_unit_test(a_slice_hides_all_else),
		cmocka_unit_test(each_thread_chooses_its_device),
		cmocka_unit_test(properties_and_attributes_agree),
		cmocka_unit_test_setup(the_runtime_is_13_0, restart),
		cmocka_unit_test(peers_reach_each_other_when_they_are_allowed_to),
		cmocka_unit_test(a_copy_between_devices_names_the_right_ones),
		cmocka_unit_test_setup(the_last_error_is_kept_until_it_is_fetched, restart),
		cmocka_unit_test(a_lost_device_answers_every_call_with_its_loss),
		cmocka_unit_test_setup(the_nth_call_fails_and_only_that, restart),
		cmocka_unit_test_setup(a_forked_process_cannot_go_on, restart),
		cmocka_unit_test_setup(errors_have_the_names_and_texts_of_the_real_ones, restart),
		cmocka_unit_test_setup(a_reset_takes_everything_away, restart),
	};
	return cmocka_run_group_tests(tests, NULL, restart);
}
