/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Table tenon.report/1: versions, and the values that the management library reads from the
 * device's sensors.  No line waits for the device's work.  A report does not open cuBLAS or NVRTC:
 * their first use does.
 */
#include "report.h"

#include <stdio.h>
#include <string.h>

#include "dnn.h"
#include "status.h"

enum { OF_PROCESSORS = 1, OF_MEMORY = 2 }; /* clocks: NVML_CLOCK_SM, NVML_CLOCK_MEM */
enum { OF_DIE = 0 };                       /* sensors: NVML_TEMPERATURE_GPU */

#define NOT_OPEN "not open yet"

struct cuda_sensors {
	struct cuda_management nvml;
	nvmlDevice_t handle; /* NULL: unknown to the library */
};

/* ---- The management library ------------------------------------------------------------------*/

/* Opened by the first report; a failed start is not retried. */
static struct cuda_sensors *sensors_of(struct cuda_device *device)
{
	char text[256];
	if (device->sensors)
		return device->sensors;
	struct cuda_sensors *sensors = tn_plugin_alloc(device->host, sizeof(*sensors));
	if (!sensors)
		return NULL;
	device->sensors = sensors;
	struct cuda_management *nvml = &sensors->nvml;
	if (cuda_management_open(nvml, text, sizeof(text)))
		return sensors;
	if (nvml->nvmlInit_v2()) {
		cuda_library_close(&nvml->handle);
		return sensors;
	}
	if (!device->facts.pci[0] || !nvml->nvmlDeviceGetHandleByPciBusId_v2 ||
	    nvml->nvmlDeviceGetHandleByPciBusId_v2(device->facts.pci, &sensors->handle))
		sensors->handle = NULL;
	return sensors;
}

void cuda_report_close(struct cuda_device *device)
{
	struct cuda_sensors *sensors = device->sensors;
	if (sensors && sensors->nvml.handle) {
		(void)sensors->nvml.nvmlShutdown();
		cuda_library_close(&sensors->nvml.handle);
	}
	tn_plugin_free(device->host, sensors);
	device->sensors = NULL;
}

/* NULL: nothing can be read. */
static const struct cuda_sensors *readable(struct cuda_device *device)
{
	const struct cuda_sensors *sensors = sensors_of(device);
	return sensors && sensors->nvml.handle && sensors->handle ? sensors : NULL;
}

/* ---- Lines -----------------------------------------------------------------------------------*/

/* Each returns 0 if the value is unavailable. */

static int say_driver(struct cuda_device *device, char *text, size_t size)
{
	const struct cuda_sensors *sensors = sensors_of(device);
	char version[48];
	int cuda = 0;
	if (device->rt->cudaDriverGetVersion(&cuda) != cudaSuccess)
		return 0;
	if (!sensors || !sensors->nvml.handle || !sensors->nvml.nvmlSystemGetDriverVersion ||
	    sensors->nvml.nvmlSystemGetDriverVersion(version, sizeof(version)))
		snprintf(text, size, "CUDA %d.%d", cuda / 1000, cuda % 1000 / 10);
	else
		snprintf(text, size, "%s, CUDA %d.%d", version, cuda / 1000, cuda % 1000 / 10);
	return 1;
}

static int say_runtime(struct cuda_device *device, char *text, size_t size)
{
	int cuda = 0;
	if (device->rt->cudaRuntimeGetVersion(&cuda) != cudaSuccess)
		return 0;
	return snprintf(text, size, "%d.%d", cuda / 1000, cuda % 1000 / 10) > 0;
}

static int say_blas(struct cuda_device *device, char *text, size_t size)
{
	static const libraryPropertyType parts[] = {MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL};
	int version[3] = {0, 0, 0};
	if (!device->blas.handle)
		return snprintf(text, size, NOT_OPEN) > 0;
	for (int i = 0; i < 3; i++)
		if (device->blas.cublasGetProperty(parts[i], &version[i]) != CUBLAS_STATUS_SUCCESS)
			return 0;
	return snprintf(text, size, "%d.%d.%d", version[0], version[1], version[2]) > 0;
}

static int say_dnn(struct cuda_device *device, char *text, size_t size)
{
	cuda_dnn_say(device, text, size);
	return 1;
}

static int say_compiler(struct cuda_device *device, char *text, size_t size)
{
	int major = 0, minor = 0;
	if (!device->compiler.handle)
		return snprintf(text, size, NOT_OPEN) > 0;
	if (device->compiler.nvrtcVersion(&major, &minor) != NVRTC_SUCCESS)
		return 0;
	return snprintf(text, size, "%d.%d", major, minor) > 0;
}

static int say_clock_of(struct cuda_device *device, unsigned int type, char *text, size_t size)
{
	const struct cuda_sensors *sensors = readable(device);
	unsigned int megahertz = 0;
	if (!sensors || !sensors->nvml.nvmlDeviceGetClockInfo ||
	    sensors->nvml.nvmlDeviceGetClockInfo(sensors->handle, type, &megahertz))
		return 0;
	return snprintf(text, size, "%u MHz", megahertz) > 0;
}

static int say_clock(struct cuda_device *device, char *text, size_t size)
{
	return say_clock_of(device, OF_PROCESSORS, text, size);
}

static int say_memory_clock(struct cuda_device *device, char *text, size_t size)
{
	return say_clock_of(device, OF_MEMORY, text, size);
}

static int say_temperature(struct cuda_device *device, char *text, size_t size)
{
	const struct cuda_sensors *sensors = readable(device);
	unsigned int degrees = 0;
	if (!sensors || !sensors->nvml.nvmlDeviceGetTemperature ||
	    sensors->nvml.nvmlDeviceGetTemperature(sensors->handle, OF_DIE, &degrees))
		return 0;
	return snprintf(text, size, "%u C", degrees) > 0;
}

static int say_power(struct cuda_device *device, char *text, size_t size)
{
	const struct cuda_sensors *sensors = readable(device);
	unsigned int milliwatts = 0;
	if (!sensors || !sensors->nvml.nvmlDeviceGetPowerUsage ||
	    sensors->nvml.nvmlDeviceGetPowerUsage(sensors->handle, &milliwatts))
		return 0;
	return snprintf(text, size, "%.1f W", milliwatts / 1000.0) > 0;
}

static int say_capability(struct cuda_device *device, char *text, size_t size)
{
	return snprintf(text, size, "%u.%u", device->architecture / 10, device->architecture % 10) >
	       0;
}

static const struct {
	const char *key;
	int (*say)(struct cuda_device *device, char *text, size_t size);
} lines[] = {
	{"driver", say_driver},
	{"runtime", say_runtime},
	{"capability", say_capability},
	{"library.cublas", say_blas},
	{"library.cudnn", say_dnn},
	{"library.nvrtc", say_compiler},
	{"clock", say_clock},
	{"clock.memory", say_memory_clock},
	{"temperature", say_temperature},
	{"power", say_power},
};

static tn_status line(void *device, uint32_t index, struct tn_report_line *out)
{
	struct tn_report_line own = {.struct_size = sizeof(own)};
	if (index >= sizeof(lines) / sizeof(lines[0]))
		return TN_NOT_FOUND;
	snprintf(own.key, sizeof(own.key), "%s", lines[index].key);
	if (!lines[index].say(device, own.text, sizeof(own.text)))
		snprintf(own.text, sizeof(own.text), "unknown");
	tn_struct_answer(out, &own, sizeof(own));
	return TN_OK;
}

const struct tn_report_table cuda_report_table = {
	.struct_size = sizeof(cuda_report_table),
	.line = line,
};
