/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The facts of devices, from NVIDIA's management library.  It need not have, or answer, more than
 * what lists the devices: what it does not tell stays unknown.
 */
#include "facts.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

void cuda_facts_identify(struct cuda_facts *facts)
{
	unsigned domain, bus, device, function;
	facts->identity_type = facts->identity2_type = TN_IDENTITY_NONE;
	if (!facts->is_cut)
		identify_by_uuid(facts);
	if (sscanf(facts->pci, "%x:%x:%x.%x", &domain, &bus, &device, &function) != 4)
		return;
	/* In the runtime's format: NVML gives the domain eight digits. */
	snprintf(facts->pci, sizeof(facts->pci), "%04x:%02x:%02x.%x", domain, bus, device,
		 function);
	if (facts->is_cut)
		return;
	facts->identity_type = TN_IDENTITY_PCI;
	for (int i = 0; i < 4; i++)
		facts->identity[i] = (uint8_t)(domain >> (8 * i));
	facts->identity[4] = (uint8_t)bus;
	facts->identity[5] = (uint8_t)device;
	facts->identity[6] = (uint8_t)function;
}

/* ---- One device ------------------------------------------------------------------------------*/

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

static void ask_marks(const struct cuda_management *nvml, nvmlDevice_t handle,
		      struct cuda_facts *facts)
{
	char text[sizeof(facts->name)];
	nvmlPciInfo_t pci;
	memset(&pci, 0, sizeof(pci));
	if (nvml->nvmlDeviceGetName && !nvml->nvmlDeviceGetName(handle, text, sizeof(text)))
		memcpy(facts->name, text, sizeof(facts->name));
	if (!facts->name[0])
		snprintf(facts->name, sizeof(facts->name), "NVIDIA GPU");
	if (nvml->nvmlDeviceGetUUID && !nvml->nvmlDeviceGetUUID(handle, text, sizeof(facts->uuid)))
		memcpy(facts->uuid, text, sizeof(facts->uuid));
	if (nvml->nvmlDeviceGetPciInfo_v3 && !nvml->nvmlDeviceGetPciInfo_v3(handle, &pci))
		snprintf(facts->pci, sizeof(facts->pci), "%.*s", (int)sizeof(pci.busId) - 1,
			 pci.busId);
}

/* In MIG mode the process gets a slice of the device: which one, only the runtime knows.  Name and
 * identity of the whole would be wrong for it, and so would the memory be. */
static void ask_slices(const struct cuda_management *nvml, nvmlDevice_t handle,
		       struct cuda_facts *facts)
{
	static const char slice[] = ", a MIG slice";
	unsigned int now = 0, pending = 0;
	if (!nvml->nvmlDeviceGetMigMode || nvml->nvmlDeviceGetMigMode(handle, &now, &pending) ||
	    !now)
		return;
	facts->is_cut = 1;
	facts->memory_bytes = 0;
	facts->uuid[0] = 0;
	size_t length = strnlen(facts->name, sizeof(facts->name) - sizeof(slice));
	memcpy(facts->name + length, slice, sizeof(slice));
}

static void ask_device(const struct cuda_management *nvml, nvmlDevice_t handle,
		       struct cuda_facts *facts)
{
	nvmlMemory_t memory = {0, 0, 0};
	int major = 0, minor = 0;
	ask_marks(nvml, handle, facts);
	if (nvml->nvmlDeviceGetMemoryInfo && !nvml->nvmlDeviceGetMemoryInfo(handle, &memory))
		facts->memory_bytes = memory.total;
	if (nvml->nvmlDeviceGetCudaComputeCapability &&
	    !nvml->nvmlDeviceGetCudaComputeCapability(handle, &major, &minor))
		facts->architecture = (uint32_t)(10 * major + minor);
	ask_speed(nvml, handle, facts);
	ask_slices(nvml, handle, facts);
	cuda_facts_identify(facts);
}

int cuda_facts_ask(struct cuda_instance *instance, struct cuda_facts *facts)
{
	const struct cuda_management *nvml = &instance->nvml;
	nvmlDevice_t handle = NULL;
	if (facts->is_asked || facts->is_unresolved || !nvml->handle)
		return 1;
	facts->is_asked = 1;
	/* The files' order may be another one than the library's. */
	nvmlReturn_t code = facts->pci[0] && nvml->nvmlDeviceGetHandleByPciBusId_v2
				    ? nvml->nvmlDeviceGetHandleByPciBusId_v2(facts->pci, &handle)
				    : nvml->nvmlDeviceGetHandleByIndex_v2(facts->index, &handle);
	if (!code)
		ask_device(nvml, handle, facts);
	return !code;
}

/* ---- The library -----------------------------------------------------------------------------*/

static void ask_driver(struct cuda_instance *instance)
{
	const struct cuda_management *nvml = &instance->nvml;
	char version[48] = "";
	int cuda = 0;
	if (!nvml->nvmlSystemGetDriverVersion ||
	    nvml->nvmlSystemGetDriverVersion(version, sizeof(version)))
		snprintf(version, sizeof(version), "of unknown version");
	if (nvml->nvmlSystemGetCudaDriverVersion_v2)
		(void)nvml->nvmlSystemGetCudaDriverVersion_v2(&cuda);
	instance->driver_cuda = cuda > 0 ? cuda : 0;
	int n = snprintf(instance->driver, sizeof(instance->driver), "driver %.40s", version);
	if (cuda > 0)
		snprintf(instance->driver + n, sizeof(instance->driver) - (size_t)n, ", CUDA %d.%d",
			 cuda / 1000, cuda % 1000 / 10);
}

static int start(struct cuda_instance *instance)
{
	struct cuda_management *nvml = &instance->nvml;
	nvmlReturn_t code = nvml->nvmlInit_v2();
	if (!code)
		return 1;
	instance->absence = code == NVML_ERROR_DRIVER_NOT_LOADED ? TN_NO_DRIVER : TN_PROBE_FAILED;
	snprintf(instance->reason, sizeof(instance->reason),
		 "the NVIDIA driver does not answer: %.160s (NVML %d)", nvml->nvmlErrorString(code),
		 code);
	cuda_library_close(&nvml->handle);
	return 0;
}

int cuda_facts_begin(struct cuda_instance *instance)
{
	char text[224];
	if (instance->nvml.handle)
		return 1;
	tn_status status = cuda_management_open(&instance->nvml, text, sizeof(text));
	if (status) {
		instance->absence = status;
		snprintf(instance->reason, sizeof(instance->reason), "%s%s",
			 status == TN_NO_DRIVER ? "no NVIDIA driver is installed: " : "", text);
		return 0;
	}
	if (!start(instance))
		return 0;
	ask_driver(instance);
	return 1;
}

void cuda_facts_end(struct cuda_instance *instance)
{
	if (!instance->nvml.handle)
		return;
	(void)instance->nvml.nvmlShutdown();
	cuda_library_close(&instance->nvml.handle);
}
