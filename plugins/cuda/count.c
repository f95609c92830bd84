/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Finds the devices.  The CUDA runtime and driver do not survive a fork after their first call, so
 * they are not asked: NVIDIA's management library is, or the files that the driver provides in
 * /proc.  Both list the devices in bus order, to which CUDA_VISIBLE_DEVICES is applied as the
 * runtime will do it.  The library has more facts, but starting it may wake sleeping devices: if
 * the files show that none of them will be used, it is not started.
 */
#include "plugin.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A test has a folder of its own. */
#ifndef CUDA_PROC
#define CUDA_PROC "/proc/driver/nvidia"
#endif

/* The result of the search, before the variable selects from it. */
struct search {
	struct cuda_instance *instance;
	int is_uncertain; /* only the runtime knows what a number in the variable means */
	uint32_t n;
	struct cuda_facts found[CUDA_MAX_DEVICES];
};

static void set_absence(struct cuda_instance *instance, tn_status status, const char *text)
{
	instance->absence = status;
	snprintf(instance->reason, sizeof(instance->reason), "%s", text);
}

/* ---- Identity --------------------------------------------------------------------------------*/

/* "GPU-" or "MIG-" and 32 digits with dashes between them; the older names of slices
 * ("MIG-GPU-.../1/0") have the UUID of the whole device. */
static void identify_by_uuid(struct cuda_facts *facts)
{
	static const char form[] = "00000000-0000-0000-0000-000000000000";
	const char *text = facts->uuid + 4;
	uint8_t bytes[16];
	if (strlen(facts->uuid) != sizeof(form) - 1 + 4)
		return;
	for (size_t i = 0, n = 0; form[i]; i++) {
		if (form[i] == '-' ? text[i] != '-' : !isxdigit((unsigned char)text[i]))
			return;
		if (form[i] == '-' || n++ % 2 == 0)
			continue;
		const char digits[] = {text[i - 1], text[i], 0};
		bytes[n / 2 - 1] = (uint8_t)strtoul(digits, NULL, 16);
	}
	facts->identity2_type = TN_IDENTITY_UUID;
	memcpy(facts->identity2, bytes, sizeof(bytes));
}

static void identify(struct cuda_facts *facts)
{
	unsigned domain, bus, device, function;
	identify_by_uuid(facts);
	if (sscanf(facts->pci, "%x:%x:%x.%x", &domain, &bus, &device, &function) != 4)
		return;
	/* In the runtime's format: NVML gives the domain eight digits. */
	snprintf(facts->pci, sizeof(facts->pci), "%04x:%02x:%02x.%x", domain, bus, device,
		 function);
	facts->identity_type = TN_IDENTITY_PCI;
	for (int i = 0; i < 4; i++)
		facts->identity[i] = (uint8_t)(domain >> (8 * i));
	facts->identity[4] = (uint8_t)bus;
	facts->identity[5] = (uint8_t)device;
	facts->identity[6] = (uint8_t)function;
}

/* ---- The management library ------------------------------------------------------------------*/

static void ask_speed(const struct cuda_management *nvml, nvmlDevice_t handle,
		      struct cuda_facts *facts)
{
	unsigned int cores = 0, clock = 0;
	if (!nvml->nvmlDeviceGetNumGpuCores || !nvml->nvmlDeviceGetMaxClockInfo ||
	    nvml->nvmlDeviceGetNumGpuCores(handle, &cores) ||
	    nvml->nvmlDeviceGetMaxClockInfo(handle, NVML_CLOCK_SM, &clock))
		return;
	facts->cores = cores;
	facts->clock = clock;
}

static void ask_device(const struct cuda_management *nvml, nvmlDevice_t handle,
		       struct cuda_facts *facts)
{
	nvmlMemory_t memory = {0, 0, 0};
	nvmlPciInfo_t pci;
	int major = 0, minor = 0;
	memset(&pci, 0, sizeof(pci));
	if (nvml->nvmlDeviceGetName(handle, facts->name, sizeof(facts->name)))
		snprintf(facts->name, sizeof(facts->name), "NVIDIA GPU");
	if (nvml->nvmlDeviceGetUUID(handle, facts->uuid, sizeof(facts->uuid)))
		facts->uuid[0] = 0;
	if (!nvml->nvmlDeviceGetMemoryInfo(handle, &memory))
		facts->memory_bytes = memory.total;
	if (!nvml->nvmlDeviceGetPciInfo_v3(handle, &pci))
		snprintf(facts->pci, sizeof(facts->pci), "%.*s", (int)sizeof(pci.busId) - 1,
			 pci.busId);
	if (!nvml->nvmlDeviceGetCudaComputeCapability(handle, &major, &minor))
		facts->architecture = (uint32_t)(10 * major + minor);
	ask_speed(nvml, handle, facts);
	identify(facts);
}

static void ask_driver(const struct cuda_management *nvml, struct cuda_instance *instance)
{
	char version[48] = "";
	int cuda = 0;
	if (nvml->nvmlSystemGetDriverVersion(version, sizeof(version)))
		version[0] = 0;
	if (nvml->nvmlSystemGetCudaDriverVersion_v2(&cuda) || cuda <= 0)
		return;
	instance->driver_cuda = cuda;
	snprintf(instance->driver, sizeof(instance->driver), "driver %.40s, CUDA %d.%d", version,
		 cuda / 1000, cuda % 1000 / 10);
}

static void ask_all(const struct cuda_management *nvml, struct search *search)
{
	unsigned int n = 0;
	nvmlReturn_t code = nvml->nvmlDeviceGetCount_v2(&n);
	ask_driver(nvml, search->instance);
	for (unsigned int i = 0; !code && i < n && search->n < CUDA_MAX_DEVICES; i++) {
		nvmlDevice_t handle = NULL;
		memset(&search->found[search->n], 0, sizeof(search->found[0]));
		/* A device that fell off the bus is not visible to the runtime either. */
		if (!nvml->nvmlDeviceGetHandleByIndex_v2(i, &handle))
			ask_device(nvml, handle, &search->found[search->n++]);
	}
}

/* 0: the library is missing or fails to start; the instance has the reason. */
static int search_management(struct search *search)
{
	struct cuda_management nvml = {.handle = NULL};
	struct cuda_instance *instance = search->instance;
	char text[192];
	if (cuda_management_open(&nvml, text, sizeof(text))) {
		instance->absence = TN_NO_DRIVER;
		snprintf(instance->reason, sizeof(instance->reason),
			 "no NVIDIA driver is installed: %s", text);
		return 0;
	}
	nvmlReturn_t code = nvml.nvmlInit_v2();
	if (code) {
		instance->absence =
			code == NVML_ERROR_DRIVER_NOT_LOADED ? TN_NO_DRIVER : TN_PROBE_FAILED;
		snprintf(instance->reason, sizeof(instance->reason),
			 "the NVIDIA driver does not answer: %.160s (NVML %d)",
			 nvml.nvmlErrorString(code), code);
	} else {
		ask_all(&nvml, search);
		(void)nvml.nvmlShutdown();
	}
	cuda_library_close(&nvml.handle);
	return code == NVML_SUCCESS;
}

/* ---- /proc -----------------------------------------------------------------------------------*/

/* "Model: \t NVIDIA H200" */
static void read_line(const char *line, const char *key, char *value, size_t size)
{
	size_t length = strlen(key);
	if (strncmp(line, key, length) != 0 || line[length] != ':')
		return;
	line += length + 1;
	line += strspn(line, " \t");
	snprintf(value, size, "%.*s", (int)strcspn(line, "\n"), line);
}

/* A container may show all devices of its host in /proc but have the nodes of only some. */
static int has_node(const char *minor)
{
	char path[64];
	snprintf(path, sizeof(path), "/dev/nvidia%.8s", minor);
	return !minor[0] || access(path, F_OK) == 0;
}

static int read_gpu(const char *folder, struct cuda_facts *facts)
{
	char path[sizeof(CUDA_PROC) + 300], line[256], minor[16] = "";
	memset(facts, 0, sizeof(*facts));
	snprintf(path, sizeof(path), CUDA_PROC "/gpus/%s/information", folder);
	FILE *stream = fopen(path, "re");
	if (!stream)
		return 0;
	while (fgets(line, sizeof(line), stream)) {
		read_line(line, "Model", facts->name, sizeof(facts->name));
		read_line(line, "GPU UUID", facts->uuid, sizeof(facts->uuid));
		read_line(line, "Bus Location", facts->pci, sizeof(facts->pci));
		read_line(line, "Device Minor", minor, sizeof(minor));
	}
	(void)fclose(stream);
	identify(facts);
	return has_node(minor);
}

static int is_entry(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static void search_files(struct search *search)
{
	struct dirent **list = NULL;
	int n = scandir(CUDA_PROC "/gpus", &list, is_entry, alphasort);
	for (int i = 0; i < n; i++) {
		if (search->n < CUDA_MAX_DEVICES &&
		    read_gpu(list[i]->d_name, &search->found[search->n]))
			search->n++;
		free(list[i]);
	}
	free(list);
}

/* ---- CUDA_VISIBLE_DEVICES --------------------------------------------------------------------*/

/* CUDA numbers devices by speed, and how it measures that is its own: if devices differ and not all
 * are named, only the runtime knows which one a number means. */
static int has_certain_numbers(const struct search *search, const char *list)
{
	const struct tn_host *host = search->instance->host;
	const char *order = host->parameter(host->context, "CUDA_DEVICE_ORDER",
					    "PCI_BUS_ID: CUDA numbers GPUs by their PCI address");
	int is_alike = 1;
	uint32_t n_words = 1;
	for (uint32_t i = 1; i < search->n; i++)
		is_alike &= !strcmp(search->found[i].name, search->found[0].name);
	for (; *list; list++)
		n_words += *list == ',';
	return is_alike || n_words >= search->n || (order && !strcmp(order, "PCI_BUS_ID"));
}

static void leave_unresolved(struct cuda_facts *facts, long number)
{
	memset(facts, 0, sizeof(*facts));
	facts->is_unresolved = 1;
	snprintf(facts->name, sizeof(facts->name), "NVIDIA GPU (CUDA's number %ld)", number);
}

static int is_same(const struct cuda_facts *a, const struct cuda_facts *b)
{
	return !strcmp(a->pci, b->pci) && !strcmp(a->uuid, b->uuid) && !strcmp(a->name, b->name);
}

/* The device whose UUID begins so, if exactly one does; else -1. */
static int find_uuid(const struct search *search, const char *text, size_t length)
{
	int found = -1;
	for (uint32_t i = 0; i < search->n; i++) {
		if (strncmp(search->found[i].uuid, text, length) != 0)
			continue;
		if (found >= 0)
			return -1;
		found = (int)i;
	}
	return found;
}

/* Takes one entry of the list; 0: it is invalid, and ends the list. */
static int add_entry(const struct search *search, const char *text, size_t length)
{
	struct cuda_instance *instance = search->instance;
	char word[80], *end;
	if (length == 0 || length >= sizeof(word) || instance->n_devices == CUDA_MAX_DEVICES)
		return 0;
	memcpy(word, text, length);
	word[length] = 0;
	if (!strncmp(word, "MIG-", 4)) {
		/* Only the runtime has the facts of a MIG slice; its own UUID is its name. */
		struct cuda_facts *facts = &instance->devices[instance->n_devices++];
		memset(facts, 0, sizeof(*facts));
		snprintf(facts->name, sizeof(facts->name), "NVIDIA MIG device");
		snprintf(facts->uuid, sizeof(facts->uuid), "%.63s", word);
		identify_by_uuid(facts);
		return 0; /* a process can use only one */
	}
	long index = isdigit((unsigned char)word[0]) ? strtol(word, &end, 10)
		     : strncmp(word, "GPU-", 4)      ? -1
						     : find_uuid(search, word, length);
	if (index < 0 || index >= (long)search->n)
		return 0;
	struct cuda_facts facts = search->found[index];
	if (search->is_uncertain && word[0] != 'G')
		leave_unresolved(&facts, index);
	for (uint32_t i = 0; i < instance->n_devices; i++) {
		if (is_same(&instance->devices[i], &facts)) {
			instance->n_devices = 0; /* named twice: the runtime then shows none */
			return 0;
		}
	}
	instance->devices[instance->n_devices++] = facts;
	return 1;
}

static void choose_visible(const struct search *search, const char *list)
{
	struct cuda_instance *instance = search->instance;
	if (!list) {
		memcpy(instance->devices, search->found, search->n * sizeof(search->found[0]));
		instance->n_devices = search->n;
		return;
	}
	for (;;) {
		list += strspn(list, " \t");
		size_t length = strcspn(list, ",");
		size_t word = length;
		while (word && isspace((unsigned char)list[word - 1]))
			word--;
		if (!add_entry(search, list, word) || !list[length])
			return;
		list += length + 1;
	}
}

/* ---- All of it -------------------------------------------------------------------------------*/

/* Devices without the libraries that are needed to use them, or whose driver runs none. */
static void check_libraries(struct cuda_instance *instance)
{
	char text[sizeof(instance->reason)];
	tn_status status =
		cuda_libraries_choose(instance->host, instance->driver_cuda, &instance->rt,
				      &instance->places, text, sizeof(text));
	if (!status)
		return;
	instance->n_devices = 0;
	instance->absence = status;
	snprintf(instance->reason, sizeof(instance->reason), "%s%s%.*s", instance->driver,
		 instance->driver[0] ? ": " : "",
		 (int)(sizeof(instance->reason) - sizeof(": ") - strlen(instance->driver)), text);
}

/* 0: none is left, and the instance has the reason. */
static int choose_devices(struct search *search, const char *visible)
{
	struct cuda_instance *instance = search->instance;
	search->is_uncertain = visible && !has_certain_numbers(search, visible);
	memcpy(instance->found, search->found, search->n * sizeof(search->found[0]));
	instance->n_found = search->n;
	instance->n_devices = 0;
	choose_visible(search, visible);
	if (instance->n_devices)
		return 1;
	instance->absence = TN_NO_DEVICE;
	snprintf(instance->reason, sizeof(instance->reason),
		 "CUDA_VISIBLE_DEVICES=%.100s leaves none of %u GPUs", visible ? visible : "",
		 search->n);
	return 0;
}

/* Are there devices, none of which can be used?  The files may lack a device named by UUID. */
static int is_settled_by_files(struct cuda_instance *instance, const char *visible)
{
	struct search search = {.instance = instance};
	search_files(&search);
	if (!search.n || (visible && (strstr(visible, "GPU-") || strstr(visible, "MIG-"))))
		return 0;
	if (!choose_devices(&search, visible))
		return 1;
	check_libraries(instance);
	return !instance->n_devices;
}

static void find_devices(struct search *search)
{
	struct cuda_instance *instance = search->instance;
	const struct tn_host *host = instance->host;
	const char *visible =
		host->parameter(host->context, "CUDA_VISIBLE_DEVICES",
				"the GPUs that the cuda backend uses: numbers or UUIDs");
	if (is_settled_by_files(instance, visible))
		return;
	instance->n_devices = 0;
	int has_driver = search_management(search);
	if (!search->n)
		search_files(search);
	if (!search->n && !has_driver)
		return;
	if (search->n)
		(void)choose_devices(search, visible);
	else
		set_absence(instance, TN_NO_DEVICE, "the NVIDIA driver shows no GPU");
}

void cuda_count(struct cuda_instance *instance)
{
	struct search search = {.instance = instance};
	if (instance->is_counted)
		return;
	instance->is_counted = 1;
	find_devices(&search);
	if (instance->n_devices)
		check_libraries(instance);
}
