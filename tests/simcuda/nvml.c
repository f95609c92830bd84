/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The simulated management library: the queries of a report about devices.  Its devices are those
 * of SIMCUDA_DEVICES; CUDA_VISIBLE_DEVICES is ignored.  The toolkit may lack its header, so the
 * types are declared here.
 */
#include <stdio.h>
#include <string.h>

#include "fault.h"
#include "settings.h"
#include "simcuda.h"

typedef struct nvmlDevice_st *nvmlDevice_t;
typedef int nvmlReturn_t;

typedef struct {
	unsigned long long total, free, used;
} nvmlMemory_t;

typedef struct {
	char busIdLegacy[16];
	unsigned domain, bus, device, pciDeviceId, pciSubSystemId;
	char busId[32];
} nvmlPciInfo_t;

typedef struct {
	unsigned gpu, memory;
} nvmlUtilization_t;

enum {
	NVML_SUCCESS = 0,
	NVML_ERROR_UNINITIALIZED = 1,
	NVML_ERROR_INVALID_ARGUMENT = 2,
	NVML_ERROR_NOT_SUPPORTED = 3,
	NVML_ERROR_NOT_FOUND = 6,
	NVML_ERROR_INSUFFICIENT_SIZE = 7,
	NVML_ERROR_DRIVER_NOT_LOADED = 9,
};

static struct sim_settings settings;
static int users;
static char places[SIM_MAX_DEVICES]; /* a handle is the address of one */

nvmlReturn_t nvmlInit_v2(void);
nvmlReturn_t nvmlInitWithFlags(unsigned flags);
nvmlReturn_t nvmlShutdown(void);
const char *nvmlErrorString(nvmlReturn_t code);
nvmlReturn_t nvmlSystemGetDriverVersion(char *text, unsigned size);
nvmlReturn_t nvmlSystemGetNVMLVersion(char *text, unsigned size);
nvmlReturn_t nvmlSystemGetCudaDriverVersion(int *version);
nvmlReturn_t nvmlSystemGetCudaDriverVersion_v2(int *version);
nvmlReturn_t nvmlDeviceGetCount_v2(unsigned *count);
nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned index, nvmlDevice_t *device);
nvmlReturn_t nvmlDeviceGetHandleByPciBusId_v2(const char *bus, nvmlDevice_t *device);
nvmlReturn_t nvmlDeviceGetHandleByUUID(const char *uuid, nvmlDevice_t *device);
nvmlReturn_t nvmlDeviceGetIndex(nvmlDevice_t device, unsigned *index);
nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t device, char *text, unsigned size);
nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t device, char *text, unsigned size);
nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t *memory);
nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t device, nvmlPciInfo_t *pci);
nvmlReturn_t nvmlDeviceGetCudaComputeCapability(nvmlDevice_t device, int *major, int *minor);
nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t device, unsigned type, unsigned *clock);
nvmlReturn_t nvmlDeviceGetMaxClockInfo(nvmlDevice_t device, unsigned type, unsigned *clock);
nvmlReturn_t nvmlDeviceGetTemperature(nvmlDevice_t device, unsigned sensor, unsigned *degrees);
nvmlReturn_t nvmlDeviceGetPowerUsage(nvmlDevice_t device, unsigned *milliwatts);
nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t device, nvmlUtilization_t *rates);

static nvmlReturn_t enter(const char *name)
{
	int sticky = 0;
	nvmlReturn_t fault = sim_fault_next(name, &sticky);
	if (fault)
		return fault;
	return users > 0 ? NVML_SUCCESS : NVML_ERROR_UNINITIALIZED;
}

/* The device's number, or -1. */
static int index_of(nvmlDevice_t device)
{
	for (int i = 0; i < settings.devices; i++)
		if ((char *)device == &places[i])
			return i;
	return -1;
}

static nvmlReturn_t enter_device(const char *name, nvmlDevice_t device)
{
	nvmlReturn_t result = enter(name);
	if (result)
		return result;
	return index_of(device) < 0 ? NVML_ERROR_INVALID_ARGUMENT : NVML_SUCCESS;
}

static nvmlReturn_t answer(char *to, unsigned size, const char *text)
{
	if (size <= strlen(text))
		return NVML_ERROR_INSUFFICIENT_SIZE;
	snprintf(to, size, "%s", text);
	return NVML_SUCCESS;
}

void simcudaNvmlInject(const char *name, unsigned n, int code)
{
	sim_fault_add(name, n, code, 0);
}

unsigned long simcudaNvmlCalls(const char *name)
{
	return sim_fault_calls(name);
}

/* ---- The library -----------------------------------------------------------------------------*/

static nvmlReturn_t begin(const char *name)
{
	int sticky = 0;
	nvmlReturn_t fault = sim_fault_next(name, &sticky);
	if (fault)
		return fault;
	sim_settings_read(&settings);
	if (settings.driver == 0)
		return NVML_ERROR_DRIVER_NOT_LOADED;
	users++;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlInit_v2(void)
{
	return begin("nvmlInit_v2");
}

nvmlReturn_t nvmlInitWithFlags(unsigned flags)
{
	(void)flags;
	return begin("nvmlInitWithFlags");
}

nvmlReturn_t nvmlShutdown(void)
{
	nvmlReturn_t result = enter("nvmlShutdown");
	if (!result)
		users--;
	return result;
}

const char *nvmlErrorString(nvmlReturn_t code)
{
	switch (code) {
	case NVML_SUCCESS:
		return "The operation was successful";
	case NVML_ERROR_UNINITIALIZED:
		return "Uninitialized";
	case NVML_ERROR_INVALID_ARGUMENT:
		return "Invalid Argument";
	case NVML_ERROR_NOT_SUPPORTED:
		return "Not Supported";
	case NVML_ERROR_NOT_FOUND:
		return "Not Found";
	case NVML_ERROR_INSUFFICIENT_SIZE:
		return "Insufficient Size";
	case NVML_ERROR_DRIVER_NOT_LOADED:
		return "Driver Not Loaded";
	default:
		return "Unknown Error";
	}
}

/* Of the driver that came with that version of CUDA. */
static const char *driver_version(void)
{
	static const struct {
		int cuda;
		const char *version;
	} drivers[] = {{13000, "580.00"}, {12080, "570.00"}, {12000, "525.00"}};
	for (size_t i = 0; i < sizeof(drivers) / sizeof(drivers[0]); i++)
		if (settings.driver >= drivers[i].cuda)
			return drivers[i].version;
	return "470.00";
}

nvmlReturn_t nvmlSystemGetDriverVersion(char *text, unsigned size)
{
	nvmlReturn_t result = enter("nvmlSystemGetDriverVersion");
	return result ? result : answer(text, size, driver_version());
}

nvmlReturn_t nvmlSystemGetNVMLVersion(char *text, unsigned size)
{
	nvmlReturn_t result = enter("nvmlSystemGetNVMLVersion");
	return result ? result : answer(text, size, "13.580.00");
}

nvmlReturn_t nvmlSystemGetCudaDriverVersion(int *version)
{
	nvmlReturn_t result = enter("nvmlSystemGetCudaDriverVersion");
	if (!result)
		*version = settings.driver;
	return result;
}

nvmlReturn_t nvmlSystemGetCudaDriverVersion_v2(int *version)
{
	nvmlReturn_t result = enter("nvmlSystemGetCudaDriverVersion_v2");
	if (!result)
		*version = settings.driver;
	return result;
}

/* ---- Which devices ---------------------------------------------------------------------------*/

nvmlReturn_t nvmlDeviceGetCount_v2(unsigned *count)
{
	nvmlReturn_t result = enter("nvmlDeviceGetCount_v2");
	if (!result)
		*count = (unsigned)settings.devices;
	return result;
}

nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned index, nvmlDevice_t *device)
{
	nvmlReturn_t result = enter("nvmlDeviceGetHandleByIndex_v2");
	if (result)
		return result;
	if (index >= (unsigned)settings.devices)
		return NVML_ERROR_INVALID_ARGUMENT;
	*device = (nvmlDevice_t)(void *)&places[index];
	return NVML_SUCCESS;
}

/* In hexadecimal digits, like the real one. */
static void uuid_text(int index, char text[64])
{
	unsigned char uuid[16];
	int length = snprintf(text, 64, "GPU-");
	sim_device_uuid(index, uuid);
	for (int i = 0; i < 16; i++)
		length += snprintf(text + length, (size_t)(64 - length), "%s%02x",
				   i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid[i]);
}

nvmlReturn_t nvmlDeviceGetHandleByUUID(const char *uuid, nvmlDevice_t *device)
{
	char text[64];
	nvmlReturn_t result = enter("nvmlDeviceGetHandleByUUID");
	for (int i = 0; i < settings.devices && !result; i++) {
		uuid_text(i, text);
		if (strcmp(text, uuid) == 0) {
			*device = (nvmlDevice_t)(void *)&places[i];
			return NVML_SUCCESS;
		}
	}
	return result ? result : NVML_ERROR_NOT_FOUND;
}

/* The domain has four digits with one library and eight with the other. */
nvmlReturn_t nvmlDeviceGetHandleByPciBusId_v2(const char *bus, nvmlDevice_t *device)
{
	char text[32];
	nvmlReturn_t result = enter("nvmlDeviceGetHandleByPciBusId_v2");
	if (strlen(bus) == 16)
		bus += 4;
	for (int i = 0; i < settings.devices && !result; i++) {
		sim_device_bus(i, text, sizeof(text));
		if (strcmp(text, bus) == 0) {
			*device = (nvmlDevice_t)(void *)&places[i];
			return NVML_SUCCESS;
		}
	}
	return result ? result : NVML_ERROR_NOT_FOUND;
}

nvmlReturn_t nvmlDeviceGetIndex(nvmlDevice_t device, unsigned *index)
{
	nvmlReturn_t result = enter_device("nvmlDeviceGetIndex", device);
	if (!result)
		*index = (unsigned)index_of(device);
	return result;
}

/* ---- What one is like ------------------------------------------------------------------------*/

nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t device, char *text, unsigned size)
{
	char name[96];
	nvmlReturn_t result = enter_device("nvmlDeviceGetName", device);
	if (result)
		return result;
	sim_device_name(&settings, name, sizeof(name));
	return answer(text, size, name);
}

nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t device, char *text, unsigned size)
{
	char uuid[64];
	nvmlReturn_t result = enter_device("nvmlDeviceGetUUID", device);
	if (result)
		return result;
	uuid_text(index_of(device), uuid);
	return answer(text, size, uuid);
}

/* It does not include allocations of the runtime. */
nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t *memory)
{
	nvmlReturn_t result = enter_device("nvmlDeviceGetMemoryInfo", device);
	if (!result)
		*memory = (nvmlMemory_t){settings.memory, settings.memory, 0};
	return result;
}

nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t device, nvmlPciInfo_t *pci)
{
	nvmlReturn_t result = enter_device("nvmlDeviceGetPciInfo_v3", device);
	if (result)
		return result;
	memset(pci, 0, sizeof(*pci));
	pci->bus = (unsigned)index_of(device) + 1;
	sim_device_bus(index_of(device), pci->busIdLegacy, sizeof(pci->busIdLegacy));
	snprintf(pci->busId, sizeof(pci->busId), "0000%s", pci->busIdLegacy);
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetCudaComputeCapability(nvmlDevice_t device, int *major, int *minor)
{
	nvmlReturn_t result = enter_device("nvmlDeviceGetCudaComputeCapability", device);
	if (result)
		return result;
	*major = settings.arch / 10;
	*minor = settings.arch % 10;
	return NVML_SUCCESS;
}

/* Graphics, multiprocessors, memory and video, in MHz. */
static nvmlReturn_t answer_clock(unsigned type, unsigned *clock)
{
	static const unsigned clocks[] = {1980, 1980, 2619, 1600};
	if (type > 3)
		return NVML_ERROR_INVALID_ARGUMENT;
	*clock = clocks[type];
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t device, unsigned type, unsigned *clock)
{
	nvmlReturn_t result = enter_device("nvmlDeviceGetClockInfo", device);
	return result ? result : answer_clock(type, clock);
}

nvmlReturn_t nvmlDeviceGetMaxClockInfo(nvmlDevice_t device, unsigned type, unsigned *clock)
{
	nvmlReturn_t result = enter_device("nvmlDeviceGetMaxClockInfo", device);
	return result ? result : answer_clock(type, clock);
}

nvmlReturn_t nvmlDeviceGetTemperature(nvmlDevice_t device, unsigned sensor, unsigned *degrees)
{
	nvmlReturn_t result = enter_device("nvmlDeviceGetTemperature", device);
	if (result || sensor != 0)
		return result ? result : NVML_ERROR_INVALID_ARGUMENT;
	*degrees = 40;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetPowerUsage(nvmlDevice_t device, unsigned *milliwatts)
{
	nvmlReturn_t result = enter_device("nvmlDeviceGetPowerUsage", device);
	if (!result)
		*milliwatts = 100000;
	return result;
}

nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t device, nvmlUtilization_t *rates)
{
	nvmlReturn_t result = enter_device("nvmlDeviceGetUtilizationRates", device);
	if (!result)
		*rates = (nvmlUtilization_t){0, 0};
	return result;
}
