/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A stream runs when a thread waits for it, and other streams run only as far as it waits for them:
 * a host that forgot an event reads the old contents.  A wait refers to a mark that was recorded
 * before it was given, so that running the work it waits for never returns to it.
 *
 * A piece of work that fails leaves its outputs unchanged; the work after it runs.  A lost device
 * runs no more work.
 */
#include <string.h>
#include <time.h>

#include "mock.h"

/* A stream with this much work runs its first piece when it is given another: queues of real
 * devices are bounded, too. */
enum { MOST_WAITING = 1024 };

struct mock_stream *mock_stream_find(struct mock_device *device, void *stream)
{
	if (!stream)
		return device->ordinary;
	struct mock_stream *found = device->streams;
	while (found && found != stream)
		found = found->next;
	if (found)
		return found->is_native ? NULL : found;
	const struct mock_import *import = device->imports;
	while (import && import != stream)
		import = import->next;
	return import ? import->stream : NULL;
}

struct mock_stream *mock_stream_make(struct mock_device *device)
{
	struct mock_stream *made = mock_host_alloc(device, sizeof(*made));
	if (!made)
		return NULL;
	memset(made, 0, sizeof(*made));
	made->references = 1;
	made->device = device;
	return made;
}

void mock_stream_release(struct mock_device *device, struct mock_stream *stream)
{
	if (--stream->references == 0)
		mock_host_free(device, stream);
}

struct mock_mark *mock_mark_make(struct mock_device *device, struct mock_stream *stream)
{
	struct mock_mark *mark = mock_host_alloc(device, sizeof(*mark));
	if (!mark)
		return NULL;
	memset(mark, 0, sizeof(*mark));
	mark->references = 1;
	mark->stream = stream;
	stream->references++;
	return mark;
}

struct mock_work *mock_mark_work(struct mock_device *device, struct mock_mark *mark, int is_wait,
				 struct tn_error_info *error, const char *operation)
{
	struct mock_packing packing = {.device = device, .error = error, .operation = operation};
	if (mock_pack_begin(&packing, 0, 0))
		return NULL;
	packing.work->mark = mark;
	packing.work->is_wait = is_wait;
	mark->references++;
	return packing.work;
}

void mock_mark_release(struct mock_device *device, struct mock_mark *mark)
{
	if (!mark || --mark->references)
		return;
	mock_stream_release(device, mark->stream);
	mock_host_free(device, mark);
}

void mock_queue(struct mock_device *device, struct mock_stream *stream, struct mock_work *work)
{
	if (stream->graph) {
		mock_graph_add(stream->graph, work);
		return;
	}
	while (stream->n_waiting >= MOST_WAITING)
		mock_run_one(device, stream);
	work->next = NULL;
	if (stream->last)
		stream->last->next = work;
	else
		stream->first = work;
	stream->last = work;
	stream->n_waiting++;
}

static struct mock_work *take_first(struct mock_stream *stream)
{
	struct mock_work *work = stream->first;
	if (!work)
		return NULL;
	stream->first = work->next;
	if (!stream->first)
		stream->last = NULL;
	stream->n_waiting--;
	return work;
}

static void reach(struct mock_mark *mark)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	mark->reached = 1;
	mark->seconds = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Runs the work that a wait waits for, even on another device. */
static void await(const struct mock_mark *mark)
{
	if (!mark->reached)
		mock_drain(mark->stream->device, mark->stream, mark);
}

/* Drops the work of a stream; streams that wait for a mark in it no longer wait.  Other devices
 * finish their work with buffers of this one before those are freed. */
static void abandon(struct mock_device *device, struct mock_stream *stream)
{
	struct mock_work *work;
	while ((work = take_first(stream)) != NULL) {
		if (work->mark && !work->is_wait)
			reach(work->mark);
		else if (work->mark && work->mark->stream->device != device)
			await(work->mark);
		mock_work_free(device, work);
	}
}

static tn_status lose_device(struct mock_device *device, const struct mock_work *work,
			     const char *cause, uint64_t number)
{
	struct tn_error_info *loss = &device->loss;
	loss->struct_size = sizeof(*loss);
	tn_plugin_fail(loss, TN_DEVICE_LOST, work->operation,
		       "the device was lost with piece of work %llu, a %s (%s:%llu)",
		       (unsigned long long)number, work->operation, cause,
		       (unsigned long long)number);
	abandon(device, device->ordinary);
	for (struct mock_stream *stream = device->streams; stream; stream = stream->next)
		abandon(device, stream);
	return TN_DEVICE_LOST;
}

/* Which of two faults happens to the next piece of work; number 0: none. */
struct due {
	const char *cause;
	uint64_t number;
};

static struct due due(struct mock_fault *of_all, struct mock_fault *own)
{
	struct due due = {of_all->name, mock_fault_due(of_all)};
	uint64_t number = own ? mock_fault_due(own) : 0;
	if (!due.number && number)
		due = (struct due){own->name, number};
	return due;
}

static void run_piece(struct mock_device *device, struct mock_stream *stream,
		      struct mock_work *work)
{
	struct mock_faults *faults = &device->instance->faults;
	struct tn_error_info error = {.struct_size = sizeof(error)};
	struct due losing = due(&faults->lost, &stream->losing);
	struct due failing = due(&faults->async_error, &stream->failing);
	tn_status status;
	(void)mock_count(&device->instance->n_pieces);
	if (work->is_transfer && !failing.number)
		failing = due(&stream->failing_transfers, NULL);
	if (faults->slow_ms) {
		struct timespec time = {.tv_sec = (time_t)(faults->slow_ms / 1000),
					.tv_nsec = (long)(faults->slow_ms % 1000) * 1000000};
		nanosleep(&time, NULL);
	}
	if (losing.number)
		status = lose_device(device, work, losing.cause, losing.number);
	else if (failing.number)
		status = tn_plugin_fail(&error, TN_BACKEND_FAILURE, work->operation,
					"piece of work %llu failed (%s:%llu)",
					(unsigned long long)failing.number, failing.cause,
					(unsigned long long)failing.number);
	else
		status = work->run(device, work, &error);
	if (status && !stream->error.status)
		stream->error = error;
}

int mock_run_one(struct mock_device *device, struct mock_stream *stream)
{
	struct mock_work *work = take_first(stream);
	if (!work)
		return 0;
	if (work->run)
		run_piece(device, stream, work);
	else if (!work->is_wait)
		reach(work->mark);
	else
		await(work->mark);
	mock_work_free(device, work);
	return 1;
}

void mock_drain(struct mock_device *device, struct mock_stream *stream,
		const struct mock_mark *until)
{
	while (!(until && until->reached) && mock_run_one(device, stream))
		;
}

void mock_drain_all(struct mock_device *device)
{
	mock_drain(device, device->ordinary, NULL);
	for (struct mock_stream *stream = device->streams; stream; stream = stream->next)
		mock_drain(device, stream, NULL);
}

tn_status mock_fetch(struct mock_device *device, struct mock_stream *stream,
		     struct tn_error_info *error)
{
	const struct tn_error_info *found = device->loss.status ? &device->loss : &stream->error;
	tn_status status = found->status;
	if (!status)
		return TN_OK;
	if (error)
		tn_struct_answer(error, found, sizeof(*found));
	memset(&stream->error, 0, sizeof(stream->error));
	return status;
}
