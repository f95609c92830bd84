/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The simulated management library: the queries of a report about devices.  Its devices are those
 * of SIMCUDA_MODELS and SIMCUDA_DEVICES in the order of the bus; CUDA_VISIBLE_DEVICES is ignored.
 * The toolkit may lack its header, so the types are declared here.  What real ones are like:
 *
 *   SIMCUDA_NVML_UNSUPPORTED=NAME,...  these answer NVML_ERROR_NOT_SUPPORTED
 *   SIMCUDA_NVML_SLOW=SECONDS          a device takes so long to wake, when its handle is asked for
 *                                      the first time after a start
 *
 * SIMCUDA_MISSING and SIMCUDA_SITES (fault.h): functions that do not exist, and a line for each
 * call; without one, it was not asked.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

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
static unsigned awake;               /* bits of the devices */
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
nvmlReturn_t nvmlDeviceGetMigMode(nvmlDevice_t device, unsigned *now, unsigned *pending);
nvmlReturn_t nvmlDeviceGetNumGpuCores(nvmlDevice_t device, unsigned *cores);
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
	if (sim_is_listed("SIMCUDA_NVML_UNSUPPORTED", name))
		return NVML_ERROR_NOT_SUPPORTED;
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
	if (users++ == 0)
		awake = 0;
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
	} drivers[] = {{13000, "580.00"}, {12080, "570.00"}, {12060, "560.00"},
		       {12040, "550.00"}, {12020, "535.00"}, {12000, "525.00"}};
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

/* Wakes a device, and gives its handle. */
static nvmlReturn_t find(int index, nvmlDevice_t *device)
{
	const char *text = getenv("SIMCUDA_NVML_SLOW");
	double seconds = text && !(awake >> index & 1) ? strtod(text, NULL) : 0;
	struct timespec wait = {.tv_sec = (time_t)seconds};
	wait.tv_nsec = (long)((seconds - (double)wait.tv_sec) * 1e9);
	(void)nanosleep(&wait, NULL);
	awake |= 1u << index;
	*device = (nvmlDevice_t)(void *)&places[index];
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned index, nvmlDevice_t *device)
{
	nvmlReturn_t result = enter("nvmlDeviceGetHandleByIndex_v2");
	if (result)
		return result;
	if (index >= (unsigned)settings.devices)
		return NVML_ERROR_INVALID_ARGUMENT;
	return find((int)index, device);
}

/* Like the real one, it wakes those that come before. */
nvmlReturn_t nvmlDeviceGetHandleByUUID(const char *uuid, nvmlDevice_t *device)
{
	char text[64];
	nvmlReturn_t result = enter("nvmlDeviceGetHandleByUUID");
	for (int i = 0; i < settings.devices && !result; i++) {
		sim_device_uuid_text(i, 0, text);
		result = find(i, device);
		if (strcmp(text, uuid) == 0)
			return result;
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
		if (strcasecmp(text, bus) == 0)
			return find(i, device);
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
	sim_device_name(&settings.models[index_of(device)], name, sizeof(name));
	return answer(text, size, name);
}

nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t device, char *text, unsigned size)
{
	char uuid[64];
	nvmlReturn_t result = enter_device("nvmlDeviceGetUUID", device);
	if (result)
		return result;
	sim_device_uuid_text(index_of(device), 0, uuid);
	return answer(text, size, uuid);
}

/* It does not include allocations of the runtime; in MIG mode it is the whole device's. */
nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t *memory)
{
	nvmlReturn_t result = enter_device("nvmlDeviceGetMemoryInfo", device);
	if (result)
		return result;
	const struct sim_model *model = &settings.models[index_of(device)];
	if (model->is_integrated)
		return NVML_ERROR_NOT_SUPPORTED;
	*memory = (nvmlMemory_t){model->memory, model->memory, 0};
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetMigMode(nvmlDevice_t device, unsigned *now, unsigned *pending)
{
	nvmlReturn_t result = enter_device("nvmlDeviceGetMigMode", device);
	if (!result)
		*now = *pending = settings.models[index_of(device)].slice > 0;
	return result;
}

nvmlReturn_t nvmlDeviceGetNumGpuCores(nvmlDevice_t device, unsigned *cores)
{
	nvmlReturn_t result = enter_device("nvmlDeviceGetNumGpuCores", device);
	if (result)
		return result;
	const struct sim_model *model = &settings.models[index_of(device)];
	*cores = (unsigned)model->multiprocessors * (model->arch <= 80 ? 64 : 128);
	return NVML_SUCCESS;
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
	*major = settings.models[index_of(device)].arch / 10;
	*minor = settings.models[index_of(device)].arch % 10;
	return NVML_SUCCESS;
}

/* Graphics, multiprocessors, memory and video, in MHz. */
static nvmlReturn_t answer_clock(nvmlDevice_t device, unsigned type, unsigned *clock)
{
	const unsigned fastest = (unsigned)settings.models[index_of(device)].clock;
	const unsigned clocks[] = {fastest, fastest, 2619, 1600};
	if (type > 3)
		return NVML_ERROR_INVALID_ARGUMENT;
	*clock = clocks[type];
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t device, unsigned type, unsigned *clock)
{
	nvmlReturn_t result = enter_device("nvmlDeviceGetClockInfo", device);
	return result ? result : answer_clock(device, type, clock);
}

nvmlReturn_t nvmlDeviceGetMaxClockInfo(nvmlDevice_t device, unsigned type, unsigned *clock)
{
	nvmlReturn_t result = enter_device("nvmlDeviceGetMaxClockInfo", device);
	return result ? result : answer_clock(device, type, clock);
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
