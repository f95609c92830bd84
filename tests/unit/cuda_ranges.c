/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * NVTX: a profiler gets the names of operations; without one nothing is reported.
 */
#include <dlfcn.h>
#include <unistd.h>

#include "cuda_fixture.h"

/* The library by its path, as a profiler names it. */
static const char *injection_file(void)
{
	static char path[4096];
	char relative[4096];
	const char *build = getenv("TENON_BUILD");
	snprintf(relative, sizeof(relative), "%s/tests/simcuda/.libs/libsimnvtx.so",
		 build ? build : ".");
	if (!realpath(relative, path))
		fail_msg("%s is not there", relative);
	return path;
}

static void *function_of(const char *name)
{
	void *library = dlopen(injection_file(), RTLD_NOW | RTLD_LOCAL);
	assert_non_null(library);
	return dlsym(library, name);
}

/* Skipped if the toolkit lacks the headers of NVTX. */
static void need_nvtx(void)
{
	if (!function_of("InitializeInjectionNvtx2"))
		skip();
}

static const char *ranges(void)
{
	const char *(*text)(void);
	void *address = function_of("simcudaRanges");
	memcpy(&text, &address, sizeof(text));
	return text();
}

static void forget_ranges(void)
{
	void (*forget)(void);
	void *address = function_of("simcudaForgetRanges");
	memcpy(&forget, &address, sizeof(forget));
	forget();
}

static float work(tn_context *context)
{
	float values[300];
	tn_array *x = tn_full(context, TN_F32, 1, (int64_t[]){300}, 3);
	assert_ok(tn_to_host(tn_add(x, x), values, sizeof(values)));
	return values[299];
}

static void operations_have_ranges(void **state)
{
	(void)state;
	need_nvtx();
	setenv("NVTX_INJECTION64_PATH", injection_file(), 1);
	tn_context *context = open_cuda(NULL);
	assert_true(work(context) == 6);
	forget_ranges();
	assert_true(work(context) == 6);
	assert_string_equal(ranges(), "fill;/;map;/;download;/;");
	/* The range of a failed operation ends, too. */
	forget_ranges();
	simcudaInject("cudaMemcpyAsync", 1, cudaErrorUnknown, 0);
	double value;
	assert_int_equal(tn_item(tn_full(context, TN_F32, 0, NULL, 1), &value), TN_BACKEND_FAILURE);
	tn_error_clear(context);
	assert_string_equal(ranges(), "fill;/;download;/;");
	tn_context_close(context);
	unsetenv("NVTX_INJECTION64_PATH");
}

static void without_a_profiler_there_are_none(void **state)
{
	(void)state;
	forget_ranges();
	tn_context *context = open_cuda(NULL);
	assert_true(work(context) == 6);
	assert_string_equal(ranges(), "");
	tn_context_close(context);
}

static void after_a_profiler_there_are_none(void **state)
{
	without_a_profiler_there_are_none(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_profiler_there_are_none),
		cmocka_unit_test(operations_have_ranges),
		cmocka_unit_test(after_a_profiler_there_are_none),
	};
	if (access(SIMCUDA_REAL "/libnvrtc.so.13", R_OK))
		return TEST_SKIPPED;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
