/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Kernels from CUDA C through the real NVRTC and the interpreter onto the simulated device.
 */
#include "simcuda_fixture.h"

#include <nvrtc.h>
#include <unistd.h>

enum { N = 1000 };

static const char source[] = "extern \"C\" __device__ int offset = 5;\n"
			     "extern \"C\" __global__ void add(float *x, float a, long n)\n"
			     "{\n"
			     "	long i = blockIdx.x * (long)blockDim.x + threadIdx.x;\n"
			     "	if (i < n)\n"
			     "		x[i] += a;\n"
			     "}\n"
			     "extern \"C\" __global__ void late(int *x)\n"
			     "{\n"
			     "	extern __shared__ int shared[];\n"
			     "	shared[threadIdx.x] = threadIdx.x + offset;\n"
			     "	__syncthreads();\n"
			     "	x[threadIdx.x] = shared[blockDim.x - 1 - threadIdx.x];\n"
			     "}\n"
			     "extern \"C\" __global__ void wide(float4 *x)\n"
			     "{\n"
			     "	x[0] = make_float4(1, 2, 3, 4);\n"
			     "}\n";

static char *code;
static cudaLibrary_t library;
static cudaKernel_t add, late, wide;

static int compile(void **state)
{
	const char *const options[] = {"--gpu-architecture=sm_80"};
	nvrtcProgram program = NULL;
	size_t size = 0;
	(void)state;
	assert_int_equal(nvrtcCreateProgram(&program, source, "t.cu", 0, NULL, NULL), 0);
	assert_int_equal(nvrtcCompileProgram(program, 1, options), 0);
	assert_int_equal(nvrtcGetCUBINSize(program, &size), 0);
	code = malloc(size);
	assert_int_equal(nvrtcGetCUBIN(program, code), 0);
	return nvrtcDestroyProgram(&program);
}

static int end(void **state)
{
	(void)state;
	free(code);
	restart_simcuda(NULL);
	return 0;
}

static cudaError_t load(void)
{
	return cudaLibraryLoadData(&library, code, NULL, NULL, 0, NULL, NULL, 0);
}

static void start(const char *const *settings)
{
	restart_simcuda(settings);
	assert_cuda(load(), cudaSuccess);
	assert_cuda(cudaLibraryGetKernel(&add, library, "add"), cudaSuccess);
	assert_cuda(cudaLibraryGetKernel(&late, library, "late"), cudaSuccess);
	assert_cuda(cudaLibraryGetKernel(&wide, library, "wide"), cudaSuccess);
}

static int restart(void **state)
{
	(void)state;
	start(NULL);
	return 0;
}

static float *make_zeros(void)
{
	float *block = NULL;
	assert_cuda(cudaMalloc((void **)&block, N * sizeof(float)), cudaSuccess);
	assert_cuda(cudaMemset(block, 0, N * sizeof(float)), cudaSuccess);
	assert_cuda(cudaDeviceSynchronize(), cudaSuccess);
	return block;
}

static cudaError_t launch_add(float *x, float a, long n, cudaStream_t stream)
{
	void *arguments[] = {&x, &a, &n};
	return cudaLaunchKernel(add, (dim3){(unsigned)(n + 127) / 128, 1, 1}, (dim3){128, 1, 1},
				arguments, 0, stream);
}

static float last_of(const float *block)
{
	float value = 0;
	assert_cuda(cudaMemcpy(&value, block + N - 1, sizeof(value), cudaMemcpyDeviceToHost),
		    cudaSuccess);
	return value;
}

static void a_kernel_computes(void **state)
{
	(void)state;
	float *block = make_zeros();
	struct simcuda_counts before = simcudaCounts();
	assert_cuda(launch_add(block, 1.5f, N, NULL), cudaSuccess);
	assert_close(last_of(block), 1.5, 0);
	assert_int_equal(simcudaCounts().launches - before.launches, 1);
	/* 8 blocks of 4 warps; 4000 bytes are read and written, 32 at a time. */
	assert_true(simcudaCounts().instructions - before.instructions > 32 * 8);
	assert_int_equal(simcudaCounts().sectors - before.sectors, 250);
	assert_int_equal(simcudaCounts().written - before.written, 125);
}

static void arguments_are_read_at_the_call(void **state)
{
	cudaStream_t stream = NULL;
	float a = 2;
	long n = N;
	(void)state;
	start((const char *const[]){"SIMCUDA_DEFER=1", NULL});
	float *block = make_zeros(), *x = block;
	void *arguments[] = {&x, &a, &n};
	assert_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
	assert_cuda(cudaLaunchKernel(add, (dim3){8, 1, 1}, (dim3){128, 1, 1}, arguments, 0, stream),
		    cudaSuccess);
	x = NULL;
	a = 7;
	n = 0;
	assert_cuda(cudaStreamQuery(stream), cudaErrorNotReady);
	assert_cuda(cudaStreamSynchronize(stream), cudaSuccess);
	assert_close(last_of(block), 2, 0);
}

static void a_graph_launches_kernels(void **state)
{
	cudaStream_t stream = NULL;
	cudaGraph_t graph = NULL;
	cudaGraphExec_t exec = NULL;
	(void)state;
	float *block = make_zeros();
	assert_cuda(cudaStreamCreate(&stream), cudaSuccess);
	assert_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
	assert_cuda(launch_add(block, 1, N, stream), cudaSuccess);
	assert_cuda(launch_add(block, 2, N, stream), cudaSuccess);
	assert_cuda(cudaStreamEndCapture(stream, &graph), cudaSuccess);
	assert_cuda(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
	for (int i = 1; i <= 3; i++) {
		assert_cuda(cudaGraphLaunch(exec, stream), cudaSuccess);
		assert_cuda(cudaStreamSynchronize(stream), cudaSuccess);
		assert_close(last_of(block), 3 * i, 0);
	}
}

static void shared_memory_and_variables_are_there(void **state)
{
	int *x = NULL, values[64], *offset = NULL, seven = 7;
	size_t size = 0;
	(void)state;
	assert_cuda(cudaMalloc((void **)&x, sizeof(values)), cudaSuccess);
	assert_cuda(cudaLibraryGetGlobal((void **)&offset, &size, library, "offset"), cudaSuccess);
	assert_int_equal(size, sizeof(int));
	assert_cuda(cudaMemcpy(offset, &seven, sizeof(seven), cudaMemcpyHostToDevice), cudaSuccess);
	void *arguments[] = {&x};
	assert_cuda(cudaLaunchKernel(late, (dim3){1, 1, 1}, (dim3){64, 1, 1}, arguments,
				     64 * sizeof(int), NULL),
		    cudaSuccess);
	assert_cuda(cudaMemcpy(values, x, sizeof(values), cudaMemcpyDeviceToHost), cudaSuccess);
	for (int i = 0; i < 64; i++)
		assert_int_equal(values[i], 63 - i + 7);
}

static void an_access_past_the_end_loses_the_device(void **state)
{
	(void)state;
	float *block = make_zeros();
	assert_cuda(launch_add(block, 1, N + 1, NULL), cudaSuccess);
	assert_cuda(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
	assert_contains(simcudaMessage(), "add");
	assert_contains(simcudaMessage(), "0 bytes past block 1 of 4000 bytes");
	assert_cuda(launch_add(block, 1, N, NULL), cudaErrorIllegalAddress);
}

static void an_address_of_the_host_loses_it_too(void **state)
{
	static float memory[N];
	(void)state;
	assert_cuda(launch_add(memory, 1, N, NULL), cudaSuccess);
	assert_cuda(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
	assert_contains(simcudaMessage(), "an address of the host that is not pinned");
	start(NULL);
	assert_cuda(cudaHostRegister(memory, sizeof(memory), cudaHostRegisterDefault), cudaSuccess);
	assert_cuda(launch_add(memory, 1, N, NULL), cudaSuccess);
	assert_cuda(cudaDeviceSynchronize(), cudaSuccess);
	assert_close(memory[N - 1], 1, 0);
	assert_cuda(cudaHostUnregister(memory), cudaSuccess);
}

static void a_peers_memory_is_out_of_reach_until_it_is_allowed(void **state)
{
	(void)state;
	start((const char *const[]){"SIMCUDA_DEVICES=2", NULL});
	float *block = make_zeros();
	assert_cuda(cudaSetDevice(1), cudaSuccess);
	assert_cuda(cudaDeviceEnablePeerAccess(0, 0), cudaSuccess);
	assert_cuda(launch_add(block, 1, N, NULL), cudaSuccess);
	assert_cuda(cudaDeviceSynchronize(), cudaSuccess);
	assert_cuda(cudaDeviceDisablePeerAccess(0), cudaSuccess);
	assert_cuda(launch_add(block, 1, N, NULL), cudaSuccess);
	assert_cuda(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
	assert_contains(simcudaMessage(), "is on device 0, which device 1 may not reach");
}

/* A pool's access is independent of other peer access. */
static void a_pools_memory_is_opened_by_the_pool(void **state)
{
	struct cudaMemAccessDesc access = {.location = {.type = cudaMemLocationTypeDevice, .id = 1},
					   .flags = cudaMemAccessFlagsProtReadWrite};
	cudaMemPool_t pool = NULL;
	float *block = NULL;
	(void)state;
	start((const char *const[]){"SIMCUDA_DEVICES=2", NULL});
	assert_cuda(cudaMallocAsync((void **)&block, N * sizeof(*block), NULL), cudaSuccess);
	assert_cuda(cudaMemset(block, 0, N * sizeof(*block)), cudaSuccess);
	assert_cuda(cudaDeviceGetMemPool(&pool, 0), cudaSuccess);
	assert_cuda(cudaSetDevice(1), cudaSuccess);
	assert_cuda(cudaDeviceEnablePeerAccess(0, 0), cudaSuccess);
	assert_cuda(cudaMemPoolSetAccess(pool, &access, 1), cudaSuccess);
	assert_cuda(launch_add(block, 1, N, NULL), cudaSuccess);
	assert_cuda(cudaDeviceSynchronize(), cudaSuccess);
	access.location.id = 7;
	assert_cuda(cudaMemPoolSetAccess(pool, &access, 1), cudaErrorInvalidDevice);
	access.location.id = 1;
	access.flags = cudaMemAccessFlagsProtNone;
	assert_cuda(cudaMemPoolSetAccess(pool, &access, 1), cudaSuccess);
	assert_cuda(launch_add(block, 1, N, NULL), cudaSuccess);
	assert_cuda(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
	assert_contains(simcudaMessage(), "is on device 0, which device 1 may not reach");
}

static void a_vector_load_has_to_be_aligned(void **state)
{
	(void)state;
	float *block = make_zeros(), *odd = block + 1;
	void *arguments[] = {&odd};
	assert_cuda(cudaLaunchKernel(wide, (dim3){1, 1, 1}, (dim3){1, 1, 1}, arguments, 0, NULL),
		    cudaSuccess);
	assert_cuda(cudaDeviceSynchronize(), cudaErrorMisalignedAddress);
}

static cudaError_t launch_shape(unsigned grid, unsigned block, size_t shared)
{
	int *x = NULL;
	void *arguments[] = {&x};
	return cudaLaunchKernel(late, (dim3){grid, 1, 1}, (dim3){block, 1, 1}, arguments, shared,
				NULL);
}

static void wrong_launches_are_refused(void **state)
{
	cudaStream_t stream = NULL;
	(void)state;
	start((const char *const[]){"SIMCUDA_DEVICES=2", NULL});
	assert_cuda(launch_shape(1, 1025, 0), cudaErrorInvalidConfiguration);
	assert_cuda(launch_shape(0, 1, 0), cudaErrorInvalidConfiguration);
	assert_cuda(launch_shape(1, 32, 50000), cudaErrorInvalidValue);
	assert_cuda(cudaFuncSetAttribute(late, cudaFuncAttributeMaxDynamicSharedMemorySize, 300000),
		    cudaErrorInvalidValue);
	assert_cuda(cudaLaunchKernel(NULL, (dim3){1, 1, 1}, (dim3){1, 1, 1}, NULL, 0, NULL),
		    cudaErrorInvalidDeviceFunction);
	assert_cuda(cudaLaunchKernel(late, (dim3){1, 1, 1}, (dim3){1, 1, 1}, NULL, 0, NULL),
		    cudaErrorInvalidValue);
	assert_cuda(cudaStreamCreate(&stream), cudaSuccess);
	assert_cuda(cudaSetDevice(1), cudaSuccess);
	assert_cuda(launch_add(NULL, 1, 1, stream), cudaErrorInvalidResourceHandle);
	assert_contains(simcudaMessage(), "the stream is of device 0, the current one is 1");
}

static void more_shared_memory_has_to_be_asked_for(void **state)
{
	int *x = NULL, blocks = 0;
	(void)state;
	struct cudaFuncAttributes attributes;
	assert_cuda(cudaMalloc((void **)&x, 1024 * sizeof(int)), cudaSuccess);
	void *arguments[] = {&x};
	assert_cuda(cudaFuncSetAttribute(late, cudaFuncAttributeMaxDynamicSharedMemorySize, 100000),
		    cudaSuccess);
	assert_cuda(
		cudaLaunchKernel(late, (dim3){1, 1, 1}, (dim3){256, 1, 1}, arguments, 100000, NULL),
		cudaSuccess);
	assert_cuda(cudaDeviceSynchronize(), cudaSuccess);
	assert_cuda(cudaFuncGetAttributes(&attributes, late), cudaSuccess);
	assert_int_equal(attributes.maxDynamicSharedSizeBytes, 100000);
	assert_cuda(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, late, 256, 100000),
		    cudaSuccess);
	assert_int_equal(blocks, 2);
	assert_cuda(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, late, 1024, 0),
		    cudaSuccess);
	assert_int_equal(blocks, 2);
}

static void libraries_are_loaded_and_unloaded(void **state)
{
	cudaKernel_t kernels[9];
	unsigned count = 0;
	const char *name = "";
	char *broken = strdup(code);
	(void)state;
	assert_cuda(cudaLibraryGetKernel(&kernels[0], library, "none"), cudaErrorSymbolNotFound);
	assert_cuda(cudaLibraryGetKernelCount(&count, library), cudaSuccess);
	assert_int_equal(count, 3);
	assert_cuda(cudaLibraryEnumerateKernels(kernels, count, library), cudaSuccess);
	assert_cuda(cudaFuncGetName(&name, kernels[0]), cudaSuccess);
	assert_true(strlen(name) >= 3);
	assert_cuda(cudaLibraryUnload(library), cudaSuccess);
	assert_int_equal(simcudaLive(NULL, 0), 0);
	assert_cuda(cudaLibraryUnload(library), cudaErrorInvalidResourceHandle);
	assert_cuda(launch_add(NULL, 1, 0, NULL), cudaErrorInvalidResourceHandle);
	memcpy(strstr(broken, ".entry"), ".wrong", 6);
	assert_cuda(cudaLibraryLoadData(&library, broken, NULL, NULL, 0, NULL, NULL, 0),
		    cudaErrorInvalidPtx);
	assert_contains(simcudaMessage(), ".wrong");
	free(broken);
	restart_simcuda((const char *const[]){"SIMCUDA_ARCH=75", NULL});
	assert_cuda(load(), cudaErrorNoKernelImageForDevice);
	assert_cuda(cudaLibraryLoadData(&library, "\177ELF", NULL, NULL, 0, NULL, NULL, 0),
		    cudaErrorNoKernelImageForDevice);
}

static void parameters_have_at_most_4096_bytes(void **state)
{
	static const char text[] = ".version 8.0\n.target sm_75\n.address_size 64\n"
				   ".visible .entry large(.param .align 8 .b8 p[4104])\n{\n"
				   "\tret;\n}\n";
	char *fits = strdup(text);
	cudaLibrary_t own;
	(void)state;
	assert_cuda(cudaLibraryLoadData(&own, text, NULL, NULL, 0, NULL, NULL, 0),
		    cudaErrorInvalidPtx);
	assert_contains(simcudaMessage(), "large has 4104 bytes of parameters");
	memcpy(strstr(fits, "4104"), "4096", 4);
	assert_cuda(cudaLibraryLoadData(&own, fits, NULL, NULL, 0, NULL, NULL, 0), cudaSuccess);
	assert_cuda(cudaLibraryUnload(own), cudaSuccess);
	free(fits);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_kernel_computes, restart),
		cmocka_unit_test_setup(parameters_have_at_most_4096_bytes, restart),
		cmocka_unit_test(arguments_are_read_at_the_call),
		cmocka_unit_test_setup(a_graph_launches_kernels, restart),
		cmocka_unit_test_setup(shared_memory_and_variables_are_there, restart),
		cmocka_unit_test_setup(an_access_past_the_end_loses_the_device, restart),
		cmocka_unit_test_setup(an_address_of_the_host_loses_it_too, restart),
		cmocka_unit_test(a_peers_memory_is_out_of_reach_until_it_is_allowed),
		cmocka_unit_test(a_pools_memory_is_opened_by_the_pool),
		cmocka_unit_test_setup(a_vector_load_has_to_be_aligned, restart),
		cmocka_unit_test(wrong_launches_are_refused),
		cmocka_unit_test_setup(more_shared_memory_has_to_be_asked_for, restart),
		cmocka_unit_test_setup(libraries_are_loaded_and_unloaded, restart),
	};
	if (access(SIMCUDA_REAL "/libnvrtc.so.13", R_OK))
		return TEST_SKIPPED;
	return cmocka_run_group_tests(tests, compile, end);
}
