/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Tables tenon.stream/1 and tenon.native/1, and the errors of all streams.  A command that fails
 * after its entry returned reports it in the status of its event.  A stream keeps the events of its
 * last commands; before one leaves the ring its outcome is awaited, which also keeps the host from
 * running ahead without bound.
 */
#include "stream.h"

#include <string.h>

#define RING 256

struct pending {
	cl_event event;
	const char *operation;
	void *staging;
};

struct opencl_stream {
	struct opencl_stream *next;
	uint64_t serial;      /* never reused, unlike an address; 0: the device's own */
	uint64_t last_serial; /* of the device's own: the highest given so far */
	cl_command_queue queue;
	int is_imported;  /* the queue is borrowed */
	tn_status status; /* of the first error that was not fetched */
	cl_int code;
	const char *operation;
	unsigned first, n;
	struct pending ring[RING];
};

struct opencl_event {
	cl_event event;  /* NULL: never recorded */
	uint64_t serial; /* of the stream */
};

cl_command_queue opencl_stream_queue(const struct opencl_stream *stream)
{
	return stream->queue;
}

/* ---- Running commands -------------------------------------------------------------------------*/

static void keep_error(struct opencl_stream *stream, cl_int code, const char *operation)
{
	if (stream->status)
		return;
	stream->status = opencl_error_status(code);
	stream->code = code;
	stream->operation = operation;
}

/* The status of a command: CL_COMPLETE; above: not done; below: failed. */
static cl_int state_of(const struct opencl_device *device, cl_event event)
{
	cl_int state = CL_QUEUED;
	cl_int code = device->cl->clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS,
						 sizeof(state), &state, NULL);
	return code ? code : state;
}

/* Removes the oldest command from the ring, if it is done. */
static int retire(struct opencl_device *device, struct opencl_stream *stream)
{
	struct pending *oldest = &stream->ring[stream->first];
	cl_int state = state_of(device, oldest->event);
	if (state > CL_COMPLETE)
		return 0;
	if (state < CL_COMPLETE)
		keep_error(stream, state, oldest->operation);
	device->cl->clReleaseEvent(oldest->event);
	tn_plugin_free(device->host, oldest->staging);
	stream->first = (stream->first + 1) % RING;
	stream->n--;
	return 1;
}

static void retire_done(struct opencl_device *device, struct opencl_stream *stream)
{
	while (stream->n && retire(device, stream))
		;
}

/* Waits for all of a stream's work. */
static void drain(struct opencl_device *device, struct opencl_stream *stream)
{
	cl_int code = device->cl->clFinish(stream->queue);
	const char *last = stream->n ? stream->ring[stream->first].operation : "sync";
	retire_done(device, stream);
	if (code)
		keep_error(stream, code, last);
}

/* If a driver fails to wait, the oldest command is dropped: its event and its staging are leaked,
 * because the device may still use them. */
static void make_room(struct opencl_device *device, struct opencl_stream *stream)
{
	const struct pending *oldest = &stream->ring[stream->first];
	const unsigned n = stream->n;
	cl_int code = device->cl->clWaitForEvents(1, &oldest->event);
	retire_done(device, stream);
	if (stream->n < n)
		return;
	keep_error(stream, code ? code : CL_OUT_OF_RESOURCES, oldest->operation);
	stream->first = (stream->first + 1) % RING;
	stream->n--;
}

void opencl_stream_push(struct opencl_device *device, struct opencl_stream *stream, cl_event event,
			const char *operation, void *staging)
{
	if (stream->n == RING)
		make_room(device, stream);
	stream->ring[(stream->first + stream->n++) % RING] =
		(struct pending){.event = event, .operation = operation, .staging = staging};
	(void)device->cl->clFlush(stream->queue);
}

tn_status opencl_stream_fetch(struct opencl_device *device, struct opencl_stream *stream,
			      struct tn_error_info *error)
{
	retire_done(device, stream);
	tn_status status = stream->status;
	if (status)
		opencl_fail_code(error, stream->code, stream->operation, "it failed on the device");
	stream->status = TN_OK;
	return status;
}

/* ---- A stream's life -------------------------------------------------------------------------*/

static tn_status make_stream(struct opencl_device *device, const char *operation,
			     struct tn_error_info *error, struct opencl_stream **made)
{
	cl_int code;
	struct opencl_stream *stream = tn_plugin_alloc(device->host, sizeof(*stream));
	if (!stream)
		return tn_plugin_fail(error, TN_OUT_OF_MEMORY, operation, "no memory for a stream");
	stream->queue = device->cl->clCreateCommandQueue(device->context, device->facts->id,
							 CL_QUEUE_PROFILING_ENABLE, &code);
	if (!stream->queue) {
		tn_plugin_free(device->host, stream);
		return opencl_fail_code(error, code, operation, "clCreateCommandQueue");
	}
	*made = stream;
	return TN_OK;
}

static void add_stream(struct opencl_device *device, struct opencl_stream *made)
{
	struct opencl_stream *first = device->streams;
	made->serial = ++first->last_serial;
	made->next = first->next;
	first->next = made;
}

/* Others may still use an imported queue: only what this device gave to it is waited for. */
static void destroy_stream(struct opencl_device *device, struct opencl_stream *stream)
{
	if (stream->is_imported) {
		while (stream->n)
			make_room(device, stream);
	} else {
		drain(device, stream);
		device->cl->clReleaseCommandQueue(stream->queue);
	}
	tn_plugin_free(device->host, stream);
}

tn_status opencl_streams_open(struct opencl_device *device, struct tn_error_info *error)
{
	return make_stream(device, "open", error, &device->streams);
}

void opencl_streams_close(struct opencl_device *device)
{
	while (device->streams) {
		struct opencl_stream *stream = device->streams;
		device->streams = stream->next;
		destroy_stream(device, stream);
	}
	while (device->released) {
		struct opencl_stream *stream = device->released;
		device->released = stream->next;
		destroy_stream(device, stream);
	}
}

struct opencl_stream *opencl_stream_find(struct opencl_device *device, void *handle)
{
	struct opencl_stream *stream = device->streams;
	while (handle && stream && stream != handle)
		stream = stream->next;
	return stream;
}

static tn_status stream_create(void *device, const struct tn_stream_args *args, void **stream)
{
	struct opencl_device *own = device;
	struct opencl_stream *made = NULL;
	struct tn_stream_args taken;
	tn_status status = tn_plugin_take(&taken, sizeof(taken), args, 0, "stream_create");
	if (!status)
		status = make_stream(own, "stream_create", taken.call.error, &made);
	if (status)
		return status;
	add_stream(own, made);
	*stream = made;
	return TN_OK;
}

static tn_status no_stream(const struct tn_call *call, const char *operation)
{
	return tn_plugin_fail(call->error, TN_INVALID_ARGUMENT, operation,
			      "the stream does not belong to this device");
}

/* The stream, after the one before it in the list; NULL: it is the device's own, or not of it. */
static struct opencl_stream *find_before(struct opencl_device *device, const void *stream,
					 struct opencl_stream **before)
{
	*before = device->streams;
	while ((*before)->next && (*before)->next != stream)
		*before = (*before)->next;
	return (*before)->next;
}

static tn_status stream_destroy(void *device, const struct tn_stream_args *args)
{
	struct opencl_device *own = device;
	struct tn_stream_args taken;
	tn_status status = tn_plugin_take(&taken, sizeof(taken), args, 0, "stream_destroy");
	if (status)
		return status;
	struct opencl_stream *before, *stream = find_before(own, taken.call.stream, &before);
	if (!stream || stream->is_imported)
		return tn_plugin_fail(taken.call.error, TN_INVALID_ARGUMENT, "stream_destroy",
				      "the stream was not created on this device");
	before->next = stream->next;
	destroy_stream(own, stream);
	return TN_OK;
}

/* ---- Table tenon.native/1 --------------------------------------------------------------------*/

static tn_status device_export(void *device, const struct tn_native_args *args, uint64_t *native)
{
	struct opencl_device *own = device;
	struct tn_native_args taken;
	tn_status status = tn_plugin_take(&taken, sizeof(taken), args, 0, "device_export");
	if (!status)
		*native = (uint64_t)(uintptr_t)own->context;
	return status;
}

/* NULL, or why the queue cannot be a stream of this device. */
static const char *unfit(const struct opencl_device *device, cl_command_queue queue)
{
	const struct opencl_library *cl = device->cl;
	cl_context context = NULL;
	cl_device_id id = NULL;
	cl_command_queue_properties properties = 0;
	if (cl->clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof(context), &context, NULL) ||
	    cl->clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof(id), &id, NULL) ||
	    cl->clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof(properties), &properties,
				      NULL))
		return "it is no command queue";
	if (context != device->context)
		return "it is of another context";
	if (id != device->facts->id)
		return "it is of another device";
	return properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE ? "it is out of order" : NULL;
}

/* Frees the streams that were released and whose work is done by now. */
static void free_released(struct opencl_device *device)
{
	for (struct opencl_stream **link = &device->released; *link;) {
		struct opencl_stream *stream = *link;
		retire_done(device, stream);
		if (stream->n) {
			link = &stream->next;
			continue;
		}
		*link = stream->next;
		tn_plugin_free(device->host, stream);
	}
}

static tn_status stream_import(void *device, const struct tn_native_args *args, void **stream)
{
	struct opencl_device *own = device;
	struct tn_native_args taken;
	tn_status status = tn_plugin_take(&taken, sizeof(taken), args, 0, "stream_import");
	if (status)
		return status;
	cl_command_queue queue = (cl_command_queue)(uintptr_t)taken.native;
	const char *why = queue ? unfit(own, queue) : "expected a cl_command_queue";
	if (why)
		return tn_plugin_fail(taken.call.error, TN_INVALID_ARGUMENT, "stream_import",
				      "the cl_command_queue %#llx: %s",
				      (unsigned long long)taken.native, why);
	free_released(own);
	struct opencl_stream *made = tn_plugin_alloc(own->host, sizeof(*made));
	if (!made)
		return tn_plugin_fail(taken.call.error, TN_OUT_OF_MEMORY, "stream_import",
				      "no memory for a stream");
	made->queue = queue;
	made->is_imported = 1;
	add_stream(own, made);
	*stream = made;
	return TN_OK;
}

/* The work in it keeps its staging until it is done. */
static tn_status stream_release(void *device, const struct tn_stream_args *args)
{
	struct opencl_device *own = device;
	struct tn_stream_args taken;
	tn_status status = tn_plugin_take(&taken, sizeof(taken), args, 0, "stream_release");
	if (status)
		return status;
	struct opencl_stream *before, *gone = find_before(own, taken.call.stream, &before);
	if (!gone || !gone->is_imported)
		return tn_plugin_fail(taken.call.error, TN_INVALID_ARGUMENT, "stream_release",
				      "the stream is not imported");
	before->next = gone->next;
	gone->next = own->released;
	own->released = gone;
	free_released(own);
	return TN_OK;
}

static tn_status stream_export(void *device, const struct tn_stream_args *args, uint64_t *native)
{
	struct opencl_device *own = device;
	struct tn_stream_args taken;
	tn_status status = tn_plugin_take(&taken, sizeof(taken), args, 0, "stream_export");
	if (status)
		return status;
	const struct opencl_stream *stream = opencl_stream_find(own, taken.call.stream);
	if (!stream)
		return no_stream(&taken.call, "stream_export");
	*native = (uint64_t)(uintptr_t)stream->queue;
	return TN_OK;
}

const struct tn_native_table opencl_native_table = {
	.struct_size = sizeof(opencl_native_table),
	.device_export = device_export,
	.stream_import = stream_import,
	.stream_release = stream_release,
	.stream_export = stream_export,
};

/* ---- Waiting and errors ----------------------------------------------------------------------*/

tn_status opencl_sync(void *device, const struct tn_sync_args *args)
{
	struct opencl_device *own = device;
	struct tn_sync_args taken;
	tn_status status = tn_plugin_take(&taken, sizeof(taken), args, 0, "sync");
	if (status)
		return status;
	struct opencl_stream *stream = opencl_stream_find(own, taken.call.stream);
	if (!stream)
		return no_stream(&taken.call, "sync");
	drain(own, stream);
	return opencl_stream_fetch(own, stream, taken.call.error);
}

tn_status opencl_async_error(void *device, void *stream, struct tn_error_info *out)
{
	struct opencl_device *own = device;
	struct opencl_stream *found = opencl_stream_find(own, stream);
	if (!found)
		return tn_plugin_fail(out, TN_INVALID_ARGUMENT, "async_error",
				      "the stream does not belong to this device");
	return opencl_stream_fetch(own, found, out);
}

/* ---- Events ----------------------------------------------------------------------------------*/

static tn_status event_create(void *device, const struct tn_event_args *args, void **event)
{
	struct opencl_device *own = device;
	struct tn_event_args taken;
	tn_status status = tn_plugin_take(&taken, sizeof(taken), args, 0, "event_create");
	if (status)
		return status;
	struct opencl_event *made = tn_plugin_alloc(own->host, sizeof(*made));
	if (!made)
		return tn_plugin_fail(taken.call.error, TN_OUT_OF_MEMORY, "event_create",
				      "no memory for an event");
	*event = made;
	return TN_OK;
}

/* Takes the arguments of an event's entry; `stream` may be NULL if none is needed. */
static tn_status take_event(struct opencl_device *device, const struct tn_event_args *args,
			    const char *operation, struct tn_event_args *taken,
			    struct opencl_stream **stream)
{
	tn_status status = tn_plugin_take(taken, sizeof(*taken), args, 0, operation);
	if (status)
		return status;
	if (!taken->event)
		return tn_plugin_fail(taken->call.error, TN_INVALID_ARGUMENT, operation,
				      "event is NULL");
	if (!stream)
		return TN_OK;
	*stream = opencl_stream_find(device, taken->call.stream);
	return *stream ? TN_OK : no_stream(&taken->call, operation);
}

static tn_status event_destroy(void *device, const struct tn_event_args *args)
{
	struct opencl_device *own = device;
	struct tn_event_args taken;
	tn_status status = take_event(own, args, "event_destroy", &taken, NULL);
	if (status)
		return status;
	struct opencl_event *event = taken.event;
	if (event->event)
		own->cl->clReleaseEvent(event->event);
	tn_plugin_free(own->host, event);
	return TN_OK;
}

/* The queue is flushed: a wait in another queue must not wait for commands that were never
 * submitted. */
static tn_status event_record(void *device, const struct tn_event_args *args)
{
	struct opencl_device *own = device;
	struct opencl_stream *stream;
	struct tn_event_args taken;
	cl_event marker = NULL;
	tn_status status = take_event(own, args, "event_record", &taken, &stream);
	if (status)
		return status;
	cl_int code = own->cl->clEnqueueMarkerWithWaitList(stream->queue, 0, NULL, &marker);
	if (!code)
		code = own->cl->clFlush(stream->queue);
	if (code) {
		if (marker)
			own->cl->clReleaseEvent(marker);
		return opencl_fail_code(taken.call.error, code, "event_record",
					"clEnqueueMarkerWithWaitList");
	}
	struct opencl_event *event = taken.event;
	if (event->event)
		own->cl->clReleaseEvent(event->event);
	event->event = marker;
	event->serial = stream->serial;
	return TN_OK;
}

static tn_status event_wait(void *device, const struct tn_event_args *args)
{
	struct opencl_device *own = device;
	struct opencl_stream *stream;
	struct tn_event_args taken;
	cl_event barrier = NULL;
	tn_status status = take_event(own, args, "event_wait", &taken, &stream);
	if (status)
		return status;
	struct opencl_event *event = taken.event;
	if (!event->event)
		return TN_OK;
	cl_int code =
		own->cl->clEnqueueBarrierWithWaitList(stream->queue, 1, &event->event, &barrier);
	if (code)
		return opencl_fail_code(taken.call.error, code, "event_wait",
					"clEnqueueBarrierWithWaitList");
	opencl_stream_push(own, stream, barrier, "event_wait", NULL);
	return TN_OK;
}

static tn_status event_sync(void *device, const struct tn_event_args *args)
{
	struct opencl_device *own = device;
	struct tn_event_args taken;
	tn_status status = take_event(own, args, "event_sync", &taken, NULL);
	if (status)
		return status;
	struct opencl_event *event = taken.event;
	if (!event->event)
		return TN_OK;
	cl_int code = own->cl->clWaitForEvents(1, &event->event);
	struct opencl_stream *stream = own->streams;
	while (stream && stream->serial != event->serial)
		stream = stream->next;
	if (stream)
		status = opencl_stream_fetch(own, stream, taken.call.error);
	if (!status && code)
		return opencl_fail_code(taken.call.error, code, "event_sync", "clWaitForEvents");
	return status;
}

static int is_reached(const struct opencl_device *device, const struct opencl_event *event)
{
	return !event->event || state_of(device, event->event) <= CL_COMPLETE;
}

static tn_status event_query(void *device, const struct tn_event_args *args, uint32_t *reached)
{
	struct opencl_device *own = device;
	struct tn_event_args taken;
	tn_status status = take_event(own, args, "event_query", &taken, NULL);
	if (!status)
		*reached = (uint32_t)is_reached(own, taken.event);
	return status;
}

/* The time at which the marker was reached, in nanoseconds of the device's clock. */
static cl_int time_of(const struct opencl_device *device, const struct opencl_event *event,
		      cl_ulong *when)
{
	return device->cl->clGetEventProfilingInfo(event->event, CL_PROFILING_COMMAND_END,
						   sizeof(*when), when, NULL);
}

static tn_status event_elapsed(void *device, const struct tn_elapsed_args *args, double *seconds)
{
	struct opencl_device *own = device;
	struct tn_elapsed_args taken;
	cl_ulong begin = 0, finish = 0;
	tn_status status = tn_plugin_take(&taken, sizeof(taken), args, 0, "event_elapsed");
	if (status)
		return status;
	const struct opencl_event *start = taken.start, *end = taken.end;
	if (!start || !end || !start->event || !end->event || !is_reached(own, start) ||
	    !is_reached(own, end))
		return tn_plugin_fail(taken.call.error, TN_INVALID_ARGUMENT, "event_elapsed",
				      "start or end was not recorded, or has not been reached");
	cl_int code = time_of(own, start, &begin);
	if (!code)
		code = time_of(own, end, &finish);
	if (code == CL_PROFILING_INFO_NOT_AVAILABLE)
		return tn_plugin_fail(taken.call.error, TN_UNSUPPORTED, "event_elapsed",
				      "start or end is in a queue without "
				      "CL_QUEUE_PROFILING_ENABLE");
	if (code)
		return opencl_fail_code(taken.call.error, code, "event_elapsed",
					"clGetEventProfilingInfo");
	*seconds = ((double)finish - (double)begin) * 1e-9;
	return TN_OK;
}

const struct tn_stream_table opencl_stream_table = {
	.struct_size = sizeof(opencl_stream_table),
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
