/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Streams as queues.  Each item may wait for places in other streams.  Undeferred, an item runs
 * when it is queued; deferred, nothing runs until a wait, and then the streams are mixed by a seed:
 * work that the program does not order has no order here.
 */
#include "cudart.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simcuda.h"

enum { MAX_WAITING = 4096 }; /* items in one stream; then the host has to wait */

struct sim_item {
	struct sim_item *next;
	struct sim_work *work;
	size_t n_places;
	struct sim_place places[];
};

static struct sim_stream *streams;
static uint64_t next_id;
static unsigned long long chance;
static int running_device;

/* ---- Work ------------------------------------------------------------------------------------*/

struct sim_work *sim_work_make(const char *name, cudaError_t (*run)(void *data), const void *data,
			       size_t size)
{
	struct sim_work *work = calloc(1, sizeof(*work) + size);
	if (!work)
		return NULL;
	work->references = 1;
	work->name = name;
	work->run = run;
	if (size > 0)
		memcpy(work->data, data, size);
	return work;
}

struct sim_work *sim_work_keep(struct sim_work *work)
{
	work->references++;
	return work;
}

void sim_work_drop(struct sim_work *work)
{
	if (--work->references > 0)
		return;
	if (work->drop)
		work->drop(work->data);
	free(work);
}

/* ---- Streams ---------------------------------------------------------------------------------*/

struct sim_stream *sim_streams(void)
{
	return streams;
}

struct sim_stream *sim_stream_make(int device, unsigned flags, int priority)
{
	struct sim_stream *stream = calloc(1, sizeof(*stream));
	if (!stream)
		return NULL;
	*stream = (struct sim_stream){.next = streams,
				      .id = ++next_id,
				      .device = device,
				      .flags = flags,
				      .priority = priority};
	streams = stream;
	return stream;
}

static void forget(struct sim_stream *stream)
{
	struct sim_stream **at = &streams;
	while (*at != stream)
		at = &(*at)->next;
	*at = stream->next;
	while (stream->first) {
		struct sim_item *item = stream->first;
		stream->first = item->next;
		sim_work_drop(item->work);
		free(item);
	}
	free(stream->seen);
	free(stream);
}

/* It is freed after its waiting work. */
void sim_stream_destroy(struct sim_stream *stream)
{
	stream->destroyed = 1;
	if (!stream->first)
		forget(stream);
}

void sim_streams_drop(int device)
{
	struct sim_stream *next = NULL;
	for (struct sim_stream *stream = streams; stream; stream = next) {
		next = stream->next;
		if (device < 0 || stream->device == device)
			forget(stream);
	}
	if (device < 0)
		chance = 0;
}

size_t sim_streams_live(char *report, size_t size)
{
	size_t live = 0, length = 0;
	for (const struct sim_stream *stream = streams; stream; stream = stream->next) {
		if (stream->is_null || stream->destroyed)
			continue;
		live++;
		if (length < size)
			length += (size_t)snprintf(report + length, size - length,
						   "stream %llu of device %d\n",
						   (unsigned long long)stream->id, stream->device);
	}
	return live;
}

/* The legacy stream (1) or the one of each thread (2), which is one for all here. */
static struct sim_stream *find_own(int device, int is_null)
{
	for (struct sim_stream *stream = streams; stream; stream = stream->next)
		if (stream->device == device && stream->is_null == is_null)
			return stream;
	struct sim_stream *stream = sim_stream_make(device, cudaStreamDefault, 0);
	if (stream)
		stream->is_null = is_null;
	return stream;
}

struct sim_stream *sim_stream_null(int device)
{
	return find_own(device, 1);
}

struct sim_stream *sim_stream_find(cudaStream_t handle, cudaError_t *error)
{
	struct sim_stream *found = NULL;
	if (handle == NULL || handle == cudaStreamLegacy || handle == cudaStreamPerThread) {
		found = find_own(sim_device_current(), handle == cudaStreamPerThread ? 2 : 1);
		*error = found ? cudaSuccess : cudaErrorMemoryAllocation;
		return found;
	}
	for (found = streams; found; found = found->next)
		if (found == (struct sim_stream *)handle && !found->destroyed)
			break;
	*error = found ? cudaSuccess
		       : sim_say(cudaErrorInvalidResourceHandle, "%p is no stream", (void *)handle);
	return found;
}

/* ---- Places ----------------------------------------------------------------------------------*/

struct sim_place sim_place_now(const struct sim_stream *stream)
{
	return (struct sim_place){stream->id, stream->queued};
}

int sim_is_reached(struct sim_place place)
{
	for (const struct sim_stream *stream = streams; stream; stream = stream->next)
		if (stream->id == place.stream)
			return stream->done >= place.until;
	return 1;
}

static int is_blocking(const struct sim_stream *stream)
{
	return stream->is_null != 1 && !(stream->flags & cudaStreamNonBlocking);
}

/* The rules of the legacy stream: it waits for all blocking streams, and they for it. */
static size_t implied_places(const struct sim_stream *stream, struct sim_place *places)
{
	size_t n = 0;
	if (stream->is_null != 1 && !is_blocking(stream))
		return 0;
	for (const struct sim_stream *other = streams; other; other = other->next) {
		if (other->device != stream->device || other == stream ||
		    other->done == other->queued)
			continue;
		if (stream->is_null == 1 ? is_blocking(other) : other->is_null == 1) {
			if (places)
				places[n] = sim_place_now(other);
			n++;
		}
	}
	return n;
}

/* ---- Running ---------------------------------------------------------------------------------*/

int sim_running_device(void)
{
	return running_device;
}

static int is_runnable(const struct sim_item *item)
{
	for (size_t i = 0; i < item->n_places; i++)
		if (!sim_is_reached(item->places[i]))
			return 0;
	return 1;
}

/* On a lost device nothing runs any more. */
static void run_work(struct sim_stream *stream, struct sim_work *work)
{
	struct sim_device *device = sim_device(stream->device);
	if (stream->losing > 0 && --stream->losing == 0 && !device->sticky)
		device->sticky = cudaErrorLaunchFailure;
	if (device->sticky)
		return;
	running_device = stream->device;
	sim_in_work(1);
	cudaError_t error = work->run(work->data);
	sim_in_work(0);
	if (error)
		device->sticky = error;
}

static void run_first(struct sim_stream *stream)
{
	struct sim_item *item = stream->first;
	stream->first = item->next;
	if (!stream->first)
		stream->last = NULL;
	run_work(stream, item->work);
	stream->done++;
	sim_work_drop(item->work);
	free(item);
	if (stream->destroyed && !stream->first)
		forget(stream);
}

/* A linear congruential generator: the same streams in the same order for the same seed. */
static unsigned draw(unsigned below)
{
	if (chance == 0)
		chance = sim_settings.seed * 2862933555777941757ull + 1;
	chance = chance * 6364136223846793005ull + 1442695040888963407ull;
	return (unsigned)(chance >> 33) % below;
}

static int run_one(void)
{
	unsigned runnable = 0;
	for (struct sim_stream *stream = streams; stream; stream = stream->next)
		runnable += stream->first && is_runnable(stream->first);
	if (runnable == 0)
		return 0;
	unsigned chosen = runnable > 1 ? draw(runnable) : 0;
	for (struct sim_stream *stream = streams; stream; stream = stream->next)
		if (stream->first && is_runnable(stream->first) && chosen-- == 0) {
			run_first(stream);
			return 1;
		}
	return 0;
}

void sim_run_until(struct sim_place place)
{
	while (!sim_is_reached(place) && run_one())
		;
}

void sim_run_stream(struct sim_stream *stream)
{
	sim_run_until(sim_place_now(stream));
}

void sim_run_device(int device)
{
	int again = 1;
	while (again) {
		again = 0;
		for (struct sim_stream *stream = streams; stream && !again; stream = stream->next)
			again = stream->first && (device < 0 || stream->device == device);
		again = again && run_one();
	}
}

void sim_run_some(void)
{
	for (unsigned n = 1 + draw(3); n > 0 && run_one(); n--)
		;
}

/* ---- Putting ---------------------------------------------------------------------------------*/

static struct sim_item *make_item(const struct sim_stream *stream, struct sim_work *work,
				  const struct sim_place *place)
{
	size_t n = implied_places(stream, NULL);
	struct sim_item *item = calloc(1, sizeof(*item) + (n + 1) * sizeof(item->places[0]));
	if (!item)
		return NULL;
	item->work = work;
	item->n_places = implied_places(stream, item->places);
	if (place)
		item->places[item->n_places++] = *place;
	return item;
}

static cudaError_t put(struct sim_stream *stream, struct sim_work *work,
		       const struct sim_place *place)
{
	struct sim_item *item = make_item(stream, work, place);
	if (!item) {
		sim_work_drop(work);
		return cudaErrorMemoryAllocation;
	}
	if (stream->last)
		stream->last->next = item;
	else
		stream->first = item;
	stream->last = item;
	stream->queued++;
	if (!sim_settings.defer)
		sim_run_stream(stream);
	else if (stream->queued - stream->done > MAX_WAITING)
		sim_run_until((struct sim_place){stream->id, stream->queued - MAX_WAITING / 2});
	return cudaSuccess;
}

cudaError_t sim_enqueue_after(struct sim_stream *stream, struct sim_work *work,
			      struct sim_place place)
{
	return put(stream, work, &place);
}

cudaError_t sim_enqueue(struct sim_stream *stream, struct sim_work *work)
{
	if (stream->capture)
		return sim_capture_add(stream, work);
	cudaError_t error =
		stream->is_null == 1 ? sim_capture_implicit(stream->device) : cudaSuccess;
	if (error) {
		sim_work_drop(work);
		return error;
	}
	return put(stream, work, NULL);
}

cudaError_t sim_launched(cudaStream_t handle)
{
	cudaError_t error = cudaSuccess;
	struct sim_stream *stream = sim_stream_find(handle, &error);
	if (!stream || !sim_settings.blocking || stream->capture)
		return error;
	int device = stream->device;
	sim_run_stream(stream);
	return sim_device(device)->sticky;
}

/* ---- For the other libraries -----------------------------------------------------------------*/

struct foreign {
	int (*run)(void *data);
	_Alignas(16) unsigned char data[];
};

static cudaError_t run_foreign(void *data)
{
	struct foreign *foreign = data;
	return (cudaError_t)foreign->run(foreign->data);
}

static cudaError_t enqueue_foreign(cudaStream_t handle, const char *name, int (*run)(void *data),
				   const void *data, size_t size)
{
	cudaError_t error = cudaSuccess;
	struct sim_stream *stream = sim_stream_find(handle, &error);
	if (!stream)
		return error;
	struct sim_work *work = sim_work_make(name, run_foreign, NULL, 0);
	struct sim_work *more =
		work ? realloc(work, sizeof(*work) + sizeof(struct foreign) + size) : NULL;
	if (!more) {
		free(work);
		return cudaErrorMemoryAllocation;
	}
	struct foreign *foreign = (struct foreign *)more->data;
	foreign->run = run;
	memcpy(foreign->data, data, size);
	return sim_enqueue(stream, more);
}

int simcudaEnqueue(void *stream, const char *name, int (*run)(void *data), const void *data,
		   size_t size)
{
	cudaError_t error = sim_enter("simcudaEnqueue");
	if (error)
		return error;
	error = enqueue_foreign(stream, name, run, data, size);
	return sim_leave(error ? error : sim_launched(stream));
}

int simcudaRange(const void *address, size_t size, int write)
{
	if (size == 0)
		return 0;
	const char *why = sim_touch(running_device, (uint64_t)(uintptr_t)address, size, write);
	return why ? sim_say(cudaErrorIllegalAddress, "%s", why) : 0;
}

void *simcudaMemory(const void *address)
{
	return sim_memory(address);
}

int simcudaStream(void *handle)
{
	cudaError_t error = sim_enter("simcudaStream");
	if (error)
		return error;
	sim_stream_find(handle, &error);
	return sim_leave(error);
}
