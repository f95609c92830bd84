/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Memory set to a byte.
 */
#include "cudart_copy.h"

#include <string.h>

struct set_work {
	const char *name;
	void *to;
	int value;
	size_t pitch, width, height;
};

static size_t extent_of(const struct set_work *set)
{
	return (set->height - 1) * set->pitch + set->width;
}

static cudaError_t run(void *data)
{
	const struct set_work *set = data;
	const uint64_t at = (uint64_t)(uintptr_t)set->to;
	const char *why = sim_touch(sim_running_device(), at, extent_of(set), 1);
	if (why)
		return sim_say(cudaErrorIllegalAddress, "%s: %s", set->name, why);
	char *to = sim_memory(set->to);
	for (size_t i = 0; i < set->height; i++)
		memset(to + i * set->pitch, set->value, set->width);
	return cudaSuccess;
}

static cudaError_t check(const struct set_work *set)
{
	const uint64_t at = (uint64_t)(uintptr_t)set->to;
	const struct sim_block *block = sim_block_find(at);
	if (set->height > 1 && set->pitch < set->width)
		return cudaErrorInvalidPitchValue;
	if (sim_side_of(set->to) == SIM_PAGEABLE)
		return sim_say(cudaErrorInvalidValue, "%s: %p is an address of the host", set->name,
			       set->to);
	int home = sim_arena_device(at);
	const char *why = sim_touch(home >= 0 ? home : 0, at, extent_of(set), 1);
	if (!why || (block && (block->state == SIM_PENDING || block->kept)))
		return cudaSuccess;
	return sim_say(cudaErrorInvalidValue, "%s: %s", set->name, why);
}

static cudaError_t set(const struct set_work *data, cudaStream_t handle, int is_async)
{
	cudaError_t error = cudaSuccess;
	struct sim_stream *stream = sim_stream_find(handle, &error);
	if (!error && !is_async)
		error = sim_capture_unsafe();
	if (error || data->width == 0 || data->height == 0)
		return error;
	error = check(data);
	if (error)
		return error;
	struct sim_work *work = sim_work_make(data->name, run, data, sizeof(*data));
	return work ? sim_enqueue(stream, work) : cudaErrorMemoryAllocation;
}

cudaError_t cudaMemset(void *to, int value, size_t size)
{
	const struct set_work data = {"cudaMemset", to, value, size, size, 1};
	cudaError_t error = sim_enter(data.name);
	return error ? error : sim_leave(set(&data, NULL, 0));
}

cudaError_t cudaMemsetAsync(void *to, int value, size_t size, cudaStream_t stream)
{
	const struct set_work data = {"cudaMemsetAsync", to, value, size, size, 1};
	cudaError_t error = sim_enter(data.name);
	return error ? error : sim_leave(set(&data, stream, 1));
}

cudaError_t cudaMemset2D(void *to, size_t pitch, int value, size_t width, size_t height)
{
	const struct set_work data = {"cudaMemset2D", to, value, pitch, width, height};
	cudaError_t error = sim_enter(data.name);
	return error ? error : sim_leave(set(&data, NULL, 0));
}

cudaError_t cudaMemset2DAsync(void *to, size_t pitch, int value, size_t width, size_t height,
			      cudaStream_t stream)
{
	const struct set_work data = {"cudaMemset2DAsync", to, value, pitch, width, height};
	cudaError_t error = sim_enter(data.name);
	return error ? error : sim_leave(set(&data, stream, 1));
}
