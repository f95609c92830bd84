/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Streams and events of a device, its streams for others and theirs for it, and the search for the
 * operation that an asynchronous error came from.
 */
#include "stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dnn.h"
#include "ranges.h"
#include "status.h"

#define RECENT 16u

struct cuda_stream {
	struct cuda_stream *next;
	uint64_t serial;      /* never reused, unlike an address; 0: the device's own */
	uint64_t last_serial; /* of the device's own: the highest given so far */
	cudaStream_t handle;
	int is_imported; /* others destroy it */
	int is_captured;
	const char *recent[RECENT];
	uint64_t n_recent; /* operations since it was last seen idle */
	/* Their values when its capture began. */
	const char *marked[RECENT];
	uint64_t n_marked;
	uint64_t givers; /* bit n: it took bytes from device n since it was last seen idle */
};

struct event {
	cudaEvent_t handle;
	uint64_t serial; /* of the stream */
	int is_recorded;
};

cudaStream_t cuda_stream_handle(const struct cuda_stream *stream)
{
	return stream->handle;
}

void cuda_stream_note(struct cuda_stream *stream, const char *operation)
{
	stream->recent[stream->n_recent++ % RECENT] = operation;
}

static void forget(const char *names[RECENT], const char *operation)
{
	for (unsigned k = 0; k < RECENT; k++)
		if (names[k] == operation)
			names[k] = "kernel";
}

void cuda_stream_forget(struct cuda_device *device, const char *operation)
{
	for (struct cuda_stream *stream = device->streams; stream; stream = stream->next) {
		forget(stream->recent, operation);
		forget(stream->marked, operation);
	}
}

void cuda_streams_wait(const struct cuda_device *device)
{
	for (const struct cuda_stream *stream = device->streams; stream; stream = stream->next)
		(void)device->rt->cudaStreamSynchronize(stream->handle);
}

void cuda_stream_launched(const struct cuda_device *device, struct cuda_stream *stream)
{
	if (device->is_blocking && !stream->is_captured)
		stream->n_recent = 0;
}

/* ---- Errors ----------------------------------------------------------------------------------*/

/* The names of operations that may be running, each once. */
struct suspects {
	const char *names[RECENT];
	unsigned n;
	uint64_t operations;
};

static void add_suspect(struct suspects *suspects, const char *name)
{
	unsigned k = 0;
	while (k < suspects->n && strcmp(suspects->names[k], name) != 0)
		k++;
	if (k == suspects->n && k < RECENT)
		suspects->names[suspects->n++] = name;
}

/* The oldest first. */
static void suspect_stream(struct suspects *suspects, const struct cuda_stream *stream)
{
	uint64_t first = stream->n_recent > RECENT ? stream->n_recent - RECENT : 0;
	for (uint64_t i = first; i < stream->n_recent; i++)
		add_suspect(suspects, stream->recent[i % RECENT]);
	suspects->operations += stream->n_recent;
}

tn_status cuda_stream_fail(struct cuda_device *device, const struct cuda_stream *stream,
			   struct tn_error_info *error, cudaError_t code, const char *operation,
			   const char *function)
{
	struct suspects suspects = {.n = 0};
	char list[200], text[300];
	if (cuda_status_of(code) != TN_DEVICE_LOST)
		return cuda_fail_code(device, error, code, operation, function);
	/* It may have been the work of any stream, most likely of the one that was asked. */
	if (stream)
		suspect_stream(&suspects, stream);
	for (const struct cuda_stream *other = device->streams; other; other = other->next)
		if (other != stream)
			suspect_stream(&suspects, other);
	if (!suspects.n)
		return cuda_fail_code(device, error, code, operation, function);
	if (suspects.n == 1)
		return cuda_fail_code(device, error, code, suspects.names[0],
				      "it failed on the device");
	/* "map, reduce" */
	size_t size = sizeof(list), at = 0;
	list[0] = 0;
	for (unsigned k = 0; k < suspects.n && at < size; k++) {
		int length =
			snprintf(list + at, size - at, "%s%s", k ? ", " : "", suspects.names[k]);
		at += length > 0 ? (size_t)length : 0;
	}
	snprintf(text, sizeof(text), "one of the %llu operations under way (%s) failed",
		 (unsigned long long)suspects.operations, list);
	return cuda_fail_code(device, error, code, suspects.names[0], text);
}

void cuda_stream_mark(struct cuda_stream *stream)
{
	memcpy(stream->marked, stream->recent, sizeof(stream->marked));
	stream->n_marked = stream->n_recent;
}

unsigned cuda_stream_marked(struct cuda_stream *stream, const char **names, unsigned most)
{
	struct suspects suspects = {.n = 0};
	uint64_t first = stream->n_recent - stream->n_marked > RECENT ? stream->n_recent - RECENT
								      : stream->n_marked;
	for (uint64_t i = first; i < stream->n_recent; i++)
		add_suspect(&suspects, stream->recent[i % RECENT]);
	memcpy(stream->recent, stream->marked, sizeof(stream->recent));
	stream->n_recent = stream->n_marked;
	if (suspects.n > most)
		suspects.n = most;
	memcpy(names, suspects.names, suspects.n * sizeof(*names));
	return suspects.n;
}

int cuda_stream_is_captured(const struct cuda_stream *stream)
{
	return stream->is_captured;
}

void cuda_stream_capture(struct cuda_device *device, struct cuda_stream *stream, int begins)
{
	stream->is_captured = begins;
	device->n_captured += begins ? 1 : -1u;
}

struct cuda_stream *cuda_stream_captured(const struct cuda_device *device)
{
	struct cuda_stream *stream = device->streams;
	while (stream && !stream->is_captured)
		stream = stream->next;
	return stream;
}

tn_status cuda_stream_refuse(const struct cuda_stream *stream, struct tn_error_info *error,
			     const char *operation)
{
	if (!stream->is_captured)
		return TN_OK;
	return tn_plugin_fail(error, TN_NOT_CAPTURABLE, operation,
			      "the stream is being captured; its work cannot be waited for");
}

void cuda_stream_take_from(struct cuda_stream *stream, int ordinal)
{
	stream->givers |= UINT64_C(1) << ordinal;
}

/* Bytes from a lost device are invalid, but the streams of other devices do not report the loss.
 * Any call on the lost device does.  A loss is reported once; with is_done, all of the stream's
 * work is done and the sources are not checked again. */
static tn_status check_givers(const struct cuda_device *device, struct cuda_stream *stream,
			      int is_done, struct tn_error_info *error, const char *operation)
{
	const struct cuda_runtime *rt = device->rt;
	size_t free_bytes = 0, total = 0;
	tn_status status = TN_OK;
	if (!stream || !stream->givers)
		return TN_OK;
	for (int giver = 0; giver < CUDA_MAX_DEVICES; giver++) {
		if (!(stream->givers >> giver & 1))
			continue;
		cudaError_t code = rt->cudaSetDevice(giver);
		if (code == cudaSuccess)
			code = rt->cudaMemGetInfo(&free_bytes, &total);
		int is_lost = cuda_status_of(code) == TN_DEVICE_LOST;
		if (is_lost)
			status = tn_plugin_fail(error, TN_BACKEND_FAILURE, operation,
						"device %d, the source of a copy, is lost: %s "
						"(%s, %d)",
						giver, rt->cudaGetErrorString(code),
						rt->cudaGetErrorName(code), (int)code);
		if (is_lost || is_done)
			stream->givers &= ~(UINT64_C(1) << giver);
	}
	(void)rt->cudaSetDevice(device->ordinal);
	(void)rt->cudaGetLastError();
	return status;
}

tn_status cuda_stream_wait(struct cuda_device *device, struct cuda_stream *stream,
			   struct tn_error_info *error, const char *operation)
{
	tn_status refused = cuda_stream_refuse(stream, error, operation);
	if (refused)
		return refused;
	cudaError_t code = device->rt->cudaStreamSynchronize(stream->handle);
	if (code != cudaSuccess)
		return cuda_stream_fail(device, stream, error, code, operation,
					"cudaStreamSynchronize");
	stream->n_recent = 0;
	return check_givers(device, stream, 1, error, operation);
}

/* ---- A stream's life -------------------------------------------------------------------------*/

/* Into the list: its first is the device's own. */
static void add_stream(struct cuda_device *device, struct cuda_stream *stream)
{
	struct cuda_stream *first = device->streams;
	stream->serial = ++first->last_serial;
	stream->next = first->next;
	first->next = stream;
}

static tn_status make_stream(struct cuda_device *device, const char *operation, int priority,
			     struct tn_error_info *error, struct cuda_stream **made)
{
	struct cuda_stream *stream = tn_plugin_alloc(device->host, sizeof(*stream));
	if (!stream)
		return tn_plugin_fail(error, TN_OUT_OF_MEMORY, operation, "no memory for a stream");
	cudaError_t code = device->rt->cudaStreamCreateWithPriority(
		&stream->handle, cudaStreamNonBlocking, priority);
	if (code != cudaSuccess) {
		tn_plugin_free(device->host, stream);
		return cuda_fail_code(device, error, code, operation,
				      "cudaStreamCreateWithPriority");
	}
	*made = stream;
	return TN_OK;
}

static cudaError_t destroy_stream(struct cuda_device *device, struct cuda_stream *stream)
{
	cudaError_t code = cudaSuccess;
	if (!device->loss.status && !stream->is_imported)
		code = device->rt->cudaStreamDestroy(stream->handle);
	tn_plugin_free(device->host, stream);
	return code;
}

tn_status cuda_streams_open(struct cuda_device *device, struct tn_error_info *error)
{
	const struct tn_host *host = device->host;
	const char *value = host->parameter(
		host->context, "CUDA_LAUNCH_BLOCKING",
		"1: CUDA waits for each kernel, so that errors name the one that failed");
	device->is_blocking = value && atoi(value) != 0;
	return make_stream(device, "open", 0, error, &device->streams);
}

void cuda_streams_close(struct cuda_device *device)
{
	while (device->streams) {
		struct cuda_stream *stream = device->streams;
		device->streams = stream->next;
		if (!device->loss.status && !stream->is_imported)
			(void)device->rt->cudaStreamSynchronize(stream->handle);
		(void)destroy_stream(device, stream);
	}
}

static struct cuda_stream *find_stream(const struct cuda_device *device, const void *handle)
{
	struct cuda_stream *stream = device->streams;
	while (handle && stream && stream != handle)
		stream = stream->next;
	return stream;
}

tn_status cuda_stream_of(struct cuda_device *device, const struct tn_call *call,
			 const char *operation, struct cuda_stream **stream)
{
	*stream = find_stream(device, call->stream);
	if (!*stream)
		return tn_plugin_fail(call->error, TN_INVALID_ARGUMENT, operation,
				      "the stream does not belong to this device");
	return TN_OK;
}

static tn_status stream_create(void *device, const struct tn_stream_args *args, void **stream)
{
	struct cuda_device *own = device;
	struct tn_stream_args taken;
	struct cuda_stream *made = NULL;
	tn_status status = cuda_take(own, &taken, sizeof(taken), args, 0, "stream_create");
	if (!status)
		status = make_stream(own, "stream_create", taken.priority, taken.call.error, &made);
	if (status)
		return status;
	add_stream(own, made);
	*stream = made;
	return TN_OK;
}

/* The stream, after the one before it in the list; NULL: it is the device's own, or not of it. */
static struct cuda_stream *find_before(struct cuda_device *device, const void *stream,
				       struct cuda_stream **before)
{
	*before = device->streams;
	while ((*before)->next && (*before)->next != stream)
		*before = (*before)->next;
	return (*before)->next;
}

/* No library keeps it. */
static void leave_stream(struct cuda_device *device, const struct cuda_stream *stream)
{
	cuda_matmul_leave(device, stream->handle);
	cuda_dnn_leave(device, stream->handle);
}

static tn_status stream_destroy(void *device, const struct tn_stream_args *args)
{
	struct cuda_device *own = device;
	struct tn_stream_args taken;
	tn_status status = cuda_take(own, &taken, sizeof(taken), args, 0, "stream_destroy");
	if (status)
		return status;
	struct cuda_stream *before, *gone = find_before(own, taken.call.stream, &before);
	if (!gone || gone->is_imported)
		return tn_plugin_fail(taken.call.error, TN_INVALID_ARGUMENT, "stream_destroy",
				      "the stream was not created on this device");
	status = cuda_stream_refuse(gone, taken.call.error, "stream_destroy");
	if (status)
		return status;
	/* While it is in the list, errors can name its running operations. */
	status = cuda_stream_wait(own, gone, taken.call.error, "stream_destroy");
	leave_stream(own, gone);
	before->next = gone->next;
	cudaError_t code = destroy_stream(own, gone);
	if (!status && code != cudaSuccess)
		return cuda_fail_code(own, taken.call.error, code, "stream_destroy",
				      "cudaStreamDestroy");
	return status;
}

/* ---- Table tenon.native/1 --------------------------------------------------------------------*/

/* The runtime names devices by numbers, and all its users share a device's context. */
static tn_status device_export(void *device, const struct tn_native_args *args, uint64_t *native)
{
	struct cuda_device *own = device;
	struct tn_native_args taken;
	tn_status status = cuda_take(own, &taken, sizeof(taken), args, 0, "device_export");
	if (!status)
		*native = (uint64_t)own->ordinal;
	return status;
}

static tn_status stream_import(void *device, const struct tn_native_args *args, void **stream)
{
	struct cuda_device *own = device;
	struct tn_native_args taken;
	tn_status status = cuda_take(own, &taken, sizeof(taken), args, 0, "stream_import");
	if (status)
		return status;
	if (!taken.native)
		return tn_plugin_fail(taken.call.error, TN_INVALID_ARGUMENT, "stream_import",
				      "expected a stream, cudaStreamLegacy or cudaStreamPerThread, "
				      "found 0");
	struct cuda_stream *made = tn_plugin_alloc(own->host, sizeof(*made));
	if (!made)
		return tn_plugin_fail(taken.call.error, TN_OUT_OF_MEMORY, "stream_import",
				      "no memory for a stream");
	made->handle = (cudaStream_t)(uintptr_t)taken.native;
	made->is_imported = 1;
	add_stream(own, made);
	*stream = made;
	return TN_OK;
}

static tn_status stream_release(void *device, const struct tn_stream_args *args)
{
	struct cuda_device *own = device;
	struct tn_stream_args taken;
	tn_status status = cuda_take(own, &taken, sizeof(taken), args, 0, "stream_release");
	if (status)
		return status;
	struct cuda_stream *before, *gone = find_before(own, taken.call.stream, &before);
	if (!gone || !gone->is_imported)
		return tn_plugin_fail(taken.call.error, TN_INVALID_ARGUMENT, "stream_release",
				      "the stream is not imported");
	status = cuda_stream_refuse(gone, taken.call.error, "stream_release");
	if (status)
		return status;
	leave_stream(own, gone);
	before->next = gone->next;
	(void)destroy_stream(own, gone);
	return TN_OK;
}

static tn_status stream_export(void *device, const struct tn_stream_args *args, uint64_t *native)
{
	struct cuda_device *own = device;
	struct tn_stream_args taken;
	struct cuda_stream *stream;
	tn_status status = cuda_take(own, &taken, sizeof(taken), args, 0, "stream_export");
	if (!status)
		status = cuda_stream_of(own, &taken.call, "stream_export", &stream);
	if (!status)
		*native = (uint64_t)(uintptr_t)stream->handle;
	return status;
}

const struct tn_native_table cuda_native_table = {
	.struct_size = sizeof(cuda_native_table),
	.device_export = device_export,
	.stream_import = stream_import,
	.stream_release = stream_release,
	.stream_export = stream_export,
};

/* ---- Waiting ---------------------------------------------------------------------------------*/

tn_status cuda_sync(void *device, const struct tn_sync_args *args)
{
	CUDA_RANGE range = cuda_range_begin(device, &args->call, "sync");
	struct cuda_device *own = device;
	struct tn_sync_args taken;
	struct cuda_stream *stream;
	tn_status status = cuda_take(own, &taken, sizeof(taken), args, 0, "sync");
	if (!status)
		status = cuda_stream_of(own, &taken.call, "sync", &stream);
	return status ? status : cuda_stream_wait(own, stream, taken.call.error, "sync");
}

/* An answer, not an error; but the runtime keeps it as the thread's last error, which a later query
 * would return. */
static int is_pending(const struct cuda_device *device, cudaError_t code)
{
	if (code != cudaErrorNotReady)
		return 0;
	(void)device->rt->cudaGetLastError();
	return 1;
}

tn_status cuda_async_error(void *device, void *stream, struct tn_error_info *out)
{
	struct cuda_device *own = device;
	const struct tn_call call = {.struct_size = sizeof(call), .stream = stream, .error = out};
	struct tn_call taken;
	struct cuda_stream *found;
	tn_status status = cuda_take(own, &taken, sizeof(taken), &call, 0, "async_error");
	if (!status)
		status = cuda_stream_of(own, &taken, "async_error", &found);
	if (status)
		return status;
	/* No captured work has run, and a query would invalidate the capture. */
	if (found->is_captured)
		return TN_OK;
	cudaError_t code = own->rt->cudaStreamQuery(found->handle);
	if (code == cudaSuccess)
		found->n_recent = 0;
	if (code == cudaSuccess || is_pending(own, code))
		return check_givers(own, found, code == cudaSuccess, out, "async_error");
	return cuda_stream_fail(own, found, out, code, "async_error", "cudaStreamQuery");
}

/* ---- Events ----------------------------------------------------------------------------------*/

static tn_status event_create(void *device, const struct tn_event_args *args, void **event)
{
	struct cuda_device *own = device;
	struct tn_event_args taken;
	tn_status status = cuda_take(own, &taken, sizeof(taken), args, 0, "event_create");
	if (status)
		return status;
	struct event *made = tn_plugin_alloc(own->host, sizeof(*made));
	if (!made)
		return tn_plugin_fail(taken.call.error, TN_OUT_OF_MEMORY, "event_create",
				      "no memory for an event");
	cudaError_t code = own->rt->cudaEventCreateWithFlags(&made->handle, cudaEventDefault);
	if (code != cudaSuccess) {
		tn_plugin_free(own->host, made);
		return cuda_fail_code(own, taken.call.error, code, "event_create",
				      "cudaEventCreateWithFlags");
	}
	*event = made;
	return TN_OK;
}

/* Takes the arguments of an event's entry; `stream` may be NULL if none is needed. */
static tn_status take_event(struct cuda_device *device, const struct tn_event_args *args,
			    const char *operation, struct tn_event_args *taken,
			    struct cuda_stream **stream)
{
	tn_status status = cuda_take(device, taken, sizeof(*taken), args, 0, operation);
	if (status)
		return status;
	if (!taken->event)
		return tn_plugin_fail(taken->call.error, TN_INVALID_ARGUMENT, operation,
				      "event is NULL");
	return stream ? cuda_stream_of(device, &taken->call, operation, stream) : TN_OK;
}

static tn_status event_destroy(void *device, const struct tn_event_args *args)
{
	struct cuda_device *own = device;
	struct tn_event_args taken;
	tn_status status = take_event(own, args, "event_destroy", &taken, NULL);
	struct event *event = taken.event;
	if (status == TN_DEVICE_LOST)
		tn_plugin_free(own->host, event);
	if (status)
		return status;
	cudaError_t code = own->rt->cudaEventDestroy(event->handle);
	tn_plugin_free(own->host, event);
	if (code != cudaSuccess)
		return cuda_fail_code(own, taken.call.error, code, "event_destroy",
				      "cudaEventDestroy");
	return TN_OK;
}

static tn_status event_record(void *device, const struct tn_event_args *args)
{
	struct cuda_device *own = device;
	struct cuda_stream *stream;
	struct tn_event_args taken;
	tn_status status = take_event(own, args, "event_record", &taken, &stream);
	if (!status)
		status = cuda_stream_refuse(stream, taken.call.error, "event_record");
	if (status)
		return status;
	struct event *event = taken.event;
	cudaError_t code = own->rt->cudaEventRecord(event->handle, stream->handle);
	if (code != cudaSuccess)
		return cuda_stream_fail(own, stream, taken.call.error, code, "event_record",
					"cudaEventRecord");
	event->serial = stream->serial;
	event->is_recorded = 1;
	return TN_OK;
}

static tn_status event_wait(void *device, const struct tn_event_args *args)
{
	struct cuda_device *own = device;
	struct cuda_stream *stream;
	struct tn_event_args taken;
	tn_status status = take_event(own, args, "event_wait", &taken, &stream);
	if (!status)
		status = cuda_stream_refuse(stream, taken.call.error, "event_wait");
	if (status)
		return status;
	const struct event *event = taken.event;
	if (!event->is_recorded)
		return TN_OK;
	cudaError_t code = own->rt->cudaStreamWaitEvent(stream->handle, event->handle, 0);
	if (code != cudaSuccess)
		return cuda_stream_fail(own, stream, taken.call.error, code, "event_wait",
					"cudaStreamWaitEvent");
	return TN_OK;
}

/* The stream in which it was recorded, if it still exists. */
static struct cuda_stream *stream_of(const struct cuda_device *device, const struct event *event)
{
	struct cuda_stream *stream = device->streams;
	while (stream && stream->serial != event->serial)
		stream = stream->next;
	return stream;
}

/* Its stream names the work before the event that failed. */
static tn_status fail_event(struct cuda_device *device, const struct event *event,
			    struct tn_error_info *error, cudaError_t code, const char *operation,
			    const char *function)
{
	return cuda_stream_fail(device, stream_of(device, event), error, code, operation, function);
}

static tn_status event_sync(void *device, const struct tn_event_args *args)
{
	CUDA_RANGE range = cuda_range_begin(device, &args->call, "event_sync");
	struct cuda_device *own = device;
	struct tn_event_args taken;
	tn_status status = take_event(own, args, "event_sync", &taken, NULL);
	if (status)
		return status;
	const struct event *event = taken.event;
	if (!event->is_recorded)
		return TN_OK;
	cudaError_t code = own->rt->cudaEventSynchronize(event->handle);
	if (code != cudaSuccess)
		return fail_event(own, event, taken.call.error, code, "event_sync",
				  "cudaEventSynchronize");
	/* The stream's work after the event may not be done. */
	return check_givers(own, stream_of(own, event), 0, taken.call.error, "event_sync");
}

static tn_status event_query(void *device, const struct tn_event_args *args, uint32_t *reached)
{
	struct cuda_device *own = device;
	struct tn_event_args taken;
	tn_status status = take_event(own, args, "event_query", &taken, NULL);
	if (status)
		return status;
	const struct event *event = taken.event;
	cudaError_t code =
		event->is_recorded ? own->rt->cudaEventQuery(event->handle) : cudaSuccess;
	if (code != cudaSuccess && !is_pending(own, code))
		return fail_event(own, event, taken.call.error, code, "event_query",
				  "cudaEventQuery");
	*reached = code == cudaSuccess;
	return TN_OK;
}

static tn_status event_elapsed(void *device, const struct tn_elapsed_args *args, double *seconds)
{
	struct cuda_device *own = device;
	struct tn_elapsed_args taken;
	float milliseconds = 0;
	tn_status status = cuda_take(own, &taken, sizeof(taken), args, 0, "event_elapsed");
	if (status)
		return status;
	const struct event *start = taken.start, *end = taken.end;
	if (!start || !end || !start->is_recorded || !end->is_recorded)
		return tn_plugin_fail(taken.call.error, TN_INVALID_ARGUMENT, "event_elapsed",
				      "start or end was not recorded");
	cudaError_t code = own->rt->cudaEventElapsedTime(&milliseconds, start->handle, end->handle);
	if (is_pending(own, code))
		return tn_plugin_fail(taken.call.error, TN_INVALID_ARGUMENT, "event_elapsed",
				      "start or end has not been reached");
	if (code != cudaSuccess)
		return fail_event(own, end, taken.call.error, code, "event_elapsed",
				  "cudaEventElapsedTime");
	*seconds = (double)milliseconds / 1000;
	return TN_OK;
}

const struct tn_stream_table cuda_stream_table = {
	.struct_size = sizeof(cuda_stream_table),
	.stream_create = stream_create,
	.stream_destroy = stream_destroy,
	.event_create = event_create,
	.event_destroy = event_destroy,
	.event_record = event_record,
	.event_wait = event_wait,
	.event_sync = event_sync,
	.event_query = event_query,
	.event_elapsed = event_elapsed,
};
