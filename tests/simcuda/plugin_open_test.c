/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The CUDA backend: which devices it opens, and that it leaves refused ones untouched.
 */
#include <unistd.h>

#include "plugin_fixture.h"

#define SETTINGS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* A product of 8 x 8 matrices of ones, with bias and activation: cuBLAS,
 * and kernels of two files. */
static float multiply_ones(struct plugin *p)
{
	enum { N = 8, ROOM = 64 << 10 };
	float found[N * N];
	uint64_t a = plugin_take(p, TN_MEMORY_DEVICE, sizeof(found));
	uint64_t c = plugin_take(p, TN_MEMORY_DEVICE, sizeof(found));
	uint64_t room = plugin_take(p, TN_MEMORY_DEVICE, ROOM);
	struct tn_workspace workspace = {
		.struct_size = sizeof(workspace), .buffer = room, .size = ROOM};
	assert_ok(plugin_fill(p, NULL, a, (int64_t)N * N, 1));
	struct tn_matmul_args args = {.call = plugin_call(p, sizeof(args), NULL),
				      .a = plugin_matrix(a, N, N),
				      .b = plugin_matrix(a, N, N),
				      .c = plugin_matrix(c, N, N),
				      .alpha = 1,
				      .bias = plugin_matrix(a, 1, N),
				      .has_bias = 1,
				      .activation = TN_ACTIVATION_RELU};
	args.call.workspace = &workspace;
	args.bias.rank = 1;
	args.bias.shape[0] = N;
	args.bias.strides[0] = 1;
	if (p->compute->matmul(p->device, &args))
		fail_msg("matmul: %s", p->error.text);
	assert_ok(plugin_download(p, c, found, sizeof(found)));
	for (int i = 0; i < N * N; i++)
		assert_close(found[i], found[0], 0);
	assert_ok(plugin_give(p, a));
	assert_ok(plugin_give(p, c));
	assert_ok(plugin_give(p, room));
	return found[0];
}

/* ---- What is opened --------------------------------------------------------------------------*/

static void every_architecture_computes(void **state)
{
	static const char *const architectures[] = {"SIMCUDA_ARCH=75", "SIMCUDA_ARCH=90",
						    "SIMCUDA_ARCH=121", "SIMCUDA_ARCH=990"};
	(void)state;
	for (size_t i = 0; i < sizeof(architectures) / sizeof(architectures[0]); i++) {
		struct plugin p = {.device = NULL};
		print_message("%s\n", architectures[i]);
		plugin_open(&p, SETTINGS(architectures[i]));
		assert_close(multiply_ones(&p), 9, 0);
		plugin_close(&p);
	}
}

static void a_device_is_found_by_its_place(void **state)
{
	struct plugin p = {.hidden = "CUDA_VISIBLE_DEVICES"};
	(void)state;
	restart_simcuda(SETTINGS("SIMCUDA_DEVICES=2", "CUDA_VISIBLE_DEVICES=1,0"));
	plugin_load(&p);
	assert_ok(plugin_open_device(&p, 0));
	int ordinal = -1;
	assert_cuda(cudaGetDevice(&ordinal), cudaSuccess);
	assert_int_equal(ordinal, 1);
	plugin_close(&p);
}

/* ---- What is refused -------------------------------------------------------------------------*/

static void a_device_that_was_not_described_is_refused(void **state)
{
	struct plugin p = {.hidden = "CUDA_VISIBLE_DEVICES"};
	(void)state;
	restart_simcuda(SETTINGS("SIMCUDA_DEVICES=2", "CUDA_VISIBLE_DEVICES=1"));
	plugin_load(&p);
	assert_status(plugin_open_device(&p, 0), TN_NO_DEVICE);
	assert_contains(p.error.text, "CUDA_DEVICE_ORDER");
	assert_int_equal(simcudaCalls("cudaSetDevice"), 0);
	assert_ok(plugin_open_device(&p, 1));
	plugin_close(&p);
}

static void a_device_that_is_too_old_is_not_touched(void **state)
{
	struct plugin p = {.device = NULL};
	(void)state;
	restart_simcuda(SETTINGS("SIMCUDA_ARCH=70"));
	plugin_load(&p);
	assert_status(plugin_open_device(&p, 0), TN_NO_DEVICE);
	assert_contains(p.error.text, "7.5");
	assert_int_equal(simcudaCalls("cudaSetDevice"), 0);
	assert_int_equal(simcudaCalls("cudaMemGetInfo"), 0);
	plugin_close(&p);
}

static void an_old_driver_has_no_devices(void **state)
{
	struct plugin p = {.device = NULL};
	struct tn_device_count count;
	(void)state;
	restart_simcuda(SETTINGS("SIMCUDA_DRIVER=11080"));
	plugin_load(&p);
	assert_int_equal(plugin_count(&p, &count), 0);
	assert_int_equal(count.status, TN_DRIVER_TOO_OLD);
	assert_contains(count.text, "CUDA 11.8");
	assert_contains(count.text, "driver 525");
	plugin_close(&p);
}

/* NVML does not report it; the runtime does. */
static void an_old_driver_is_named_when_a_device_is_opened(void **state)
{
	struct plugin p = {.device = NULL};
	(void)state;
	restart_simcuda(NULL);
	plugin_load(&p);
	simcudaInject("cudaGetDeviceCount", 1, cudaErrorInsufficientDriver, 0);
	assert_status(plugin_open_device(&p, 0), TN_DRIVER_TOO_OLD);
	assert_contains(p.error.text, "cudaGetDeviceCount");
	plugin_close(&p);
}

/* Each runtime call of open fails in turn: the error names it, and everything created before is
 * freed. */
static void the_call_that_fails_is_named(void **state)
{
	static const char *const names[] = {
		"cudaGetDeviceCount", "cudaDeviceGetByPCIBusId",      "cudaDeviceGetAttribute",
		"cudaSetDevice",      "cudaStreamCreateWithPriority", "cudaMemGetInfo"};
	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct plugin p = {.device = NULL};
		restart_simcuda(NULL);
		plugin_load(&p);
		simcudaInject(names[i], 1, cudaErrorUnknown, 0);
		tn_status status = plugin_open_device(&p, 0);
		if (!status)
			assert_string_equal(names[i], "cudaDeviceGetByPCIBusId");
		else
			assert_contains(p.error.text, names[i]);
		plugin_close(&p);
		assert_int_equal(cudaPeekAtLastError(), cudaSuccess);
	}
}

/* ---- What is described -----------------------------------------------------------------------*/

static void tf32_is_said_where_the_device_has_it(void **state)
{
	static const struct {
		const char *architecture, *note;
		int is_hidden;
	} cases[] = {
		{"SIMCUDA_ARCH=75", NULL, 0},
		{"SIMCUDA_ARCH=80", "f32 is multiplied in TF32", 0},
		{"SIMCUDA_ARCH=75", "f32 may be multiplied in TF32", 1},
	};
	(void)state;
	setenv("TENON_CUDA_TF32", "1", 1); /* NOLINT(concurrency-mt-unsafe) */
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tn_device_description found = {.struct_size = sizeof(found)};
		struct plugin p = {.device = NULL};
		restart_simcuda(SETTINGS(cases[i].architecture));
		if (cases[i].is_hidden)
			simcudaNvmlInject("nvmlDeviceGetCudaComputeCapability", 1, 3);
		plugin_load(&p);
		assert_ok(p.devices->describe(p.instance, 0, &found));
		if (cases[i].note)
			assert_contains(found.note, cases[i].note);
		else
			assert_null(strstr(found.note, "TF32"));
		for (int family = TN_FAMILY_MATMUL; family <= TN_FAMILY_CONV; family++)
			assert_int_equal(found.accuracy[family],
					 cases[i].note ? TN_ACCURACY_REDUCED : TN_ACCURACY_IEEE);
		plugin_close(&p);
	}
	unsetenv("TENON_CUDA_TF32"); /* NOLINT(concurrency-mt-unsafe) */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_architecture_computes),
		cmocka_unit_test(a_device_is_found_by_its_place),
		cmocka_unit_test(a_device_that_was_not_described_is_refused),
		cmocka_unit_test(a_device_that_is_too_old_is_not_touched),
		cmocka_unit_test(an_old_driver_has_no_devices),
		cmocka_unit_test(an_old_driver_is_named_when_a_device_is_opened),
		cmocka_unit_test(the_call_that_fails_is_named),
		cmocka_unit_test(tf32_is_said_where_the_device_has_it),
	};
	if (access(SIMCUDA_REAL "/libnvrtc.so.13", R_OK))
		return TEST_SKIPPED;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
