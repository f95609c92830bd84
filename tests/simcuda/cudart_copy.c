/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Copies.  The sides are checked when the call is made and again when the stream gets there.
 * Pinned memory is read and written at that time; pageable memory is read at the call, unless the
 * device reads such memory itself (SIMCUDA_PAGEABLE), and a write to it makes the call wait.
 */
#include "cudart_copy.h"

#include <stdlib.h>
#include <string.h>

/* ---- What lies at an address? ----------------------------------------------------------------*/

enum sim_side sim_side_of(const void *address)
{
	const uint64_t at = (uint64_t)(uintptr_t)address;
	if (sim_arena_device(at) >= 0 || sim_is_variable(at, 1))
		return SIM_DEVICE;
	return sim_pinned_find(at) ? SIM_PINNED : SIM_PAGEABLE;
}

static size_t extent_of(const struct sim_rectangle *r, size_t pitch)
{
	return r->width == 0 || r->height == 0 ? 0 : (r->height - 1) * pitch + r->width;
}

/* A device may always access its own memory. */
static const char *why_not(const void *address, size_t size, int write)
{
	const uint64_t at = (uint64_t)(uintptr_t)address;
	int device = sim_arena_device(at);
	if (size == 0 || sim_side_of(address) == SIM_PAGEABLE)
		return NULL;
	return sim_touch(device >= 0 ? device : 0, at, size, write);
}

/* Work before the call may still make a block live. */
static int is_promised(const void *address)
{
	const struct sim_block *block = sim_block_find((uint64_t)(uintptr_t)address);
	return block && (block->state == SIM_PENDING || block->kept);
}

static cudaError_t check_side(const char *name, const char *which, const void *address, size_t size,
			      int write)
{
	if (size > 0 && !address)
		return sim_say(cudaErrorInvalidValue, "%s: %s is NULL", name, which);
	const char *why = why_not(address, size, write);
	if (!why || is_promised(address))
		return cudaSuccess;
	return sim_say(cudaErrorInvalidValue, "%s, %s: %s", name, which, why);
}

static cudaError_t check_kind(const char *name, enum cudaMemcpyKind kind, enum sim_side to,
			      enum sim_side from)
{
	static const char *const words[] = {"pageable memory", "pinned memory",
					    "the device's memory"};
	int is_right = 1;
	if ((unsigned)kind > cudaMemcpyDefault)
		return sim_say(cudaErrorInvalidMemcpyDirection, "%s: kind %d", name, (int)kind);
	if (kind == cudaMemcpyHostToDevice)
		is_right = to == SIM_DEVICE && from != SIM_DEVICE;
	else if (kind == cudaMemcpyDeviceToHost)
		is_right = to != SIM_DEVICE && from == SIM_DEVICE;
	else if (kind == cudaMemcpyDeviceToDevice)
		is_right = to == SIM_DEVICE && from == SIM_DEVICE;
	else if (kind == cudaMemcpyHostToHost)
		is_right = to != SIM_DEVICE && from != SIM_DEVICE;
	if (is_right)
		return cudaSuccess;
	return sim_say(cudaErrorInvalidMemcpyDirection, "%s: kind %d, but it is from %s to %s",
		       name, (int)kind, words[from], words[to]);
}

/* ---- Running ---------------------------------------------------------------------------------*/

struct copy_work {
	const char *name;
	struct sim_rectangle r;
	void *staged; /* a copy of pageable memory, used as the source */
};

static void move(const struct sim_rectangle *r)
{
	char *to = sim_memory(r->to);
	const char *from = sim_memory(r->from);
	for (size_t i = 0; i < r->height; i++)
		memmove(to + i * r->to_pitch, from + i * r->from_pitch, r->width);
}

static cudaError_t run(void *data)
{
	const struct copy_work *copy = data;
	const struct sim_rectangle *r = &copy->r;
	const char *why = why_not(r->to, extent_of(r, r->to_pitch), 1);
	if (why)
		return sim_say(cudaErrorIllegalAddress, "%s, to: %s", copy->name, why);
	why = why_not(r->from, extent_of(r, r->from_pitch), 0);
	if (why)
		return sim_say(cudaErrorIllegalAddress, "%s, from: %s", copy->name, why);
	move(r);
	return cudaSuccess;
}

static void drop(void *data)
{
	free(((struct copy_work *)data)->staged);
}

/* The caller's pageable memory may be freed when the stream gets there. */
static cudaError_t stage(struct copy_work *copy)
{
	struct sim_rectangle *r = &copy->r;
	struct sim_rectangle in = *r;
	copy->staged = malloc(r->width * r->height + 1);
	if (!copy->staged)
		return cudaErrorMemoryAllocation;
	in.to = copy->staged;
	in.to_pitch = r->width;
	move(&in);
	r->from = copy->staged;
	r->from_pitch = r->width;
	return cudaSuccess;
}

static cudaError_t enqueue(const struct sim_copy *call, struct sim_stream *stream)
{
	struct copy_work data = {.name = call->name, .r = call->r};
	cudaError_t error = cudaSuccess;
	if (sim_side_of(call->r.from) == SIM_PAGEABLE && !sim_settings.pageable && !stream->capture)
		error = stage(&data);
	if (error)
		return error;
	struct sim_work *work = sim_work_make(call->name, run, &data, sizeof(data));
	if (!work) {
		free(data.staged);
		return cudaErrorMemoryAllocation;
	}
	work->drop = drop;
	return sim_enqueue(stream, work);
}

static cudaError_t check(const struct sim_copy *call)
{
	const struct sim_rectangle *r = &call->r;
	cudaError_t error = cudaSuccess;
	if (r->height > 1 && (r->to_pitch < r->width || r->from_pitch < r->width))
		return sim_say(cudaErrorInvalidPitchValue,
			       "%s: rows of %zu bytes every %zu and %zu", call->name, r->width,
			       r->to_pitch, r->from_pitch);
	error = check_side(call->name, "to", r->to, extent_of(r, r->to_pitch), 1);
	if (!error)
		error = check_side(call->name, "from", r->from, extent_of(r, r->from_pitch), 0);
	if (!error)
		error = check_kind(call->name, call->kind, sim_side_of(r->to),
				   sim_side_of(r->from));
	return error;
}

cudaError_t sim_copy(const struct sim_copy *call)
{
	cudaError_t error = cudaSuccess;
	struct sim_stream *stream = sim_stream_find(call->stream, &error);
	if (!error && !call->is_async)
		error = sim_capture_unsafe();
	if (!error && call->r.width > 0 && call->r.height > 0)
		error = check(call);
	if (error || call->r.width == 0 || call->r.height == 0)
		return error;
	enum sim_side to = sim_side_of(call->r.to), from = sim_side_of(call->r.from);
	int waits =
		to == SIM_PAGEABLE || (!call->is_async && (to != SIM_DEVICE || from == SIM_PINNED));
	if (waits && stream->capture && from == SIM_PAGEABLE)
		return sim_capture_refuse(stream);
	error = enqueue(call, stream);
	if (error || !waits || stream->capture)
		return error;
	int device = stream->device;
	sim_run_stream(stream);
	return sim_device(device)->sticky;
}

/* ---- Calls -----------------------------------------------------------------------------------*/

static struct sim_rectangle line(void *to, const void *from, size_t size)
{
	return (struct sim_rectangle){to, from, size, 1, size, size};
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t size, enum cudaMemcpyKind kind)
{
	const struct sim_copy call = {"cudaMemcpy", line(to, from, size), kind, NULL, 0};
	cudaError_t error = sim_enter(call.name);
	return error ? error : sim_leave(sim_copy(&call));
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t size, enum cudaMemcpyKind kind,
			    cudaStream_t stream)
{
	const struct sim_copy call = {"cudaMemcpyAsync", line(to, from, size), kind, stream, 1};
	cudaError_t error = sim_enter(call.name);
	return error ? error : sim_leave(sim_copy(&call));
}

cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch,
			 size_t width, size_t height, enum cudaMemcpyKind kind)
{
	const struct sim_copy call = {
		"cudaMemcpy2D", {to, from, width, height, to_pitch, from_pitch}, kind, NULL, 0};
	cudaError_t error = sim_enter(call.name);
	return error ? error : sim_leave(sim_copy(&call));
}

cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
			      size_t width, size_t height, enum cudaMemcpyKind kind,
			      cudaStream_t stream)
{
	const struct sim_copy call = {"cudaMemcpy2DAsync",
				      {to, from, width, height, to_pitch, from_pitch},
				      kind,
				      stream,
				      1};
	cudaError_t error = sim_enter(call.name);
	return error ? error : sim_leave(sim_copy(&call));
}

/* Each address must be on the named device; peer access is not needed. */
static cudaError_t copy_peer(const struct sim_copy *call, int to_device, int from_device)
{
	if (to_device < 0 || to_device >= sim_device_count() || from_device < 0 ||
	    from_device >= sim_device_count())
		return cudaErrorInvalidDevice;
	int to = sim_arena_device((uint64_t)(uintptr_t)call->r.to);
	int from = sim_arena_device((uint64_t)(uintptr_t)call->r.from);
	if (to != to_device || from != from_device)
		return sim_say(cudaErrorInvalidValue,
			       "%s: from device %d to %d, but the addresses are on %d and %d",
			       call->name, from_device, to_device, from, to);
	return sim_copy(call);
}

cudaError_t cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device, size_t size)
{
	const struct sim_copy call = {"cudaMemcpyPeer", line(to, from, size),
				      cudaMemcpyDeviceToDevice, NULL, 0};
	cudaError_t error = sim_enter(call.name);
	return error ? error : sim_leave(copy_peer(&call, to_device, from_device));
}

cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device,
				size_t size, cudaStream_t stream)
{
	const struct sim_copy call = {"cudaMemcpyPeerAsync", line(to, from, size),
				      cudaMemcpyDeviceToDevice, stream, 1};
	cudaError_t error = sim_enter(call.name);
	return error ? error : sim_leave(copy_peer(&call, to_device, from_device));
}
