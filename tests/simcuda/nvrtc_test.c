/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The real NVRTC behind the wrapper: PTX as the CUBIN, its own errors and log, faults on demand.
 */
#include <nvrtc.h>
#include <unistd.h>

#include "check.h"
#include "simcuda.h"

static const char source[] = "extern \"C\" __global__ void twice(float *x)\n"
			     "{\n\tx[threadIdx.x] *= 2;\n}\n";

static nvrtcResult compile(const char *text, const char *one, const char *two,
			   nvrtcProgram *program)
{
	const char *const options[] = {one, two};
	assert_int_equal(nvrtcCreateProgram(program, text, "test.cu", 0, NULL, NULL),
			 NVRTC_SUCCESS);
	return nvrtcCompileProgram(*program, two ? 2 : 1, options);
}

static void expect_cubin(const char *one, const char *two, const char *target)
{
	nvrtcProgram program = NULL;
	size_t size = 0;
	assert_int_equal(compile(source, one, two, &program), NVRTC_SUCCESS);
	assert_int_equal(nvrtcGetCUBINSize(program, &size), NVRTC_SUCCESS);
	assert_true(size > 100);
	char *text = malloc(size);
	assert_int_equal(nvrtcGetCUBIN(program, text), NVRTC_SUCCESS);
	assert_int_equal(text[size - 1], 0);
	assert_contains(text, target);
	assert_contains(text, ".entry twice");
	free(text);
	assert_int_equal(nvrtcDestroyProgram(&program), NVRTC_SUCCESS);
}

static void the_cubin_is_the_ptx(void **state)
{
	(void)state;
	expect_cubin("--gpu-architecture=sm_90", NULL, ".target sm_90");
	expect_cubin("-arch=sm_75", "-default-device", ".target sm_75");
	expect_cubin("--gpu-architecture", "sm_80", ".target sm_80");
}

static void there_is_none_for_a_virtual_architecture(void **state)
{
	nvrtcProgram program = NULL;
	size_t size = 77;
	(void)state;
	assert_int_equal(compile(source, "--gpu-architecture=compute_90", NULL, &program), 0);
	assert_int_equal(nvrtcGetCUBINSize(program, &size), NVRTC_SUCCESS);
	assert_int_equal(size, 0);
	assert_int_equal(nvrtcGetPTXSize(program, &size), NVRTC_SUCCESS);
	assert_true(size > 100);
	assert_int_equal(nvrtcDestroyProgram(&program), NVRTC_SUCCESS);
}

static void mistakes_are_those_of_the_real_one(void **state)
{
	nvrtcProgram program = NULL;
	char log[4096] = "";
	size_t size = 0;
	(void)state;
	assert_int_equal(compile("nothing here", "-arch=sm_90", NULL, &program),
			 NVRTC_ERROR_COMPILATION);
	assert_int_equal(nvrtcGetProgramLogSize(program, &size), NVRTC_SUCCESS);
	assert_true(size < sizeof(log));
	assert_int_equal(nvrtcGetProgramLog(program, log), NVRTC_SUCCESS);
	assert_contains(log, "test.cu(1): error");
	assert_int_equal(nvrtcDestroyProgram(&program), NVRTC_SUCCESS);
	assert_int_equal(compile(source, "-arch=sm_70", NULL, &program),
			 NVRTC_ERROR_INVALID_OPTION);
	assert_int_equal(nvrtcDestroyProgram(&program), NVRTC_SUCCESS);
	assert_string_equal(nvrtcGetErrorString(NVRTC_ERROR_COMPILATION),
			    "NVRTC_ERROR_COMPILATION");
}

static void calls_fail_on_demand(void **state)
{
	int major = 0, minor = 0;
	(void)state;
	unsigned long before = simcudaNvrtcCalls("nvrtcVersion");
	simcudaNvrtcInject("nvrtcVersion", 2, NVRTC_ERROR_INTERNAL_ERROR);
	assert_int_equal(nvrtcVersion(&major, &minor), NVRTC_SUCCESS);
	assert_int_equal(major, 13);
	assert_int_equal(nvrtcVersion(&major, &minor), NVRTC_ERROR_INTERNAL_ERROR);
	assert_int_equal(nvrtcVersion(&major, &minor), NVRTC_SUCCESS);
	assert_int_equal(simcudaNvrtcCalls("nvrtcVersion") - before, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_cubin_is_the_ptx),
		cmocka_unit_test(there_is_none_for_a_virtual_architecture),
		cmocka_unit_test(mistakes_are_those_of_the_real_one),
		cmocka_unit_test(calls_fail_on_demand),
	};
	if (access(SIMCUDA_REAL "/libnvrtc.so.13", R_OK))
		return TEST_SKIPPED;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
