/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Host buffers and memory of CUDA's own interface, on a simulated device whose streams are deferred
 * until somebody waits.
 */
#include "cuda_fixture.h"

#define SETTINGS(...) ((const char *const[]){__VA_ARGS__, NULL})

enum { N = 1000 };

/* ---- Host buffers ----------------------------------------------------------------------------*/

static void transfers_with_pinned_memory_do_not_wait(void **state)
{
	(void)state;
	tn_context *context = open_cuda(SETTINGS("SIMCUDA_DEFER=1"));
	tn_device *device = tn_device_current(context);
	simcudaForgetCalls();
	tn_host_buffer *buffer = tn_host_buffer_create(device, 2 * N * sizeof(float));
	assert_int_equal(simcudaCalls("cudaHostAlloc"), 1);
	assert_true(tn_host_buffer_is_pinned(buffer));
	float *data = tn_host_buffer_data(buffer);
	memset(data, 0, 2 * N * sizeof(float));
	for (int i = 0; i < N; i++)
		data[i] = (float)i;
	tn_array *x = tn_zeros(context, TN_F32, 1, (int64_t[]){N});
	simcudaForgetCalls();
	assert_ok(tn_assign_host_async(x, buffer, 0));
	assert_ok(tn_to_host_async(tn_add(x, x), buffer, N * sizeof(float)));
	assert_int_equal(simcudaCalls("cudaMemcpyAsync"), 2);
	assert_int_equal(simcudaCalls("cudaStreamSynchronize"), 0);
	assert_true(data[2 * N - 1] == 0);
	assert_ok(tn_synchronize(context));
	for (int i = 0; i < N; i++)
		assert_true(data[N + i] == (float)(2 * i));
	tn_host_buffer_destroy(buffer);
	assert_int_equal(simcudaCalls("cudaFreeHost"), 1);
	close_cuda(context);
}

static void pinned_memory_is_freed_after_its_transfers(void **state)
{
	float found[N];
	(void)state;
	tn_context *context = open_cuda(SETTINGS("SIMCUDA_DEFER=1"));
	tn_device *device = tn_device_current(context);
	tn_host_buffer *buffer = tn_host_buffer_create(device, sizeof(found));
	float *data = tn_host_buffer_data(buffer);
	for (int i = 0; i < N; i++)
		data[i] = (float)i;
	tn_array *x = tn_zeros(context, TN_F32, 1, (int64_t[]){N});
	assert_ok(tn_synchronize(context));
	simcudaForgetCalls();
	assert_ok(tn_assign_host_async(x, buffer, 0));
	tn_host_buffer_destroy(buffer);
	assert_int_equal(simcudaCalls("cudaStreamSynchronize"), 1);
	assert_ok(tn_to_host(x, found, sizeof(found)));
	assert_true(found[N - 1] == N - 1);
	/* One that is left to the context. */
	assert_ok(tn_to_host_async(x, tn_host_buffer_create(device, sizeof(found)), 0));
	close_cuda(context);
}

/* ---- Imported memory -------------------------------------------------------------------------*/

static void count_up(void *user)
{
	++*(int *)user;
}

static tn_array *import(tn_context *context, void *memory, uint64_t bytes, int64_t offset,
			int *returned)
{
	struct tn_wrap_options wrap = tn_wrap_defaults();
	wrap.dtype = TN_F32;
	wrap.rank = 1;
	wrap.shape = (const int64_t[]){N};
	wrap.offset = offset;
	wrap.data = memory;
	wrap.size_bytes = bytes;
	wrap.release = count_up;
	wrap.user = returned;
	return tn_array_import(tn_device_current(context), &wrap);
}

/* The offset gives an address that vectors of four elements do not allow. */
static void memory_of_the_runtime_is_used_in_place(void **state)
{
	float numbers[N + 1], found[N + 1];
	void *memory = NULL, *data = NULL;
	uint64_t offset = 0;
	int returned = 0;
	(void)state;
	for (int i = 0; i <= N; i++)
		numbers[i] = (float)i;
	tn_context *context = open_cuda(SETTINGS("SIMCUDA_DEFER=1"));
	assert_cuda(cudaMalloc(&memory, sizeof(numbers)), cudaSuccess);
	assert_cuda(cudaMemcpy(memory, numbers, sizeof(numbers), cudaMemcpyHostToDevice),
		    cudaSuccess);
	tn_array *x = import(context, memory, sizeof(numbers), 1, &returned);
	assert_ok(tn_to_host(x, found, N * sizeof(float)));
	assert_true(found[0] == 1 && found[N - 1] == N);
	assert_ok(tn_add_into(x, x, x));
	assert_ok(tn_array_export(x, &data, &offset));
	assert_ptr_equal(data, memory);
	assert_int_equal(offset, sizeof(float));
	simcudaForgetCalls();
	tn_array_destroy(x);
	assert_int_equal(returned, 1);
	assert_true(simcudaCalls("cudaStreamSynchronize") > 0);
	assert_cuda(cudaMemcpy(found, memory, sizeof(found), cudaMemcpyDeviceToHost), cudaSuccess);
	assert_true(found[0] == 0 && found[1] == 2 && found[N] == 2 * N);
	assert_cuda(cudaFree(memory), cudaSuccess);
	close_cuda(context);
}

static void an_array_is_given_to_others_by_its_pointer(void **state)
{
	void *data = NULL;
	uint64_t offset = 0;
	float found = 0;
	int returned = 0;
	(void)state;
	tn_context *context = open_cuda(SETTINGS("SIMCUDA_DEFER=1"));
	tn_array *x = tn_full(context, TN_F32, 1, (int64_t[]){2 * N}, 3);
	tn_array *half = tn_slice(x, 0, N, 2 * N, 1);
	assert_ok(tn_array_export(half, &data, &offset));
	assert_ok(tn_synchronize(context));
	assert_cuda(
		cudaMemcpy(&found, (char *)data + offset, sizeof(found), cudaMemcpyDeviceToHost),
		cudaSuccess);
	assert_true(found == 3);
	/* And back in: the same memory under another array. */
	tn_array *again = import(context, (char *)data + offset, N * sizeof(float), 0, &returned);
	assert_ok(tn_fill(again, 5));
	double sum = 0;
	assert_ok(tn_item(tn_sum(x, TN_ALL_AXES, NULL, 0), &sum));
	assert_true(sum == 8 * N);
	tn_array_destroy(again);
	assert_int_equal(returned, 1);
	close_cuda(context);
}

static void what_is_no_memory_of_the_device_is_refused(void **state)
{
	static float mine[N];
	void *other = NULL, *here = NULL;
	int returned = 0;
	(void)state;
	tn_context *context = open_cuda(SETTINGS("SIMCUDA_DEVICES=2"));
	assert_null(import(context, mine, sizeof(mine), 0, &returned));
	assert_error(context, TN_INVALID_ARGUMENT, "import_memory", "is not an address of this");
	assert_cuda(cudaSetDevice(1), cudaSuccess);
	assert_cuda(cudaMalloc(&other, sizeof(mine)), cudaSuccess);
	assert_null(import(context, other, sizeof(mine), 0, &returned));
	assert_error(context, TN_INVALID_ARGUMENT, "import_memory",
		     "is memory of CUDA's device 1, not of 0");
	assert_cuda(cudaFree(other), cudaSuccess);
	assert_cuda(cudaSetDevice(0), cudaSuccess);
	assert_cuda(cudaMalloc(&here, sizeof(mine)), cudaSuccess);
	assert_null(import(context, here, UINT64_C(1) << 40, 0, &returned));
	assert_error(context, TN_INVALID_ARGUMENT, "import_memory", "is not an address of this");
	assert_cuda(cudaFree(here), cudaSuccess);
	assert_int_equal(returned, 0);
	/* Pinned memory of the host is within its reach. */
	assert_cuda(cudaHostAlloc(&here, sizeof(mine), cudaHostAllocMapped), cudaSuccess);
	memset(here, 0, sizeof(mine));
	tn_array *x = import(context, here, sizeof(mine), 0, &returned);
	assert_ok(tn_fill(x, 4));
	tn_array_destroy(x);
	assert_int_equal(returned, 1);
	assert_true(((float *)here)[N - 1] == 4);
	assert_cuda(cudaFreeHost(here), cudaSuccess);
	close_cuda(context);
}

/* ---- DLPack ----------------------------------------------------------------------------------*/

static void arrays_of_the_device_are_lent_by_dlpack(void **state)
{
	float found = 0;
	(void)state;
	tn_context *context = open_cuda(SETTINGS("SIMCUDA_DEFER=1"));
	tn_array *x = tn_full(context, TN_F32, 1, (int64_t[]){2 * N}, 3);
	tn_array *half = tn_slice(x, 0, N, 2 * N, 1);
	simcudaForgetCalls();
	struct tn_to_dlpack_options to_dlpack = tn_to_dlpack_defaults();
	to_dlpack.stream = -1;
	struct tn_dlpack_managed *managed = tn_to_dlpack(half, &to_dlpack);
	assert_int_equal(simcudaCalls("cudaStreamSynchronize"), 0);
	managed->deleter(managed);
	/* For any stream of the consumer's the elements are there. */
	to_dlpack.stream = 0;
	managed = tn_to_dlpack(half, &to_dlpack);
	assert_true(simcudaCalls("cudaStreamSynchronize") > 0);
	assert_int_equal(managed->tensor.device.type, TN_DLPACK_CUDA);
	assert_int_equal(managed->tensor.device.id, 0);
	assert_cuda(cudaMemcpy(&found, managed->tensor.data, sizeof(found), cudaMemcpyDeviceToHost),
		    cudaSuccess);
	assert_true(found == 3);
	/* And back in: the same memory. */
	tn_array *again = tn_from_dlpack(context, managed, NULL);
	assert_ptr_equal(tn_array_device(again), tn_device_current(context));
	assert_ok(tn_fill(again, 5));
	assert_ok(tn_item(tn_slice(x, 0, N, N + 1, 1), &(double){0}));
	tn_array_destroy(again);
	tn_array_destroy(half);
	/* Its memory on the host is a copy. */
	to_dlpack = tn_to_dlpack_defaults();
	to_dlpack.on_host = 1;
	managed = tn_to_dlpack(x, &to_dlpack);
	assert_int_equal(managed->tensor.device.type, TN_DLPACK_CPU);
	assert_int_equal(managed->flags, TN_DLPACK_COPIED);
	assert_true(((float *)managed->tensor.data)[N - 1] == 3);
	assert_true(((float *)managed->tensor.data)[N] == 5);
	/* The device closes with the last deleter, after its context. */
	struct tn_dlpack_managed *last = tn_to_dlpack(x, NULL);
	managed->deleter(managed);
	tn_context_close(context);
	assert_true(simcudaLive(NULL, 0) > 0);
	last->deleter(last);
	assert_int_equal(simcudaLive(NULL, 0), 0);
}

static void delete_tensor(struct tn_dlpack_managed *managed)
{
	++*(int *)managed->manager_ctx;
}

static void memory_of_others_is_taken_by_dlpack(void **state)
{
	float numbers[N], found[N];
	void *memory = NULL;
	int deleted = 0;
	(void)state;
	for (int i = 0; i < N; i++)
		numbers[i] = (float)i;
	tn_context *context = open_cuda(SETTINGS("SIMCUDA_DEFER=1"));
	assert_cuda(cudaMalloc(&memory, sizeof(numbers)), cudaSuccess);
	assert_cuda(cudaMemcpy(memory, numbers, sizeof(numbers), cudaMemcpyHostToDevice),
		    cudaSuccess);
	struct tn_dlpack_managed managed = {.version = {1, 1},
					    .manager_ctx = &deleted,
					    .deleter = delete_tensor,
					    .tensor = {.data = memory,
						       .device = {TN_DLPACK_CUDA, 0},
						       .ndim = 1,
						       .dtype = {TN_DLPACK_FLOAT, 32, 1},
						       .shape = (int64_t[]){N / 2},
						       .strides = (int64_t[]){-2},
						       .byte_offset = (N - 1) * sizeof(float)}};
	tn_array *x = tn_from_dlpack(context, &managed, NULL);
	assert_ok(tn_to_host(x, found, N / 2 * sizeof(float)));
	assert_true(found[0] == N - 1 && found[N / 2 - 1] == 1);
	assert_ok(tn_fill(x, 7));
	tn_array_destroy(x);
	assert_int_equal(deleted, 1);
	assert_cuda(cudaMemcpy(found, memory, sizeof(found), cudaMemcpyDeviceToHost), cudaSuccess);
	assert_true(found[0] == 0 && found[1] == 7 && found[N - 1] == 7);
	/* An address of the host under CUDA's name, and the reverse of what the device has. */
	managed.tensor.data = numbers;
	assert_null(tn_from_dlpack(context, &managed, NULL));
	assert_error(context, TN_INVALID_ARGUMENT, "import_memory", "is not an address of this");
	managed.tensor.device.id = 5;
	assert_null(tn_from_dlpack(context, &managed, NULL));
	assert_error(context, TN_DEVICE, "from_dlpack", "type 2 (CUDA), number 5");
	assert_int_equal(deleted, 1);
	/* Pinned memory is the host's: a copy on the device that is asked for. */
	managed.tensor.device = (struct tn_dlpack_device){TN_DLPACK_CUDA_HOST, 0};
	struct tn_from_dlpack_options from_dlpack = tn_from_dlpack_defaults();
	from_dlpack.device = tn_device_current(context);
	x = tn_from_dlpack(context, &managed, &from_dlpack);
	assert_int_equal(deleted, 2);
	assert_ok(tn_to_host(x, found, N / 2 * sizeof(float)));
	assert_true(found[0] == N - 1);
	assert_cuda(cudaFree(memory), cudaSuccess);
	close_cuda(context);
}

static struct tn_dlpack_managed managed_memory(void *memory, int64_t *length, int *deleted)
{
	static int64_t dense = 1;
	return (struct tn_dlpack_managed){.version = {1, 1},
					  .manager_ctx = deleted,
					  .deleter = delete_tensor,
					  .tensor = {.data = memory,
						     .device = {TN_DLPACK_CUDA, 0},
						     .ndim = 1,
						     .dtype = {TN_DLPACK_FLOAT, 32, 1},
						     .shape = length,
						     .strides = &dense}};
}

/* The calls by which the host waits. */
static unsigned long host_waits(void)
{
	return simcudaCalls("cudaStreamSynchronize") + simcudaCalls("cudaEventSynchronize") +
	       simcudaCalls("cudaDeviceSynchronize");
}

/* A consumer's stream, or one of CUDA's default ones, reads what the array's stream writes; which
 * of them runs first is drawn. */
static void a_consumers_stream_waits_on_the_device(void **state)
{
	static const cudaStream_t special[] = {NULL, cudaStreamLegacy, cudaStreamPerThread};
	(void)state;
	for (size_t i = 0; i < 3; i++) {
		float found[N] = {0};
		cudaStream_t stream = special[i], own = NULL;
		tn_context *context = open_cuda(SETTINGS("SIMCUDA_DEFER=1", "SIMCUDA_SEED=3"));
		if (!stream)
			assert_cuda(cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking),
				    cudaSuccess);
		tn_array *x = tn_zeros(context, TN_F32, 1, (int64_t[]){N});
		assert_ok(tn_synchronize(context));
		struct tn_to_dlpack_options options = tn_to_dlpack_defaults();
		options.stream = (int64_t)(intptr_t)(stream ? stream : own);
		assert_ok(tn_fill(x, 3));
		simcudaForgetCalls();
		struct tn_dlpack_managed *managed = tn_to_dlpack(x, &options);
		assert_non_null(managed);
		assert_cuda(cudaMemcpyAsync(found, managed->tensor.data, sizeof(found),
					    cudaMemcpyDeviceToHost, stream ? stream : own),
			    cudaSuccess);
		assert_int_equal(host_waits(), 0);
		assert_int_equal(simcudaCalls("cudaStreamWaitEvent"), 1);
		assert_cuda(cudaStreamSynchronize(stream ? stream : own), cudaSuccess);
		assert_true(found[0] == 3 && found[N - 1] == 3);
		managed->deleter(managed);
		if (own)
			assert_cuda(cudaStreamDestroy(own), cudaSuccess);
		close_cuda(context);
	}
}

static void a_producers_stream_is_waited_for_on_the_device(void **state)
{
	static float numbers[N];
	void *memory = NULL;
	int deleted = 0;
	cudaStream_t stream = NULL;
	float found = 0;
	(void)state;
	for (int i = 0; i < N; i++)
		numbers[i] = 5;
	tn_context *context = open_cuda(SETTINGS("SIMCUDA_DEFER=1", "SIMCUDA_SEED=2"));
	assert_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
	assert_cuda(cudaMalloc(&memory, sizeof(numbers)), cudaSuccess);
	struct tn_dlpack_managed managed = managed_memory(memory, (int64_t[]){N}, &deleted);
	struct tn_from_dlpack_options options = tn_from_dlpack_defaults();
	options.stream = -1;
	assert_null(tn_from_dlpack(context, &managed, &options));
	assert_error(context, TN_INVALID_ARGUMENT, "from_dlpack", "expected 0 or more, found -1");
	options.stream = (int64_t)(intptr_t)stream;
	simcudaForgetCalls();
	assert_cuda(
		cudaMemcpyAsync(memory, numbers, sizeof(numbers), cudaMemcpyHostToDevice, stream),
		cudaSuccess);
	tn_array *x = tn_from_dlpack(context, &managed, &options);
	assert_int_equal(host_waits(), 0);
	assert_int_equal(simcudaCalls("cudaStreamWaitEvent"), 1);
	tn_array *twice = tn_add(x, x);
	assert_ok(tn_to_host(tn_slice(twice, 0, N - 1, N, 1), &found, sizeof(found)));
	assert_true(found == 10);
	tn_array_destroy(x);
	assert_int_equal(deleted, 1);
	/* Memory of the host is no stream's. */
	managed.tensor.device.type = TN_DLPACK_CPU;
	managed.tensor.data = numbers;
	assert_null(tn_from_dlpack(context, &managed, &options));
	assert_error(context, TN_UNSUPPORTED, "from_dlpack", "cannot wait for streams of others");
	assert_int_equal(deleted, 1);
	assert_cuda(cudaFree(memory), cudaSuccess);
	assert_cuda(cudaStreamDestroy(stream), cudaSuccess);
	close_cuda(context);
}

static void the_devices_context_is_the_runtimes(void **state)
{
	static const struct tn_native_device native = {"cuda:0", 0x1234};
	const char *path = cuda_file();
	struct tn_context_options options = tn_context_defaults();
	struct tn_error_info error = {.struct_size = sizeof(error)};
	tn_context *context = NULL;
	(void)state;
	restart_simcuda(NULL);
	options.backend = "cuda!";
	options.plugin_paths = &path;
	options.n_plugin_paths = 1;
	options.native_devices = &native;
	options.n_native_devices = 1;
	assert_int_equal(tn_context_open(&options, &context, &error), TN_UNSUPPORTED);
	assert_non_null(strstr(error.text, "native 0x1234: the device is opened in its primary"));
}

/* ---- Streams of CUDA's own interface ---------------------------------------------------------*/

static void streams_of_the_runtime_are_wrapped(void **state)
{
	static const char *const seeds[] = {"SIMCUDA_SEED=1", "SIMCUDA_SEED=2", "SIMCUDA_SEED=3"};
	static float numbers[N], found[N];
	(void)state;
	for (int i = 0; i < N; i++)
		numbers[i] = 2;
	for (size_t i = 0; i < sizeof(seeds) / sizeof(seeds[0]); i++) {
		void *memory = NULL, *native = NULL;
		uint64_t ordinal = 99, offset = 0;
		cudaStream_t stream = NULL;
		tn_context *context = open_cuda(SETTINGS("SIMCUDA_DEFER=1", seeds[i]));
		tn_device *device = tn_device_current(context);
		assert_ok(tn_device_native(device, &ordinal));
		assert_int_equal(ordinal, 0);
		assert_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
		tn_array *x = tn_zeros(context, TN_F32, 1, (int64_t[]){N});
		assert_ok(tn_array_export(x, &memory, &offset));
		tn_stream *wrapped = tn_stream_wrap(device, stream);
		assert_non_null(wrapped);
		assert_ok(tn_stream_native(wrapped, &native));
		assert_ptr_equal(native, stream);
		simcudaForgetCalls();
		assert_cuda(cudaMemcpyAsync((char *)memory + offset, numbers, sizeof(numbers),
					    cudaMemcpyHostToDevice, stream),
			    cudaSuccess);
		assert_ok(tn_stream_push(wrapped));
		assert_ok(tn_add_into(x, x, x));
		assert_ok(tn_stream_current_native(device, &native));
		assert_ptr_equal(native, stream);
		assert_cuda(cudaMemcpyAsync(found, (char *)memory + offset, sizeof(found),
					    cudaMemcpyDeviceToHost, stream),
			    cudaSuccess);
		assert_int_equal(host_waits(), 0);
		assert_cuda(cudaStreamSynchronize(stream), cudaSuccess);
		assert_true(found[0] == 4 && found[N - 1] == 4);
		tn_stream_destroy(wrapped);
		assert_cuda(cudaStreamDestroy(stream), cudaSuccess);
		/* The ordinary stream, for others. */
		assert_ok(tn_stream_current_native(device, &native));
		assert_ok(tn_fill(x, 7));
		assert_cuda(cudaMemcpyAsync(found, (char *)memory + offset, sizeof(found),
					    cudaMemcpyDeviceToHost, native),
			    cudaSuccess);
		assert_cuda(cudaStreamSynchronize(native), cudaSuccess);
		assert_true(found[N - 1] == 7);
		close_cuda(context);
	}
}

/* ---- The device as a program sees it ---------------------------------------------------------*/

static tn_status add_up(void *x)
{
	tn_array_destroy(tn_add(x, x));
	return TN_OK;
}

static void count_event(void *user, const struct tn_memory_event *event)
{
	((int *)user)[event->kind]++;
}

static void the_device_is_counted_limited_and_timed(void **state)
{
	(void)state;
	tn_context *context = open_cuda(SETTINGS("SIMCUDA_DEFER=1"));
	tn_device *device = tn_device_find(context, "cuda:0");
	struct tn_report_line line = {.struct_size = sizeof(line)};
	assert_ptr_equal(device, tn_device_current(context));
	assert_ok(tn_device_attribute(device, "capability", &line));
	int major = 0, minor = -1;
	assert_int_equal(sscanf(line.text, "%d.%d", &major, &minor), 2);
	assert_true(major >= 7 && minor >= 0);
	int events[4] = {0};
	tn_memory_set_hook(context, count_event, events);
	tn_array *x = tn_full(context, TN_F32, 1, (int64_t[]){N}, 2);
	struct tn_benchmark_result result = {.struct_size = sizeof(result)};
	struct tn_benchmark_options benchmark = tn_benchmark_defaults();
	benchmark.warmup = 1;
	benchmark.repeats = 5;
	assert_ok(tn_benchmark(context, add_up, x, &benchmark, &result));
	assert_int_equal(result.n, 5);
	assert_int_equal(result.has_events, 1);
	assert_true(result.device.min >= 0 && result.device.max >= result.device.median);
	assert_true(events[TN_MEMORY_ALLOCATE] >= 7 && events[TN_MEMORY_RESERVE] >= 1);
	/* To the host's memory and back, converted. */
	assert_ok(tn_device_push(tn_device_find(context, "reference")));
	tn_array *y = tn_zeros(context, TN_I64, 1, (int64_t[]){N});
	assert_ok(tn_device_pop(context));
	tn_array *whole = tn_astype(x, TN_I64);
	assert_ok(tn_copyto(y, whole, NULL));
	tn_array_destroy(whole);
	int64_t found[N];
	assert_ok(tn_to_host(y, found, sizeof(found)));
	assert_int_equal(found[N - 1], 2);
	assert_ok(tn_copyto(x, y, NULL));
	assert_ok(tn_device_synchronize(device));
	assert_ok(tn_device_set_memory_limit_percent(device, 50));
	struct tn_memory_statistics memory = {.struct_size = sizeof(memory)};
	assert_ok(tn_device_get_memory_statistics(device, &memory));
	assert_int_equal(memory.limit, tn_device_describe(device)->memory_bytes / 2);
	tn_array_destroy(x);
	tn_device_memory_trim(device, 0);
	assert_int_equal(events[TN_MEMORY_ALLOCATE], events[TN_MEMORY_FREE] + 1);
	assert_true(events[TN_MEMORY_RELEASE] >= 1);
	close_cuda(context);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(transfers_with_pinned_memory_do_not_wait),
		cmocka_unit_test(pinned_memory_is_freed_after_its_transfers),
		cmocka_unit_test(memory_of_the_runtime_is_used_in_place),
		cmocka_unit_test(an_array_is_given_to_others_by_its_pointer),
		cmocka_unit_test(what_is_no_memory_of_the_device_is_refused),
		cmocka_unit_test(arrays_of_the_device_are_lent_by_dlpack),
		cmocka_unit_test(memory_of_others_is_taken_by_dlpack),
		cmocka_unit_test(a_consumers_stream_waits_on_the_device),
		cmocka_unit_test(a_producers_stream_is_waited_for_on_the_device),
		cmocka_unit_test(streams_of_the_runtime_are_wrapped),
		cmocka_unit_test(the_devices_context_is_the_runtimes),
		cmocka_unit_test(the_device_is_counted_limited_and_timed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
