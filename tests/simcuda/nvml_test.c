/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The simulated management library, opened as a report about devices opens the real one.
 */
#include <dlfcn.h>

#include "check.h"

static void *library;

static void *find(const char *name)
{
	void *function = dlsym(library, name);
	if (!function)
		fail_msg("there is no %s", name);
	return function;
}

/* Types of functions: without arguments, with a number to write, with a handle. */
static int call(const char *name)
{
	int (*function)(void) = NULL;
	*(void **)&function = find(name);
	return function();
}

static int count_devices(unsigned *count)
{
	int (*function)(unsigned *) = NULL;
	*(void **)&function = find("nvmlDeviceGetCount_v2");
	return function(count);
}

static int handle_of(unsigned index, void **device)
{
	int (*function)(unsigned, void **) = NULL;
	*(void **)&function = find("nvmlDeviceGetHandleByIndex_v2");
	return function(index, device);
}

static int text_of(const char *name, void *device, char *text, unsigned size)
{
	int (*function)(void *, char *, unsigned) = NULL;
	*(void **)&function = find(name);
	return function(device, text, size);
}

static void devices_are_counted_and_named(void **state)
{
	unsigned count = 0;
	void *device = NULL;
	char text[96] = "";
	(void)state;
	setenv("SIMCUDA_DEVICES", "2", 1);
	setenv("CUDA_VISIBLE_DEVICES", "1", 1);
	assert_int_equal(count_devices(&count), 1); /* uninitialised */
	assert_int_equal(call("nvmlInit_v2"), 0);
	assert_int_equal(count_devices(&count), 0);
	assert_int_equal(count, 2);
	assert_int_equal(handle_of(2, &device), 2);
	assert_int_equal(handle_of(1, &device), 0);
	assert_int_equal(text_of("nvmlDeviceGetName", device, text, sizeof(text)), 0);
	assert_string_equal(text, "Simulated CUDA device sm_90");
	assert_int_equal(text_of("nvmlDeviceGetUUID", device, text, sizeof(text)), 0);
	assert_string_equal(text, "GPU-74696d75-6c61-7465-6420-435544412301");
	assert_int_equal(text_of("nvmlDeviceGetUUID", device, text, 10), 7);
	assert_int_equal(text_of("nvmlDeviceGetName", text, text, sizeof(text)), 2);
	assert_int_equal(call("nvmlShutdown"), 0);
	assert_int_equal(call("nvmlShutdown"), 1);
}

/* In the order of the bus, whatever CUDA's is; a device in MIG mode is whole. */
static void each_device_is_like_its_model(void **state)
{
	static const struct {
		const char *name;
		int memory; /* the answer */
	} expected[] = {{"NVIDIA T400 4GB", 0}, {"NVIDIA A100 80GB PCIe", 0}, {"NVIDIA GB10", 3}};
	unsigned long long memory[3] = {0};
	char text[96];
	void *device = NULL;
	int (*ask)(void *, unsigned long long *) = NULL;
	(void)state;
	unsetenv("SIMCUDA_DEVICES");
	setenv("SIMCUDA_MODELS", "t400,a100/10,gb10", 1);
	*(void **)&ask = find("nvmlDeviceGetMemoryInfo");
	assert_int_equal(call("nvmlInit_v2"), 0);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(handle_of(i, &device), 0);
		assert_int_equal(text_of("nvmlDeviceGetName", device, text, sizeof(text)), 0);
		assert_string_equal(text, expected[i].name);
		assert_int_equal(ask(device, memory), expected[i].memory);
	}
	assert_int_equal(handle_of(1, &device), 0);
	assert_int_equal(ask(device, memory), 0);
	assert_int_equal(memory[0], 80ull << 30);
	setenv("SIMCUDA_NVML_UNSUPPORTED", "nvmlDeviceGetUUID,nvmlDeviceGetMemoryInfo", 1);
	assert_int_equal(ask(device, memory), 3);
	assert_int_equal(text_of("nvmlDeviceGetName", device, text, sizeof(text)), 0);
	unsetenv("SIMCUDA_NVML_UNSUPPORTED");
	assert_int_equal(call("nvmlShutdown"), 0);
	unsetenv("SIMCUDA_MODELS");
}

static void what_is_missing_is_not_found(void **state)
{
	(void)state;
	assert_null(dlsym(library, "nvmlDeviceGetPowerUsage"));
	assert_non_null(dlsym(library, "nvmlDeviceGetTemperature"));
}

static void without_a_driver_it_does_not_start(void **state)
{
	(void)state;
	setenv("SIMCUDA_DRIVER", "0", 1);
	assert_int_equal(call("nvmlInit_v2"), 9);
	unsetenv("SIMCUDA_DRIVER");
}

static void calls_fail_on_demand(void **state)
{
	void (*inject)(const char *, unsigned, int) = NULL;
	(void)state;
	*(void **)&inject = find("simcudaNvmlInject");
	inject("nvmlInit_v2", 1, 999);
	assert_int_equal(call("nvmlInit_v2"), 999);
	assert_int_equal(call("nvmlInit_v2"), 0);
	assert_int_equal(call("nvmlShutdown"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(devices_are_counted_and_named),
		cmocka_unit_test(each_device_is_like_its_model),
		cmocka_unit_test(what_is_missing_is_not_found),
		cmocka_unit_test(without_a_driver_it_does_not_start),
		cmocka_unit_test(calls_fail_on_demand),
	};
	char path[4096];
	const char *build = getenv("TENON_BUILD");
	snprintf(path, sizeof(path), "%s/tests/simcuda/.libs/libnvidia-ml.so.1",
		 build ? build : ".");
	setenv("SIMCUDA_MISSING", "nvmlDeviceGetPowerUsage", 1);
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		print_error("%s\n", dlerror());
		return 1;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
