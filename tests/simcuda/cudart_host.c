/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Host memory that a device can access: allocated pinned, or registered.
 */
#include "cudart.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fault.h"

static struct sim_pinned *list;

struct sim_pinned *sim_pinned_find(uint64_t address)
{
	for (struct sim_pinned *pinned = list; pinned; pinned = pinned->next)
		if (address >= pinned->address && address < pinned->address + pinned->size)
			return pinned;
	return NULL;
}

static cudaError_t add(void *address, size_t size, unsigned flags, int registered)
{
	struct sim_pinned *pinned = calloc(1, sizeof(*pinned));
	if (!pinned)
		return cudaErrorMemoryAllocation;
	*pinned = (struct sim_pinned){.next = list,
				      .address = (uint64_t)(uintptr_t)address,
				      .size = size,
				      .device = sim_device_current(),
				      .registered = registered,
				      .flags = flags};
	list = pinned;
	return cudaSuccess;
}

static void drop(struct sim_pinned *pinned)
{
	struct sim_pinned **at = &list;
	while (*at != pinned)
		at = &(*at)->next;
	*at = pinned->next;
	if (!pinned->registered)
		free((void *)(uintptr_t)pinned->address);
	free(pinned);
}

void sim_pinned_drop(void)
{
	while (list)
		drop(list);
}

size_t sim_pinned_live(char *report, size_t size)
{
	size_t live = 0, length = 0;
	for (const struct sim_pinned *pinned = list; pinned; pinned = pinned->next) {
		live++;
		if (length < size)
			length += (size_t)snprintf(report + length, size - length,
						   "%zu bytes of the host's memory, %s\n",
						   pinned->size,
						   pinned->registered ? "registered" : "pinned");
	}
	return live;
}

/* ---- Calls -----------------------------------------------------------------------------------*/

static cudaError_t allocate(void **address, size_t size, unsigned flags)
{
	const unsigned known =
		cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined;
	cudaError_t error = sim_capture_unsafe();
	if (error)
		return error;
	if (flags & ~known)
		return cudaErrorInvalidValue;
	*address = NULL;
	if (size == 0)
		return cudaSuccess;
	void *memory = aligned_alloc(4096, (size + 4095) / 4096 * 4096);
	if (!memory)
		return cudaErrorMemoryAllocation;
	memset(memory, 0xff, size);
	error = add(memory, size, flags, 0);
	if (error)
		free(memory);
	else
		*address = memory;
	return error;
}

cudaError_t cudaHostAlloc(void **address, size_t size, unsigned flags)
{
	cudaError_t error = sim_enter("cudaHostAlloc");
	return error ? error : sim_leave(allocate(address, size, flags));
}

cudaError_t cudaMallocHost(void **address, size_t size)
{
	cudaError_t error = sim_enter("cudaMallocHost");
	return error ? error : sim_leave(allocate(address, size, 0));
}

/* Waits for all work, which may still use it. */
static cudaError_t release(void *address, int registered)
{
	if (!address && !registered)
		return cudaSuccess;
	cudaError_t error = sim_capture_unsafe();
	if (error)
		return error;
	struct sim_pinned *pinned = sim_pinned_find((uint64_t)(uintptr_t)address);
	if (!pinned || pinned->address != (uint64_t)(uintptr_t)address ||
	    pinned->registered != registered)
		return registered ? cudaErrorHostMemoryNotRegistered : cudaErrorInvalidValue;
	sim_run_device(-1);
	drop(pinned);
	return cudaSuccess;
}

cudaError_t cudaFreeHost(void *address)
{
	cudaError_t error = sim_enter("cudaFreeHost");
	return error ? error : sim_leave(release(address, 0));
}

static cudaError_t pin(void *address, size_t size, unsigned flags)
{
	const uint64_t first = (uint64_t)(uintptr_t)address;
	cudaError_t error = sim_capture_unsafe();
	if (error)
		return error;
	if (!address || size == 0 || sim_arena_device(first) >= 0)
		return cudaErrorInvalidValue;
	for (const struct sim_pinned *pinned = list; pinned; pinned = pinned->next)
		if (first < pinned->address + pinned->size && pinned->address < first + size)
			return cudaErrorHostMemoryAlreadyRegistered;
	return add(address, size, flags, 1);
}

cudaError_t cudaHostRegister(void *address, size_t size, unsigned flags)
{
	cudaError_t error = sim_enter("cudaHostRegister");
	return error ? error : sim_leave(pin(address, size, flags));
}

cudaError_t cudaHostUnregister(void *address)
{
	cudaError_t error = sim_enter("cudaHostUnregister");
	return error ? error : sim_leave(release(address, 1));
}

cudaError_t cudaHostGetDevicePointer(void **device, void *host, unsigned flags)
{
	cudaError_t error = sim_enter("cudaHostGetDevicePointer");
	if (error)
		return error;
	if (flags || !sim_pinned_find((uint64_t)(uintptr_t)host))
		return sim_leave(cudaErrorInvalidValue);
	*device = host;
	return sim_leave(cudaSuccess);
}

cudaError_t cudaHostGetFlags(unsigned *flags, void *host)
{
	cudaError_t error = sim_enter("cudaHostGetFlags");
	if (error)
		return error;
	const struct sim_pinned *pinned = sim_pinned_find((uint64_t)(uintptr_t)host);
	if (!pinned)
		return sim_leave(cudaErrorInvalidValue);
	*flags = pinned->flags | cudaHostAllocMapped;
	return sim_leave(cudaSuccess);
}

static void describe_device(struct cudaPointerAttributes *attributes, int device,
			    const void *address)
{
	attributes->type = cudaMemoryTypeDevice;
	attributes->device = device;
	attributes->devicePointer = (void *)(uintptr_t)address;
}

/* Memory known not to be device memory, including a freed block, is unregistered, as with the real
 * one. */
cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes, const void *address)
{
	cudaError_t error = sim_enter("cudaPointerGetAttributes");
	if (error)
		return error;
	const uint64_t at = (uint64_t)(uintptr_t)address;
	const struct sim_pinned *pinned = sim_pinned_find(at);
	int device = sim_arena_device(at);
	/* CUDA 12's are shorter. */
	memset(attributes, 0,
	       sim_cuda_version < 13000 ? offsetof(struct cudaPointerAttributes, reserved)
					: sizeof(*attributes));
	attributes->type = cudaMemoryTypeUnregistered;
	attributes->device = cudaInvalidDeviceId;
	if (device >= 0) {
		const struct sim_block *block = sim_block_find(at);
		if (block && block->state != SIM_FREED && at < block->address + block->size)
			describe_device(attributes, device, address);
		return sim_leave(cudaSuccess);
	}
	attributes->hostPointer = (void *)(uintptr_t)address;
	if (pinned) {
		attributes->type = cudaMemoryTypeHost;
		attributes->device = pinned->device;
		attributes->devicePointer = (void *)(uintptr_t)address;
	}
	return sim_leave(cudaSuccess);
}
