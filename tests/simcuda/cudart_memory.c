/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Allocation of device memory, without a stream and in the order of one.
 */
#include "cudart.h"
#include "cudart_pool.h"

#include <stdlib.h>

/* ---- Without a stream ------------------------------------------------------------------------*/

static cudaError_t allocate(void **address, size_t size)
{
	cudaError_t error = sim_capture_unsafe();
	if (error)
		return error;
	*address = NULL;
	if (size == 0)
		return cudaSuccess;
	struct sim_block *block = sim_block_make(sim_device_current(), size, SIM_LIVE);
	if (!block)
		return cudaErrorMemoryAllocation;
	*address = (void *)(uintptr_t)block->address;
	return cudaSuccess;
}

cudaError_t cudaMalloc(void **address, size_t size)
{
	cudaError_t error = sim_enter("cudaMalloc");
	if (error)
		return error;
	if (!address)
		return sim_leave(cudaErrorInvalidValue);
	return sim_leave(allocate(address, size));
}

cudaError_t cudaMallocPitch(void **address, size_t *pitch, size_t width, size_t height)
{
	cudaError_t error = sim_enter("cudaMallocPitch");
	if (error)
		return error;
	*pitch = (width + SIM_ALIGNMENT - 1) / SIM_ALIGNMENT * SIM_ALIGNMENT;
	return sim_leave(allocate(address, *pitch * height));
}

/* The live block that begins there. */
static cudaError_t find(const char *name, const void *address, struct sim_block **block)
{
	*block = sim_block_find((uint64_t)(uintptr_t)address);
	if (!*block || (*block)->address != (uint64_t)(uintptr_t)address)
		return sim_say(cudaErrorInvalidValue, "%s: %p is the start of no block", name,
			       address);
	if ((*block)->state == SIM_FREED || (*block)->state == SIM_FREEING)
		return sim_say(cudaErrorInvalidValue,
			       "%s: block %llu of %zu bytes was freed before", name,
			       (unsigned long long)(*block)->number, (*block)->size);
	return cudaSuccess;
}

/* Waits for the device, like the real one. */
static cudaError_t release(void *address)
{
	struct sim_block *block = NULL;
	if (!address)
		return cudaSuccess;
	cudaError_t error = sim_capture_unsafe();
	if (!error)
		error = find("cudaFree", address, &block);
	if (error)
		return error;
	sim_run_device(block->device);
	sim_block_free(block);
	return sim_device(block->device)->sticky;
}

cudaError_t cudaFree(void *address)
{
	cudaError_t error = sim_enter("cudaFree");
	return error ? error : sim_leave(release(address));
}

/* Memory held by others counts as used. */
cudaError_t cudaMemGetInfo(size_t *available, size_t *total)
{
	cudaError_t error = sim_enter("cudaMemGetInfo");
	if (error)
		return error;
	*total = sim_model_current()->memory;
	*available = *total - sim_block_used(sim_device_current());
	return sim_leave(cudaSuccess);
}

/* ---- In the order of a stream ----------------------------------------------------------------*/

struct block_work {
	struct sim_block *block;
};

static cudaError_t reach_allocation(void *data)
{
	sim_block_live(((struct block_work *)data)->block);
	return cudaSuccess;
}

static cudaError_t reach_free(void *data)
{
	sim_block_free(((struct block_work *)data)->block);
	return cudaSuccess;
}

static cudaError_t enqueue(struct sim_stream *stream, const char *name,
			   cudaError_t (*run)(void *data), struct sim_block *block)
{
	struct block_work data = {block};
	struct sim_work *work = sim_work_make(name, run, &data, sizeof(data));
	return work ? sim_enqueue(stream, work) : cudaErrorMemoryAllocation;
}

/* Frees that wait in streams may make room. */
static struct sim_block *make_block(int device, size_t size)
{
	struct sim_block *block = sim_block_make(device, size, SIM_PENDING);
	if (block)
		return block;
	sim_run_device(device);
	return sim_block_make(device, size, SIM_PENDING);
}

cudaError_t sim_pool_allocate(void **address, size_t size, struct sim_pool *pool,
			      cudaStream_t handle)
{
	cudaError_t error = cudaSuccess;
	struct sim_stream *stream = sim_stream_find(handle, &error);
	if (!stream)
		return error;
	*address = NULL;
	if (size == 0)
		return cudaSuccess;
	struct sim_block *block = make_block(sim_pool_device(pool), size);
	if (!block)
		return cudaErrorMemoryAllocation;
	block->pool = pool;
	block->kept = stream->capture != NULL;
	sim_pool_count(pool, size, 0);
	error = enqueue(stream, "cudaMallocAsync", reach_allocation, block);
	if (error) {
		sim_block_free(block);
		return error;
	}
	*address = (void *)(uintptr_t)block->address;
	return cudaSuccess;
}

static cudaError_t release_async(void *address, cudaStream_t handle)
{
	cudaError_t error = cudaSuccess;
	struct sim_block *block = NULL;
	struct sim_stream *stream = sim_stream_find(handle, &error);
	if (!stream || !address)
		return error;
	error = find("cudaFreeAsync", address, &block);
	if (error)
		return error;
	int is_captured = stream->capture != NULL;
	enum sim_state before = block->state;
	if (before == SIM_LIVE && !is_captured)
		block->state = SIM_FREEING;
	error = enqueue(stream, "cudaFreeAsync", reach_free, block);
	if (error)
		block->state = before;
	return error;
}

cudaError_t cudaMallocAsync(void **address, size_t size, cudaStream_t stream)
{
	cudaError_t error = sim_enter("cudaMallocAsync");
	if (error)
		return error;
	struct sim_pool *pool = sim_pool_current(sim_device_current());
	if (!pool)
		return sim_leave(cudaErrorMemoryAllocation);
	return sim_leave(sim_pool_allocate(address, size, pool, stream));
}

cudaError_t cudaFreeAsync(void *address, cudaStream_t stream)
{
	cudaError_t error = sim_enter("cudaFreeAsync");
	return error ? error : sim_leave(release_async(address, stream));
}
