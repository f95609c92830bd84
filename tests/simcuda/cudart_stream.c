/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Streams: the calls.
 */
#include "cudart.h"

#include <stdlib.h>

static cudaError_t make(cudaStream_t *handle, unsigned flags, int priority)
{
	if (flags & ~(unsigned)cudaStreamNonBlocking)
		return cudaErrorInvalidValue;
	struct sim_stream *stream = sim_stream_make(sim_device_current(), flags, priority);
	*handle = (cudaStream_t)stream;
	return stream ? cudaSuccess : cudaErrorMemoryAllocation;
}

cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
	cudaError_t error = sim_enter("cudaStreamCreate");
	return error ? error : sim_leave(make(stream, cudaStreamDefault, 0));
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
	cudaError_t error = sim_enter("cudaStreamCreateWithFlags");
	return error ? error : sim_leave(make(stream, flags, 0));
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int priority)
{
	cudaError_t error = sim_enter("cudaStreamCreateWithPriority");
	if (error)
		return error;
	priority = priority > 0 ? 0 : priority < -5 ? -5 : priority;
	return sim_leave(make(stream, flags, priority));
}

cudaError_t cudaStreamDestroy(cudaStream_t handle)
{
	cudaError_t error = sim_enter("cudaStreamDestroy");
	if (error)
		return error;
	struct sim_stream *stream = sim_stream_find(handle, &error);
	if (!stream)
		return sim_leave(error);
	if (stream->is_null)
		return sim_leave(cudaErrorInvalidResourceHandle);
	error = sim_capture_refuse(stream);
	if (!error)
		sim_stream_destroy(stream);
	return sim_leave(error);
}

cudaError_t cudaStreamSynchronize(cudaStream_t handle)
{
	cudaError_t error = sim_enter("cudaStreamSynchronize");
	if (error)
		return error;
	struct sim_stream *stream = sim_stream_find(handle, &error);
	if (stream)
		error = sim_capture_refuse(stream);
	if (stream && !error && stream->is_null == 1)
		error = sim_capture_implicit(stream->device);
	if (error)
		return sim_leave(error);
	int device = stream->device;
	sim_run_stream(stream);
	return sim_leave(sim_device(device)->sticky);
}

/* Repeated queries make progress. */
cudaError_t cudaStreamQuery(cudaStream_t handle)
{
	cudaError_t error = sim_enter("cudaStreamQuery");
	if (error)
		return error;
	struct sim_stream *stream = sim_stream_find(handle, &error);
	if (stream)
		error = sim_capture_refuse(stream);
	if (error)
		return sim_leave(error);
	struct sim_place place = sim_place_now(stream);
	int device = stream->device, is_reached = sim_is_reached(place);
	if (!is_reached)
		sim_run_some();
	error = sim_device(device)->sticky;
	return sim_leave(error ? error : is_reached ? cudaSuccess : cudaErrorNotReady);
}

/* ---- What one is like ------------------------------------------------------------------------*/

cudaError_t cudaStreamGetFlags(cudaStream_t handle, unsigned *flags)
{
	cudaError_t error = sim_enter("cudaStreamGetFlags");
	if (error)
		return error;
	struct sim_stream *stream = sim_stream_find(handle, &error);
	if (stream)
		*flags = stream->flags;
	return sim_leave(error);
}

cudaError_t cudaStreamGetPriority(cudaStream_t handle, int *priority)
{
	cudaError_t error = sim_enter("cudaStreamGetPriority");
	if (error)
		return error;
	struct sim_stream *stream = sim_stream_find(handle, &error);
	if (stream)
		*priority = stream->priority;
	return sim_leave(error);
}

cudaError_t cudaStreamGetId(cudaStream_t handle, unsigned long long *id)
{
	cudaError_t error = sim_enter("cudaStreamGetId");
	if (error)
		return error;
	struct sim_stream *stream = sim_stream_find(handle, &error);
	if (stream)
		*id = stream->id;
	return sim_leave(error);
}

cudaError_t cudaStreamGetDevice(cudaStream_t handle, int *device)
{
	cudaError_t error = sim_enter("cudaStreamGetDevice");
	if (error)
		return error;
	struct sim_stream *stream = sim_stream_find(handle, &error);
	if (stream)
		*device = stream->device;
	return sim_leave(error);
}

/* ---- Functions of the host -------------------------------------------------------------------*/

struct host_work {
	cudaHostFn_t function;
	void *argument;
};

static cudaError_t run_host(void *data)
{
	const struct host_work *host = data;
	host->function(host->argument);
	return cudaSuccess;
}

cudaError_t cudaLaunchHostFunc(cudaStream_t handle, cudaHostFn_t function, void *argument)
{
	const struct host_work data = {function, argument};
	cudaError_t error = sim_enter("cudaLaunchHostFunc");
	if (error)
		return error;
	struct sim_stream *stream = sim_stream_find(handle, &error);
	if (!stream)
		return sim_leave(error);
	if (!function)
		return sim_leave(cudaErrorInvalidValue);
	struct sim_work *work = sim_work_make("cudaLaunchHostFunc", run_host, &data, sizeof(data));
	return sim_leave(work ? sim_enqueue(stream, work) : cudaErrorMemoryAllocation);
}
