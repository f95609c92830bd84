/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: destroying a stream clears all buffers of the device, also those of other contexts.
 * Conform: L5 threads.shared
 */
#include "right.h"

enum { MOST = 256 };

static struct {
	void *memory;
	uint64_t size;
} buffers[MOST];

static tn_status alloc_buffer(void *device, const struct tn_alloc_args *args, uint64_t *buffer)
{
	tn_status status = right_alloc(device, args, buffer);
	for (int i = 0; !status && !(args->call.flags & TN_DRY_RUN) && i < MOST; i++) {
		if (buffers[i].memory)
			continue;
		buffers[i].memory = (void *)(uintptr_t)*buffer;
		buffers[i].size = args->size;
		break;
	}
	return status;
}

static tn_status free_buffer(void *device, const struct tn_free_args *args)
{
	for (int i = 0; i < MOST; i++) {
		if (buffers[i].memory == (void *)(uintptr_t)args->buffer)
			buffers[i].memory = NULL;
	}
	return right_free(device, args);
}

static void *make_handle(void *device)
{
	const struct tn_host *host = ((struct right *)device)->host;
	return host->alloc(host->context, 16, 0);
}

static void free_handle(void *device, void *handle)
{
	const struct tn_host *host = ((struct right *)device)->host;
	host->free(host->context, handle);
}

static tn_status stream_create(void *device, const struct tn_stream_args *args, void **stream)
{
	(void)args;
	*stream = make_handle(device);
	return *stream ? TN_OK : TN_OUT_OF_MEMORY;
}

static tn_status stream_destroy(void *device, const struct tn_stream_args *args)
{
	free_handle(device, args->call.stream);
	for (int i = 0; i < MOST; i++) {
		if (buffers[i].memory)
			memset(buffers[i].memory, 0, buffers[i].size);
	}
	return TN_OK;
}

static tn_status event_create(void *device, const struct tn_event_args *args, void **event)
{
	(void)args;
	*event = make_handle(device);
	return *event ? TN_OK : TN_OUT_OF_MEMORY;
}

static tn_status event_destroy(void *device, const struct tn_event_args *args)
{
	free_handle(device, args->event);
	return TN_OK;
}

static tn_status event_pass(void *device, const struct tn_event_args *args)
{
	(void)device;
	(void)args;
	return TN_OK;
}

static tn_status event_query(void *device, const struct tn_event_args *args, uint32_t *reached)
{
	(void)device;
	(void)args;
	*reached = 1;
	return TN_OK;
}

static tn_status event_elapsed(void *device, const struct tn_elapsed_args *args, double *seconds)
{
	(void)device;
	(void)args;
	*seconds = 0;
	return TN_OK;
}

static void break_it(struct right *right)
{
	right->device_flags &= ~(uint32_t)TN_DEVICE_SYNCHRONOUS;
	right->device.alloc = alloc_buffer;
	right->device.free = free_buffer;
	right->stream.stream_create = stream_create;
	right->stream.stream_destroy = stream_destroy;
	right->stream.event_create = event_create;
	right->stream.event_destroy = event_destroy;
	right->stream.event_record = event_pass;
	right->stream.event_wait = event_pass;
	right->stream.event_sync = event_pass;
	right->stream.event_query = event_query;
	right->stream.event_elapsed = event_elapsed;
}

RIGHT_PLUGIN("clears_others");
