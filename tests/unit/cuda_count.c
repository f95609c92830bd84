/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * plugins/cuda/count.c and facts.c on a folder like the driver's, with libraries that record
 * whether they were opened: NVML, whose start may wake devices, is not opened if no device will be
 * used, and is asked for those devices alone whose facts are needed.
 */
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "facts.h"

static const char *visible;
static int nvml_opened;
static unsigned nvml_devices; /* 0: there is no NVML */
static int nvml_asked, nvml_ended;
static tn_status runtime_status;

static void *take(void *context, size_t size, size_t alignment)
{
	(void)context, (void)alignment;
	return malloc(size);
}

static const char *parameter(void *context, const char *name, const char *help)
{
	(void)context, (void)help;
	return strcmp(name, "CUDA_VISIBLE_DEVICES") ? NULL : visible;
}

static const struct tn_host host = {
	.struct_size = sizeof(host), .alloc = take, .parameter = parameter};

/* ---- What library.c has ----------------------------------------------------------------------*/

static nvmlReturn_t start(void)
{
	return NVML_SUCCESS;
}

static nvmlReturn_t end(void)
{
	nvml_ended++;
	return NVML_SUCCESS;
}

static nvmlReturn_t count_all(unsigned *n)
{
	*n = nvml_devices;
	return NVML_SUCCESS;
}

static nvmlReturn_t by_index(unsigned index, nvmlDevice_t *device)
{
	nvml_asked++;
	*device = (nvmlDevice_t)(uintptr_t)(index + 1);
	return index < nvml_devices ? NVML_SUCCESS : 2;
}

static nvmlReturn_t by_place(const char *place, nvmlDevice_t *device)
{
	return by_index((unsigned)(place[strlen("0000:0")] - '1'), device);
}

static nvmlReturn_t name_of(nvmlDevice_t device, char *name, unsigned size)
{
	snprintf(name, size, "NVML's %d", (int)(uintptr_t)device);
	return NVML_SUCCESS;
}

tn_status cuda_management_open(struct cuda_management *nvml, char *text, size_t size)
{
	nvml_opened++;
	snprintf(text, size, "there is no NVML in this test");
	if (nvml_devices)
		*nvml = (struct cuda_management){
			.handle = &nvml_devices,
			.nvmlInit_v2 = start,
			.nvmlShutdown = end,
			.nvmlDeviceGetCount_v2 = count_all,
			.nvmlDeviceGetHandleByIndex_v2 = by_index,
			.nvmlDeviceGetHandleByPciBusId_v2 = by_place,
			.nvmlDeviceGetName = name_of,
		};
	return nvml_devices ? TN_OK : TN_MISSING_LIBRARY;
}

tn_status cuda_libraries_choose(const struct tn_host *own, int driver, struct cuda_runtime *rt,
				struct cuda_places *places, char *text, size_t size)
{
	(void)own, (void)driver, (void)rt, (void)places;
	snprintf(text, size, "the runtime of this test");
	return runtime_status;
}

void cuda_library_close(void **handle)
{
	*handle = NULL;
}

/* ---- Cases -----------------------------------------------------------------------------------*/

static struct cuda_instance instance;

static void count(const char *list, tn_status runtime)
{
	visible = list;
	runtime_status = runtime;
	nvml_opened = 0;
	instance = (struct cuda_instance){.host = &host};
	cuda_count(&instance);
}

static void devices_that_are_hidden_are_not_woken(void **state)
{
	static const char *const lists[] = {"", "-1", "7", "NoDevFiles", "0,0"};
	(void)state;
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		count(lists[i], TN_OK);
		assert_int_equal(instance.n_devices, 0);
		assert_int_equal(instance.absence, TN_NO_DEVICE);
		assert_contains(instance.reason, "none of 2 GPUs");
		assert_int_equal(nvml_opened, 0);
	}
}

static void devices_without_a_runtime_are_not_woken(void **state)
{
	(void)state;
	count(NULL, TN_MISSING_LIBRARY);
	assert_int_equal(instance.n_devices, 0);
	assert_int_equal(instance.absence, TN_MISSING_LIBRARY);
	assert_int_equal(nvml_opened, 0);
}

static void devices_that_will_be_used_are_asked(void **state)
{
	static const struct {
		const char *list;
		uint32_t n;
	} cases[] = {{NULL, 2}, {"1", 1}, {"1,0", 2}, {"GPU-22", 1}};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		count(cases[i].list, TN_OK);
		assert_int_equal(nvml_opened, 1);
		assert_int_equal(instance.n_devices, cases[i].n);
	}
	assert_string_equal(instance.devices[0].name, "Test GPU 2");
	assert_string_equal(instance.devices[0].pci, "0000:02:00.0");
}

static void a_gpu_has_its_address_and_its_uuid(void **state)
{
	static const uint8_t uuid[16] = {0x22, 0,    0,    0,    0x01, 0x23, 0x45, 0x67,
					 0x89, 0xab, 0xcd, 0xef, 0xab, 0xcd, 0xef, 0x01};
	const struct cuda_facts *facts = &instance.devices[0];
	(void)state;
	count("GPU-22", TN_OK);
	assert_int_equal(facts->identity_type, TN_IDENTITY_PCI);
	assert_int_equal(facts->identity[4], 2);
	assert_int_equal(facts->identity2_type, TN_IDENTITY_UUID);
	assert_memory_equal(facts->identity2, uuid, sizeof(uuid));
}

/* CUDA's numbers follow the speed: one of two unlike GPUs is known when it is open. */
static void a_number_among_unlike_gpus_is_unresolved(void **state)
{
	static const struct {
		const char *list;
		int is_unresolved;
	} cases[] = {{"1", 1}, {"0", 1}, {"1,0", 0}, {"GPU-22", 0}, {NULL, 0}};
	const struct cuda_facts *facts = &instance.devices[0];
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		count(cases[i].list, TN_OK);
		assert_int_equal(facts->is_unresolved, cases[i].is_unresolved);
		assert_int_equal(facts->identity_type == TN_IDENTITY_NONE, cases[i].is_unresolved);
	}
}

static void a_device_is_asked_when_its_facts_are_needed(void **state)
{
	(void)state;
	nvml_devices = 2;
	nvml_asked = nvml_ended = 0;
	count(NULL, TN_OK);
	assert_int_equal(nvml_asked, 0);
	assert_int_equal(instance.n_devices, 2);
	assert_string_equal(instance.devices[1].name, "Test GPU 2");
	for (int i = 0; i < 2; i++)
		assert_int_equal(cuda_facts_ask(&instance, &instance.devices[1]), 1);
	assert_int_equal(nvml_asked, 1);
	assert_string_equal(instance.devices[1].name, "NVML's 2");
	assert_string_equal(instance.devices[0].name, "Test GPU 1");
	assert_int_equal(nvml_ended, 0);
	cuda_facts_end(&instance);
	assert_int_equal(nvml_ended, 1);
	nvml_devices = 0;
}

/* Then the files do not tell which ones there are. */
static void all_are_asked_if_the_files_list_others(void **state)
{
	(void)state;
	nvml_devices = 3;
	nvml_asked = nvml_ended = 0;
	count(NULL, TN_OK);
	assert_int_equal(nvml_asked, 3);
	assert_int_equal(instance.n_devices, 3);
	assert_string_equal(instance.devices[2].name, "NVML's 3");
	count("GPU-77", TN_OK);
	assert_int_equal(instance.n_devices, 0);
	assert_int_equal(nvml_ended, 1);
	nvml_devices = 0;
}

/* The address is that of all slices of the GPU. */
static void a_slice_has_only_its_uuid(void **state)
{
	static const uint8_t uuid[16] = {0xf0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
	static const char *const without[] = {"MIG-GPU-f0010203-0405-0607-0809-0a0b0c0d0e0f/1/0",
					      "MIG-f0010203-0405-0607-0809-0a0b0c0d0e0",
					      "MIG-f0010203-0405-0607-08090-a0b0c0d0e0f",
					      "MIG-x0010203-0405-0607-0809-0a0b0c0d0e0f"};
	const struct cuda_facts *facts = &instance.devices[0];
	(void)state;
	count("MIG-f0010203-0405-0607-0809-0a0b0c0d0e0f", TN_OK);
	assert_int_equal(instance.n_devices, 1);
	assert_int_equal(facts->identity_type, TN_IDENTITY_NONE);
	assert_int_equal(facts->identity2_type, TN_IDENTITY_UUID);
	assert_memory_equal(facts->identity2, uuid, sizeof(uuid));
	for (size_t i = 0; i < sizeof(without) / sizeof(without[0]); i++) {
		count(without[i], TN_OK);
		assert_int_equal(instance.n_devices, 1);
		assert_int_equal(facts->identity2_type, TN_IDENTITY_NONE);
	}
}

/* ---- The folder ------------------------------------------------------------------------------*/

static char top[] = "/tmp/tenon-cuda-count-XXXXXX";
static const char *const folders[] = {"nvidia", "nvidia/gpus", "nvidia/gpus/0000:01:00.0",
				      "nvidia/gpus/0000:02:00.0"};

static int set_up(void **state)
{
	char path[64];
	(void)state;
	if (!mkdtemp(top) || chdir(top))
		return -1;
	for (size_t i = 0; i < 4; i++)
		if (mkdir(folders[i], 0700))
			return -1;
	for (int i = 1; i <= 2; i++) {
		snprintf(path, sizeof(path), "%s/information", folders[i + 1]);
		FILE *stream = fopen(path, "we");
		if (!stream)
			return -1;
		fprintf(stream,
			"Model: \t\t Test GPU %d\n"
			"GPU UUID: \t GPU-%d%d000000-0123-4567-89ab-cdefABCDEF01\n"
			"Bus Location: \t 0000:%02d:00.0\n",
			i, i, i, i);
		if (fclose(stream))
			return -1;
	}
	return 0;
}

static int tear_down(void **state)
{
	char path[64];
	(void)state;
	for (size_t i = 4; i-- > 0;) {
		snprintf(path, sizeof(path), "%s/information", folders[i]);
		unlink(path);
		rmdir(folders[i]);
	}
	return chdir("/") || rmdir(top);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(devices_that_are_hidden_are_not_woken),
		cmocka_unit_test(devices_without_a_runtime_are_not_woken),
		cmocka_unit_test(devices_that_will_be_used_are_asked),
		cmocka_unit_test(a_gpu_has_its_address_and_its_uuid),
		cmocka_unit_test(a_number_among_unlike_gpus_is_unresolved),
		cmocka_unit_test(a_slice_has_only_its_uuid),
		cmocka_unit_test(a_device_is_asked_when_its_facts_are_needed),
		cmocka_unit_test(all_are_asked_if_the_files_list_others),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
