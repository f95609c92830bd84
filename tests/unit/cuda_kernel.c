/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Kernels from source on the CUDA backend: compiled by the real NVRTC, run by the simulated device.
 */
#include <unistd.h>

#include "cuda_fixture.h"

enum { N = 1000 };

static const char text[] =
	"extern \"C\" __global__ void saxpy(int n, float a, const float *x, float *y)\n"
	"{\n"
	"	int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
	"	if (i < n)\n"
	"		y[i] += a * x[i];\n"
	"}\n"
	"extern \"C\" __global__ void turn(int *x)\n"
	"{\n"
	"	extern __shared__ int shared[];\n"
	"	shared[threadIdx.x] = x[threadIdx.x];\n"
	"	__syncthreads();\n"
	"	x[threadIdx.x] = shared[blockDim.x - 1 - threadIdx.x];\n"
	"}\n";

static tn_kernel *compile(tn_context *context, const char *source, const char *name)
{
	struct tn_kernel_source kernel_source = tn_kernel_source_defaults();
	kernel_source.format = "cuda-c";
	kernel_source.text = source;
	kernel_source.name = name;
	return tn_kernel_compile(context, &kernel_source);
}

/* y := y + a x for n elements, with blocks for N. */
static tn_status saxpy(tn_kernel *kernel, int32_t n, float a, tn_array *x, tn_array *y)
{
	const struct tn_kernel_argument arguments[] = {{.value = &n, .size = sizeof(n)},
						       {.value = &a, .size = sizeof(a)},
						       {.array = x, .is_read_only = 1},
						       {.array = y}};
	const struct tn_kernel_grid grid = {.blocks = {(N + 127) / 128}, .threads = {128}};
	return tn_kernel_launch(kernel, grid, 4, arguments);
}

static tn_array *ones(tn_context *context)
{
	return tn_ones(context, TN_F32, 1, (int64_t[]){N});
}

/* ---- Cases -----------------------------------------------------------------------------------*/

static void a_kernel_runs_on_arrays_in_order(void **state)
{
	float values[N];
	struct tn_ledger_row row = {.struct_size = sizeof(row)};
	(void)state;
	tn_context *context = open_deferred();
	tn_array *x = tn_arange(context, TN_F32, 0, N, 1), *y = ones(context);
	tn_kernel *kernel = compile(context, text, "saxpy");
	assert_non_null(kernel);
	assert_ok(saxpy(kernel, N, 2, x, y));
	assert_ok(saxpy(kernel, N / 2, 1, x, y));
	tn_array *z = tn_add(y, y);
	assert_ok(tn_to_host(z, values, sizeof(values)));
	for (int i = 0; i < N; i++)
		assert_true(values[i] == 2 * (1.f + 2.f * (float)i + (i < N / 2 ? (float)i : 0)));
	for (size_t i = 0; i < tn_ledger_count(context); i++) {
		assert_ok(tn_ledger_at(context, i, &row));
		if (strcmp(row.operation, "kernel") == 0)
			break;
	}
	assert_string_equal(row.operation, "kernel");
	assert_int_equal(row.native, 2);
	tn_kernel_destroy(kernel);
	close_cuda(context);
}

static void a_text_of_a_stated_size_ends_there(void **state)
{
	char whole[sizeof(text) + 8];
	(void)state;
	tn_context *context = open_deferred();
	snprintf(whole, sizeof(whole), "%s}}", text);
	struct tn_kernel_source source = {
		.struct_size = sizeof(source), .format = "cuda-c", .text = whole, .name = "saxpy"};
	assert_null(tn_kernel_compile(context, &source));
	tn_error_clear(context);
	source.text_size = sizeof(text) - 1;
	tn_kernel *kernel = tn_kernel_compile(context, &source);
	assert_non_null(kernel);
	tn_kernel_destroy(kernel);
	close_cuda(context);
}

static void views_are_given_by_their_first_element(void **state)
{
	float values[N];
	(void)state;
	tn_context *context = open_cuda(NULL);
	tn_array *x = tn_arange(context, TN_F32, 0, N, 1), *y = ones(context);
	tn_array *behind = tn_slice(x, 0, 10, INT64_MIN, 1), *part = tn_slice(y, 0, 5, 15, 1);
	tn_kernel *kernel = compile(context, text, "saxpy");
	assert_ok(saxpy(kernel, 10, 1, behind, part));
	assert_ok(tn_to_host(y, values, sizeof(values)));
	for (int i = 0; i < N; i++)
		assert_true(values[i] == 1.f + (i >= 5 && i < 15 ? (float)i + 5 : 0));
	tn_kernel_destroy(kernel);
	tn_context_close(context);
}

static void memory_is_shared_beyond_the_ordinary_limit(void **state)
{
	int32_t values[64];
	(void)state;
	tn_context *context = open_cuda(NULL);
	tn_array *x = tn_arange(context, TN_I32, 0, 64, 1);
	tn_kernel *kernel = compile(context, text, "turn");
	struct tn_kernel_grid grid = {.threads = {64}, .shared_bytes = 64 * sizeof(int32_t)};
	const struct tn_kernel_argument argument = {.array = x};
	assert_ok(tn_kernel_launch(kernel, grid, 1, &argument));
	grid.shared_bytes = 64 << 10;
	assert_ok(tn_kernel_launch(kernel, grid, 1, &argument));
	assert_ok(tn_kernel_launch(kernel, grid, 1, &argument));
	assert_ok(tn_to_host(x, values, sizeof(values)));
	for (int i = 0; i < 64; i++)
		assert_int_equal(values[i], 63 - i);
	grid.shared_bytes = 1 << 30;
	assert_int_equal(tn_kernel_launch(kernel, grid, 1, &argument), TN_INVALID_ARGUMENT);
	assert_error(context, TN_INVALID_ARGUMENT, "turn", "1073741824 bytes of shared memory");
	tn_kernel_destroy(kernel);
	tn_context_close(context);
}

static void a_syntax_error_is_answered_with_its_line(void **state)
{
	static const char wrong[] = "extern \"C\" __global__ void f(float *x)\n"
				    "{\n"
				    "	x[0] = nothing;\n"
				    "}\n";
	char log[1000] = "", small[8] = "sssssss";
	size_t length = 0;
	(void)state;
	tn_context *context = open_cuda(NULL);
	struct tn_kernel_source source = {.struct_size = sizeof(source),
					  .format = "cuda-c",
					  .text = wrong,
					  .name = "f",
					  .log = log,
					  .log_size = sizeof(log),
					  .log_length = &length};
	assert_null(tn_kernel_compile(context, &source));
	assert_error(context, TN_FORMAT, "compile", "f.cu(3): error");
	assert_non_null(strstr(log, "f.cu(3): error: identifier \"nothing\" is undefined"));
	assert_int_equal(length, strlen(log));
	source.log = small;
	source.log_size = sizeof(small);
	assert_null(tn_kernel_compile(context, &source));
	tn_error_clear(context);
	assert_memory_equal(small, log, 7);
	assert_int_equal(small[7], 0);
	assert_int_equal(length, strlen(log));
	close_cuda(context);
}

/* The second time the kernel is read from the disk cache, if there is one. */
static void warnings_are_answered_too(void **state)
{
	static const char unused[] = "extern \"C\" __global__ void g(float *x)\n"
				     "{\n"
				     "	int unused;\n"
				     "	x[0] = 1;\n"
				     "}\n";
	(void)state;
	tn_context *context = open_cuda(NULL);
	for (int turn = 0; turn < 2; turn++) {
		char log[1000] = "";
		struct tn_kernel_source source = tn_kernel_source_defaults();
		source.format = "cuda-c";
		source.text = unused;
		source.name = "g";
		source.log = log;
		source.log_size = sizeof(log);
		tn_kernel *kernel = tn_kernel_compile(context, &source);
		assert_non_null(kernel);
		assert_non_null(strstr(log, "g.cu(3): warning"));
		tn_kernel_destroy(kernel);
	}
	tn_context_close(context);
}

static void options_reach_the_compiler(void **state)
{
	float value = 0;
	(void)state;
	tn_context *context = open_cuda(NULL);
	tn_array *x = ones(context);
	struct tn_kernel_source source = {
		.struct_size = sizeof(source),
		.format = "cuda-c",
		.text = "extern \"C\" __global__ void set(float *x) { x[0] = VALUE; }",
		.name = "set",
		.options = "-DVALUE=7.5f  --fmad=false"};
	tn_kernel *kernel = tn_kernel_compile(context, &source);
	assert_non_null(kernel);
	assert_ok(tn_kernel_launch(kernel, (struct tn_kernel_grid){.shared_bytes = 0}, 1,
				   &(struct tn_kernel_argument){.array = x}));
	assert_ok(tn_to_host(tn_slice(x, 0, 0, 1, 1), &value, sizeof(value)));
	assert_true(value == 7.5f);
	tn_kernel_destroy(kernel);
	source.options = "--no-such-option";
	assert_null(tn_kernel_compile(context, &source));
	assert_error(context, TN_INVALID_ARGUMENT, "compile", "nvrtcCompileProgram");
	tn_context_close(context);
}

static void what_is_not_there_is_named(void **state)
{
	(void)state;
	tn_context *context = open_cuda(NULL);
	struct tn_kernel_source source = {
		.struct_size = sizeof(source), .format = "pascal", .text = text, .name = "saxpy"};
	assert_null(compile(context, text, "axpy"));
	assert_error(context, TN_NOT_FOUND, "compile", "the source has no kernel axpy");
	assert_null(tn_kernel_compile(context, &source));
	assert_error(context, TN_UNSUPPORTED, "compile", "pascal");
	source.format = NULL;
	assert_null(tn_kernel_compile(context, &source));
	assert_error(context, TN_INVALID_ARGUMENT, "compile", "a format, a text and a name");
	source.format = "cuda-c";
	source.device = tn_context_device(context, 1);
	assert_string_equal(tn_device_name(source.device), "reference:0");
	assert_null(tn_kernel_compile(context, &source));
	assert_error(context, TN_UNSUPPORTED, "compile",
		     "reference:0: the backend has no compiler for kernels from source");
	close_cuda(context);
}

static void arguments_are_compared_with_the_kernel(void **state)
{
	const int64_t n = N;
	const struct tn_kernel_grid grid = {.threads = {32}};
	(void)state;
	tn_context *context = open_cuda(NULL);
	tn_array *x = ones(context), *elsewhere = tn_to(x, tn_context_device(context, 1));
	tn_kernel *kernel = compile(context, text, "saxpy");
	const struct tn_kernel_argument wide = {.value = &n, .size = sizeof(n)};
	const struct tn_kernel_argument none = {.size = 4};
	const struct tn_kernel_argument wrong[] = {wide, wide, {.array = x}, {.array = x}};
	assert_int_equal(tn_kernel_launch(kernel, grid, 1, &wide), TN_INVALID_ARGUMENT);
	assert_error(context, TN_INVALID_ARGUMENT, "saxpy", "1 arguments, the kernel has 4");
	assert_int_equal(tn_kernel_launch(kernel, grid, 4, wrong), TN_INVALID_ARGUMENT);
	assert_error(context, TN_INVALID_ARGUMENT, "saxpy", "argument 0 has 8 bytes");
	assert_int_equal(tn_kernel_launch(kernel, grid, 1, &none), TN_INVALID_ARGUMENT);
	assert_error(context, TN_INVALID_ARGUMENT, "saxpy", "neither an array nor a value");
	assert_int_equal(saxpy(kernel, N, 1, x, elsewhere), TN_DEVICE);
	assert_error(context, TN_DEVICE, "saxpy", "argument 3: the array is on reference:0");
	tn_kernel_destroy(kernel);
	tn_context_close(context);
}

static void a_grid_that_is_too_large_is_refused(void **state)
{
	(void)state;
	tn_context *context = open_cuda(NULL);
	tn_array *x = tn_arange(context, TN_I32, 0, 64, 1);
	tn_kernel *kernel = compile(context, text, "turn");
	const struct tn_kernel_argument argument = {.array = x};
	assert_int_equal(
		tn_kernel_launch(kernel, (struct tn_kernel_grid){.threads = {2048}}, 1, &argument),
		TN_INVALID_ARGUMENT);
	assert_error(context, TN_INVALID_ARGUMENT, "turn", "2048 threads along axis 0");
	assert_int_equal(tn_kernel_launch(kernel, (struct tn_kernel_grid){.threads = {64, 32}}, 1,
					  &argument),
			 TN_INVALID_ARGUMENT);
	assert_error(context, TN_INVALID_ARGUMENT, "turn", "blocks of 2048 threads");
	assert_int_equal(tn_kernel_launch(kernel, (struct tn_kernel_grid){.blocks = {1, 65536}}, 1,
					  &argument),
			 TN_INVALID_ARGUMENT);
	assert_error(context, TN_INVALID_ARGUMENT, "turn", "65536 blocks along axis 1");
	tn_kernel_destroy(kernel);
	tn_context_close(context);
}

/* A fault is reported late, with the kernel's name; the device is lost. */
static void a_fault_has_the_name_of_the_kernel(void **state)
{
	float values[N];
	(void)state;
	tn_context *context = open_deferred();
	tn_array *x = ones(context), *y = ones(context);
	tn_kernel *kernel = compile(
		context, "extern \"C\" __global__ void strays(float *x, long i) { x[i] = 1; }",
		"strays");
	const int64_t far = INT64_C(1) << 40;
	const struct tn_kernel_argument arguments[] = {{.array = x},
						       {.value = &far, .size = sizeof(far)}};
	assert_ok(tn_synchronize(context));
	assert_ok(tn_kernel_launch(kernel, (struct tn_kernel_grid){.threads = {1}}, 2, arguments));
	assert_int_equal(tn_to_host(y, values, sizeof(values)), TN_DEVICE_LOST);
	const struct tn_error_info *error = tn_error(context);
	assert_non_null(error);
	assert_string_equal(error->operation, "strays");
	assert_int_equal(error->native_code, cudaErrorIllegalAddress);
	tn_error_clear(context);
	tn_kernel_destroy(kernel);
	tn_context_close(context);
}

static void a_released_kernel_is_remembered_as_one(void **state)
{
	(void)state;
	tn_context *context = open_cuda(NULL);
	tn_array *x = ones(context), *y = ones(context);
	/* The name is freed with it, although the stream still uses it. */
	for (int turn = 0; turn < 3; turn++) {
		tn_kernel *kernel = compile(context, text, "saxpy");
		assert_ok(saxpy(kernel, N, 1, x, y));
		tn_kernel_destroy(kernel);
	}
	simcudaInject("cudaStreamSynchronize", 1, cudaErrorLaunchFailure, 1);
	assert_int_equal(tn_synchronize(context), TN_DEVICE_LOST);
	tn_error_clear(context);
	tn_kernel_destroy(NULL);
	tn_context_close(context);
}

static void a_kept_kernel_that_does_not_load_is_compiled_again(void **state)
{
	(void)state;
	tn_context *context = open_cuda(NULL);
	tn_kernel *kernel = compile(context, text, "saxpy");
	assert_non_null(kernel);
	tn_kernel_destroy(kernel);
	unsigned long compiled = simcudaNvrtcCalls("nvrtcCompileProgram");
	simcudaInject("cudaLibraryLoadData", 1, cudaErrorNoKernelImageForDevice, 0);
	kernel = compile(context, text, "saxpy");
	assert_non_null(kernel);
	assert_int_equal(simcudaNvrtcCalls("nvrtcCompileProgram"), compiled + 1);
	tn_kernel_destroy(kernel);
	close_cuda(context);
}

static void no_gradient_is_lost(void **state)
{
	(void)state;
	tn_context *context = open_cuda(NULL);
	tn_array *x = ones(context), *y = ones(context);
	tn_kernel *kernel = compile(context, text, "saxpy");
	tn_tape *tape = tn_tape_begin(context);
	assert_ok(tn_tape_watch(tape, x));
	assert_int_equal(saxpy(kernel, N, 1, x, y), TN_STATE);
	assert_error(context, TN_STATE, "saxpy", "a tape is recording");
	tn_array *loss = tn_sum(tn_multiply(x, y), TN_ALL_AXES, NULL, 0);
	/* y was saved for backward, and is overwritten. */
	const struct tn_kernel_argument arguments[] = {{.array = y}};
	tn_kernel *set = compile(
		context, "extern \"C\" __global__ void zero(float *y) { y[0] = 0; }", "zero");
	assert_ok(tn_kernel_launch(set, (struct tn_kernel_grid){.threads = {1}}, 1, arguments));
	assert_int_equal(tn_tape_backward(tape, loss, NULL), TN_MODIFIED);
	tn_error_clear(context);
	tn_tape_end(tape);
	tn_kernel_destroy(kernel);
	tn_kernel_destroy(set);
	tn_context_close(context);
}

/* Also while a graph, which launches it, lives. */
static void a_kernel_that_has_ended_is_an_error(void **state)
{
	tn_graph *graph = NULL;
	(void)state;
	setenv("TENON_CHECK_HANDLES", "1", 1);
	tn_context *context = open_cuda(NULL);
	tn_array *x = ones(context), *y = ones(context);
	tn_kernel *kernel = compile(context, text, "saxpy");
	assert_ok(saxpy(kernel, N, 1, x, y));
	assert_ok(tn_capture_begin(context));
	assert_ok(saxpy(kernel, N, 1, x, y));
	assert_ok(tn_capture_end(context, &graph));
	tn_kernel_destroy(kernel);
	for (int has_graph = 1; has_graph >= 0; has_graph--) {
		assert_status(saxpy(kernel, N, 1, x, y), TN_STATE);
		assert_non_null(strstr(tn_error_text(context), "the kernel has been destroyed"));
		tn_error_clear(context);
		tn_kernel_destroy(kernel);
		assert_error(context, TN_STATE, "kernel_destroy", "the kernel has been destroyed");
		if (has_graph) {
			assert_ok(tn_graph_replay(graph));
			tn_graph_destroy(graph);
		}
	}
	close_cuda(context);
	unsetenv("TENON_CHECK_HANDLES");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_kernel_runs_on_arrays_in_order),
		cmocka_unit_test(a_text_of_a_stated_size_ends_there),
		cmocka_unit_test(views_are_given_by_their_first_element),
		cmocka_unit_test(memory_is_shared_beyond_the_ordinary_limit),
		cmocka_unit_test(a_syntax_error_is_answered_with_its_line),
		cmocka_unit_test(warnings_are_answered_too),
		cmocka_unit_test(options_reach_the_compiler),
		cmocka_unit_test(what_is_not_there_is_named),
		cmocka_unit_test(arguments_are_compared_with_the_kernel),
		cmocka_unit_test(a_grid_that_is_too_large_is_refused),
		cmocka_unit_test(a_fault_has_the_name_of_the_kernel),
		cmocka_unit_test(a_released_kernel_is_remembered_as_one),
		cmocka_unit_test(a_kept_kernel_that_does_not_load_is_compiled_again),
		cmocka_unit_test(no_gradient_is_lost),
		cmocka_unit_test(a_kernel_that_has_ended_is_an_error),
	};
	if (access(SIMCUDA_REAL "/libnvrtc.so.13", R_OK))
		return TEST_SKIPPED;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
