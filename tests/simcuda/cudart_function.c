/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The attributes and limits of a kernel, and how many of its blocks fit on a multiprocessor.
 */
#include "cudart_library.h"

#include <string.h>

static size_t most_shared(void)
{
	struct cudaDeviceProp properties;
	sim_properties(&properties, sim_device_current());
	return properties.sharedMemPerBlockOptin;
}

/* The registers that the text declares are virtual: ptxas would find some of these numbers. */
static int registers_of(const struct ptx_attributes *attributes)
{
	unsigned n = attributes->registers < 16 ? 16 : attributes->registers;
	return (int)(n > 64 ? 64 : n);
}

static void describe(const struct sim_kernel *kernel, struct cudaFuncAttributes *to)
{
	struct ptx_attributes attributes;
	int arch = sim_model_current()->arch;
	ptx_kernel_attributes(kernel->ptx, &attributes);
	memset(to, 0, sizeof(*to));
	to->sharedSizeBytes = attributes.static_shared;
	to->localSizeBytes = attributes.local;
	to->maxThreadsPerBlock = 1024;
	to->numRegs = registers_of(&attributes);
	to->ptxVersion = arch;
	to->binaryVersion = arch;
	to->maxDynamicSharedSizeBytes = kernel->max_dynamic
						? kernel->max_dynamic
						: (int)((48u << 10) - attributes.static_shared);
	to->preferredShmemCarveout = kernel->carveout;
}

cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attributes, const void *function)
{
	cudaError_t error = sim_enter("cudaFuncGetAttributes");
	if (error)
		return error;
	struct sim_kernel *kernel = sim_kernel_find(function, &error);
	if (kernel)
		error = sim_kernel_load(kernel);
	if (!error)
		describe(kernel, attributes);
	return sim_leave(error);
}

/* Parameters are consecutive, each aligned to its size up to 8. */
static cudaError_t parameter(const struct ptx_kernel *ptx, size_t index, size_t *offset,
			     size_t *size)
{
	size_t at = 0;
	if (index >= ptx_parameters(ptx))
		return cudaErrorInvalidValue;
	for (size_t i = 0; i <= index; i++) {
		size_t bytes = ptx_parameter_size(ptx, i), unit = bytes < 8 ? bytes : 8;
		at = unit ? (at + unit - 1) / unit * unit : at;
		*offset = at;
		*size = bytes;
		at += bytes;
	}
	return cudaSuccess;
}

cudaError_t cudaFuncGetParamInfo(const void *function, size_t index, size_t *offset, size_t *size)
{
	cudaError_t error = sim_enter("cudaFuncGetParamInfo");
	if (error)
		return error;
	const struct sim_kernel *kernel = sim_kernel_find(function, &error);
	if (kernel)
		error = parameter(kernel->ptx, index, offset, size);
	return sim_leave(error);
}

static cudaError_t set_attribute(const void *function, enum cudaFuncAttribute attribute, int value)
{
	cudaError_t error = cudaSuccess;
	struct ptx_attributes attributes;
	struct sim_kernel *kernel = sim_kernel_find(function, &error);
	if (!kernel)
		return error;
	ptx_kernel_attributes(kernel->ptx, &attributes);
	if (attribute == cudaFuncAttributePreferredSharedMemoryCarveout) {
		if (value < -1 || value > 100)
			return cudaErrorInvalidValue;
		kernel->carveout = value;
		return cudaSuccess;
	}
	if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize)
		return sim_say(cudaErrorInvalidValue, "attribute %d of a kernel is not simulated",
			       (int)attribute);
	if (value < 0 || (size_t)value + attributes.static_shared > most_shared())
		return sim_say(
			cudaErrorInvalidValue,
			"%s: %d bytes of shared memory and %zu of its own, the device has %zu",
			ptx_kernel_name(kernel->ptx), value, attributes.static_shared,
			most_shared());
	kernel->max_dynamic = value;
	return cudaSuccess;
}

cudaError_t cudaFuncSetAttribute(const void *function, enum cudaFuncAttribute attribute, int value)
{
	cudaError_t error = sim_enter("cudaFuncSetAttribute");
	return error ? error : sim_leave(set_attribute(function, attribute, value));
}

cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t kernel, enum cudaFuncAttribute attribute,
					    int value, int device)
{
	cudaError_t error = sim_enter("cudaKernelSetAttributeForDevice");
	if (error)
		return error;
	if (device < 0 || device >= sim_device_count())
		return sim_leave(cudaErrorInvalidDevice);
	return sim_leave(set_attribute(kernel, attribute, value));
}

/* ---- Occupancy -------------------------------------------------------------------------------*/

static int least(int a, int b)
{
	return a < b ? a : b;
}

static cudaError_t occupancy(int *blocks, const void *function, int threads, size_t shared)
{
	cudaError_t error = cudaSuccess;
	struct cudaDeviceProp device;
	struct cudaFuncAttributes attributes;
	const struct sim_kernel *kernel = sim_kernel_find(function, &error);
	if (!kernel)
		return error;
	if (threads <= 0 || threads > 1024)
		return cudaErrorInvalidValue;
	describe(kernel, &attributes);
	sim_properties(&device, sim_device_current());
	int warps = (threads + 31) / 32;
	size_t bytes = shared + attributes.sharedSizeBytes + device.reservedSharedMemPerBlock;
	*blocks = least(device.maxBlocksPerMultiProcessor,
			device.maxThreadsPerMultiProcessor / (32 * warps));
	*blocks = least(*blocks, device.regsPerMultiprocessor / (attributes.numRegs * 32 * warps));
	if (shared + attributes.sharedSizeBytes > device.sharedMemPerBlockOptin)
		*blocks = 0;
	else if (bytes > 0)
		*blocks = least(*blocks, (int)(device.sharedMemPerMultiprocessor / bytes));
	return cudaSuccess;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *function,
							  int threads, size_t shared)
{
	cudaError_t error = sim_enter("cudaOccupancyMaxActiveBlocksPerMultiprocessor");
	return error ? error : sim_leave(occupancy(blocks, function, threads, shared));
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks,
								   const void *function,
								   int threads, size_t shared,
								   unsigned flags)
{
	cudaError_t error = sim_enter("cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags");
	(void)flags;
	return error ? error : sim_leave(occupancy(blocks, function, threads, shared));
}

cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *shared, const void *function,
						      int blocks, int threads)
{
	cudaError_t error = sim_enter("cudaOccupancyAvailableDynamicSMemPerBlock");
	if (error)
		return error;
	struct cudaFuncAttributes attributes;
	const struct sim_kernel *kernel = sim_kernel_find(function, &error);
	if (!kernel || blocks <= 0 || threads <= 0)
		return sim_leave(kernel ? cudaErrorInvalidValue : error);
	describe(kernel, &attributes);
	size_t share = most_shared() / (size_t)blocks;
	*shared = share > attributes.sharedSizeBytes ? share - attributes.sharedSizeBytes : 0;
	return sim_leave(cudaSuccess);
}
