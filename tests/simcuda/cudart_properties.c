/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The properties, attributes and PCI address of a device.
 */
#include "cudart.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

static void fill_identity(struct cudaDeviceProp *p, const struct sim_device *device)
{
	const struct sim_model *model = &device->model;
	sim_device_name(model, p->name, sizeof(p->name));
	if (device->is_slice)
		snprintf(p->name + strlen(p->name), sizeof(p->name) - strlen(p->name), " MIG %zugb",
			 model->slice >> 30);
	sim_device_uuid(device->physical, device->is_slice, (unsigned char *)p->uuid.bytes);
	p->major = model->arch / 10;
	p->minor = model->arch % 10;
	p->pciBusID = device->physical + 1;
	p->multiProcessorCount = model->multiprocessors;
	p->totalGlobalMem = model->memory;
	p->integrated = model->is_integrated;
}

static void fill_launch(struct cudaDeviceProp *p, int arch)
{
	static const int block[3] = {1024, 1024, 64}, grid[3] = {0x7fffffff, 65535, 65535};
	int is_large = arch >= 80 && arch != 86 && arch != 89;
	int is_server = arch >= 90 && arch < 120;
	memcpy(p->maxThreadsDim, block, sizeof(block));
	memcpy(p->maxGridSize, grid, sizeof(grid));
	p->warpSize = 32;
	p->maxThreadsPerBlock = 1024;
	p->maxThreadsPerMultiProcessor = is_large && is_server ? 2048 : 1536;
	p->maxBlocksPerMultiProcessor = is_large ? 32 : 16;
	p->regsPerBlock = 65536;
	p->regsPerMultiprocessor = 65536;
	p->sharedMemPerBlock = 48 << 10;
	p->sharedMemPerBlockOptin = (size_t)(is_server ? 227 : is_large ? 163 : 99) << 10;
	if (arch < 80)
		p->sharedMemPerBlockOptin = 64 << 10;
	p->reservedSharedMemPerBlock = arch >= 80 ? 1024 : 0;
	p->sharedMemPerMultiprocessor = p->sharedMemPerBlockOptin + p->reservedSharedMemPerBlock;
	p->clusterLaunch = arch >= 90;
	p->cooperativeLaunch = 0;
}

static void fill_memory(struct cudaDeviceProp *p)
{
	p->totalConstMem = 64 << 10;
	p->memPitch = 0x7fffffff;
	p->textureAlignment = 512;
	p->texturePitchAlignment = 32;
	p->surfaceAlignment = 512;
	p->l2CacheSize = 4 << 20;
	p->memoryBusWidth = 5120;
	p->globalL1CacheSupported = 1;
	p->localL1CacheSupported = 1;
	p->canMapHostMemory = 1;
	p->unifiedAddressing = 1;
	p->canUseHostPointerForRegisteredMem = 1;
	p->hostRegisterSupported = 1;
	p->memoryPoolsSupported = sim_settings.pools;
	p->asyncEngineCount = 3;
	p->concurrentKernels = 1;
	p->streamPrioritiesSupported = 1;
	p->computePreemptionSupported = 1;
	p->pageableMemoryAccess = sim_settings.pageable;
	p->hostNumaId = -1;
	p->deviceNumaId = -1;
}

void sim_properties(struct cudaDeviceProp *p, int device)
{
	memset(p, 0, sizeof(*p));
	fill_identity(p, sim_device(device));
	fill_launch(p, sim_device(device)->model.arch);
	fill_memory(p);
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *properties, int device)
{
	cudaError_t error = sim_enter("cudaGetDeviceProperties");
	if (error)
		return error;
	if (device < 0 || device >= sim_device_count())
		return sim_leave(cudaErrorInvalidDevice);
	sim_properties(properties, device);
	return sim_leave(cudaSuccess);
}

/* An attribute that is a field of the properties. */
struct field {
	enum cudaDeviceAttr attribute;
	size_t offset, size;
};

#define FIELD(attribute, name)                                                                     \
	{                                                                                          \
		attribute, offsetof(struct cudaDeviceProp, name),                                  \
			sizeof(((struct cudaDeviceProp *)0)->name)                                 \
	}

static const struct field fields[] = {
	FIELD(cudaDevAttrAsyncEngineCount, asyncEngineCount),
	FIELD(cudaDevAttrCanMapHostMemory, canMapHostMemory),
	FIELD(cudaDevAttrCanUseHostPointerForRegisteredMem, canUseHostPointerForRegisteredMem),
	FIELD(cudaDevAttrClusterLaunch, clusterLaunch),
	FIELD(cudaDevAttrComputeCapabilityMajor, major),
	FIELD(cudaDevAttrComputeCapabilityMinor, minor),
	FIELD(cudaDevAttrComputePreemptionSupported, computePreemptionSupported),
	FIELD(cudaDevAttrConcurrentKernels, concurrentKernels),
	FIELD(cudaDevAttrConcurrentManagedAccess, concurrentManagedAccess),
	FIELD(cudaDevAttrCooperativeLaunch, cooperativeLaunch),
	FIELD(cudaDevAttrEccEnabled, ECCEnabled),
	FIELD(cudaDevAttrGlobalL1CacheSupported, globalL1CacheSupported),
	FIELD(cudaDevAttrGlobalMemoryBusWidth, memoryBusWidth),
	FIELD(cudaDevAttrHostNativeAtomicSupported, hostNativeAtomicSupported),
	FIELD(cudaDevAttrHostRegisterSupported, hostRegisterSupported),
	FIELD(cudaDevAttrIntegrated, integrated),
	FIELD(cudaDevAttrIpcEventSupport, ipcEventSupported),
	FIELD(cudaDevAttrIsMultiGpuBoard, isMultiGpuBoard),
	FIELD(cudaDevAttrL2CacheSize, l2CacheSize),
	FIELD(cudaDevAttrLocalL1CacheSupported, localL1CacheSupported),
	FIELD(cudaDevAttrManagedMemory, managedMemory),
	FIELD(cudaDevAttrMaxBlockDimX, maxThreadsDim[0]),
	FIELD(cudaDevAttrMaxBlockDimY, maxThreadsDim[1]),
	FIELD(cudaDevAttrMaxBlockDimZ, maxThreadsDim[2]),
	FIELD(cudaDevAttrMaxBlocksPerMultiprocessor, maxBlocksPerMultiProcessor),
	FIELD(cudaDevAttrMaxGridDimX, maxGridSize[0]),
	FIELD(cudaDevAttrMaxGridDimY, maxGridSize[1]),
	FIELD(cudaDevAttrMaxGridDimZ, maxGridSize[2]),
	FIELD(cudaDevAttrMaxPersistingL2CacheSize, persistingL2CacheMaxSize),
	FIELD(cudaDevAttrMaxPitch, memPitch),
	FIELD(cudaDevAttrMaxRegistersPerBlock, regsPerBlock),
	FIELD(cudaDevAttrMaxRegistersPerMultiprocessor, regsPerMultiprocessor),
	FIELD(cudaDevAttrMaxSharedMemoryPerBlock, sharedMemPerBlock),
	FIELD(cudaDevAttrMaxSharedMemoryPerBlockOptin, sharedMemPerBlockOptin),
	FIELD(cudaDevAttrMaxSharedMemoryPerMultiprocessor, sharedMemPerMultiprocessor),
	FIELD(cudaDevAttrMaxThreadsPerBlock, maxThreadsPerBlock),
	FIELD(cudaDevAttrMaxThreadsPerMultiProcessor, maxThreadsPerMultiProcessor),
	FIELD(cudaDevAttrMemoryPoolsSupported, memoryPoolsSupported),
	FIELD(cudaDevAttrMultiProcessorCount, multiProcessorCount),
	FIELD(cudaDevAttrPageableMemoryAccess, pageableMemoryAccess),
	FIELD(cudaDevAttrPciBusId, pciBusID),
	FIELD(cudaDevAttrPciDeviceId, pciDeviceID),
	FIELD(cudaDevAttrPciDomainId, pciDomainID),
	FIELD(cudaDevAttrReservedSharedMemoryPerBlock, reservedSharedMemPerBlock),
	FIELD(cudaDevAttrStreamPrioritiesSupported, streamPrioritiesSupported),
	FIELD(cudaDevAttrTccDriver, tccDriver),
	FIELD(cudaDevAttrTextureAlignment, textureAlignment),
	FIELD(cudaDevAttrTotalConstantMemory, totalConstMem),
	FIELD(cudaDevAttrUnifiedAddressing, unifiedAddressing),
	FIELD(cudaDevAttrWarpSize, warpSize),
};

static int read_field(const struct field *field, int device)
{
	struct cudaDeviceProp properties;
	sim_properties(&properties, device);
	const char *at = (const char *)&properties + field->offset;
	size_t wide = 0;
	int narrow = 0;
	if (field->size == sizeof(narrow)) {
		memcpy(&narrow, at, sizeof(narrow));
		return narrow;
	}
	memcpy(&wide, at, sizeof(wide));
	return (int)wide;
}

/* The attributes that are not fields. */
static cudaError_t read_other(int *value, enum cudaDeviceAttr attribute,
			      const struct sim_model *model)
{
	switch (attribute) {
	case cudaDevAttrClockRate:
		*value = 1000 * model->clock;
		return cudaSuccess;
	case cudaDevAttrMemoryClockRate:
		*value = 2619000;
		return cudaSuccess;
	case cudaDevAttrSingleToDoublePrecisionPerfRatio:
		*value = model->arch % 10 == 0 && model->arch < 120 ? 2 : 64;
		return cudaSuccess;
	case cudaDevAttrGpuOverlap:
		*value = 1;
		return cudaSuccess;
	case cudaDevAttrKernelExecTimeout:
	case cudaDevAttrComputeMode:
		*value = 0;
		return cudaSuccess;
	default:
		return sim_say(cudaErrorInvalidValue, "cudaDeviceGetAttribute: %d is not simulated",
			       (int)attribute);
	}
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device)
{
	cudaError_t error = sim_enter("cudaDeviceGetAttribute");
	if (error)
		return error;
	if (device < 0 || device >= sim_device_count())
		return sim_leave(cudaErrorInvalidDevice);
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (fields[i].attribute == attribute) {
			*value = read_field(&fields[i], device);
			return sim_leave(cudaSuccess);
		}
	return sim_leave(read_other(value, attribute, &sim_device(device)->model));
}

cudaError_t cudaDeviceGetPCIBusId(char *text, int size, int device)
{
	char bus[32];
	cudaError_t error = sim_enter("cudaDeviceGetPCIBusId");
	if (error)
		return error;
	if (device < 0 || device >= sim_device_count())
		return sim_leave(cudaErrorInvalidDevice);
	sim_device_bus(sim_device(device)->physical, bus, sizeof(bus));
	if (size <= (int)strlen(bus))
		return sim_leave(cudaErrorInvalidValue);
	snprintf(text, (size_t)size, "%s", bus);
	return sim_leave(cudaSuccess);
}

/* The address of a slice is the whole device's, which is not there. */
cudaError_t cudaDeviceGetByPCIBusId(int *device, const char *text)
{
	char bus[32];
	cudaError_t error = sim_enter("cudaDeviceGetByPCIBusId");
	if (error)
		return error;
	for (int i = 0; i < sim_device_count(); i++) {
		sim_device_bus(sim_device(i)->physical, bus, sizeof(bus));
		if (strcasecmp(bus, text) == 0 && !sim_device(i)->is_slice) {
			*device = i;
			return sim_leave(cudaSuccess);
		}
	}
	return sim_leave(cudaErrorInvalidValue);
}
