/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The devices of an instance that are open, by its turn.
 *
 * Contexts share one where each can have a stream of its own, or where all work is done when an
 * entry returns.  Otherwise (one stream for asynchronous or captured work) their errors, captures
 * and waits could not be told apart, and each context opens the device anew; so it does on a handle
 * of others, which belongs to what they do with it.
 *
 * One user has the NULL stream: the first, and when it has left the next one that comes.  The
 * others have a stream that is created for them as their ordinary one.
 */
#include "device/opened.h"

#include <pthread.h>

#include "base/fork.h"
#include "base/memory.h"
#include "device/pool_parts.h"
#include "device/queue.h"
#include "device/turn.h"
#include "loader/instance.h"

struct tn_opened {
	struct tn_opened *next; /* in the instance's list */
	uint32_t index;
	void *handle;
	struct tn_device_description description; /* taken when it was open */
	uint32_t n_users;
	int null_is_taken; /* the NULL stream is one user's */
	atomic_int is_lost;
	pthread_mutex_t turn;
};

static struct tn_instance *instance_of(const struct tn_device *device)
{
	return device->backend->plugin.shared;
}

static int may_share(const struct tn_device *device)
{
	const struct tn_instance *instance = instance_of(device);
	if (!instance || !instance->is_shared || device->native)
		return 0;
	return tn_device_has_queues(device) ||
	       (device->synchronous && !tn_backend_has(device->backend, TN_SLOT_CAPTURE_BEGIN));
}

static struct tn_opened *find(const struct tn_device *device)
{
	struct tn_opened *opened = may_share(device) ? instance_of(device)->opened : NULL;
	while (opened && (opened->index != device->index || atomic_load(&opened->is_lost)))
		opened = opened->next;
	return opened;
}

/* A backend without an instance of the loader's, in tests, has described it for good. */
static tn_status describe(const struct tn_device *device, struct tn_device_description *description,
			  struct tn_error_info *error)
{
	const struct tn_backend *backend = device->backend;
	if (instance_of(device))
		return tn_backend_describe_opened(backend, device->index, description, error);
	*description = backend->devices[device->index];
	return TN_OK;
}

static tn_status open_device(const struct tn_device *device, struct tn_opened **result,
			     struct tn_error_info *error)
{
	const struct tn_backend *backend = device->backend;
	struct tn_open_args args = {.call = {.struct_size = sizeof(args), .error = error},
				    .index = device->index,
				    .native = device->native};
	struct tn_opened *opened = tn_mem_zeroed(1, sizeof(*opened));
	if (!opened)
		return tn_no_memory(error, "open", NULL, "an open device");
	opened->index = device->index;
	tn_status status = backend->device.open(backend->plugin.instance, &args, &opened->handle);
	if (!status && !opened->handle)
		status = tn_fail(error, TN_BACKEND_FAILURE, "open",
				 "the backend returned no handle");
	if (!status) {
		status = describe(device, &opened->description, error);
		if (status)
			backend->device.close(opened->handle);
	}
	if (status) {
		tn_mem_free(opened);
		return status;
	}
	pthread_mutex_init(&opened->turn, NULL);
	*result = opened;
	return TN_OK;
}

static void list(const struct tn_device *device, struct tn_opened *opened)
{
	struct tn_instance *instance = instance_of(device);
	if (!may_share(device))
		return;
	opened->next = instance->opened;
	instance->opened = opened;
}

static void unlist(const struct tn_device *device, const struct tn_opened *opened)
{
	struct tn_instance *instance = instance_of(device);
	struct tn_opened **link = instance ? &instance->opened : NULL;
	while (link && *link && *link != opened)
		link = &(*link)->next;
	if (link && *link)
		*link = opened->next;
}

static void close_device(const struct tn_device *device, struct tn_opened *opened)
{
	unlist(device, opened);
	device->backend->device.close(opened->handle);
	pthread_mutex_destroy(&opened->turn);
	tn_mem_free(opened);
}

tn_status tn_opened_make_stream(const struct tn_device *device, void **stream,
				struct tn_error_info *error)
{
	struct tn_stream_args args = {.call = {.struct_size = sizeof(args), .error = error}};
	tn_error_reset(error);
	tn_status status = tn_turn_end(device, device->backend->stream.stream_create(
						       tn_turn_begin(device), &args, stream));
	return status || *stream ? status
				 : tn_fail(error, TN_BACKEND_FAILURE, "stream_create",
					   "the backend returned no handle");
}

void tn_opened_end_stream(const struct tn_device *device, void *stream)
{
	struct tn_error_info error;
	struct tn_stream_args args = {
		.call = {.struct_size = sizeof(args), .stream = stream, .error = &error}};
	tn_error_reset(&error);
	tn_status status = tn_turn_end(
		device, device->backend->stream.stream_destroy(tn_turn_begin(device), &args));
	if (status && status != TN_DEVICE_LOST)
		tn_log_format(device->logger, TN_LOG_WARNING, "stream", "%s: %s", device->name,
			      error.text);
}

/* The NULL stream, or one of its own. */
static tn_status take_stream(struct tn_device *device, struct tn_error_info *error)
{
	struct tn_opened *opened = device->opened;
	struct tn_queue *ordinary = &device->pool->ordinary;
	if (!opened->null_is_taken || device->synchronous) {
		opened->null_is_taken = 1;
		return TN_OK;
	}
	tn_status status = tn_opened_make_stream(device, &ordinary->handle, error);
	if (!status && device->queue == ordinary)
		tn_queue_enter(device, ordinary);
	return status;
}

static void join(struct tn_device *device, struct tn_opened *opened)
{
	const int takes_turns =
		may_share(device) && !(opened->description.flags & TN_DEVICE_CONCURRENT_STREAMS);
	opened->n_users++;
	device->description = opened->description;
	tn_backend_set_description(device->backend, device->index, &opened->description);
	device->opened = opened;
	device->handle = opened->handle;
	device->turn = takes_turns ? &opened->turn : NULL;
}

static void leave(struct tn_device *device)
{
	struct tn_opened *opened = device->opened;
	device->opened = NULL;
	device->handle = NULL;
	device->turn = NULL;
	if (--opened->n_users == 0)
		close_device(device, opened);
}

tn_status tn_opened_take(struct tn_device *device, struct tn_error_info *error)
{
	tn_instance_lock(instance_of(device));
	struct tn_opened *opened = find(device);
	tn_status status = TN_OK;
	if (!opened) {
		status = open_device(device, &opened, error);
		if (!status)
			list(device, opened);
	}
	if (!status) {
		join(device, opened);
		status = take_stream(device, error);
		if (status)
			leave(device);
	}
	tn_instance_unlock(instance_of(device));
	return status;
}

/* The handles are the parent's. */
static void forget(struct tn_device *device)
{
	if (--device->opened->n_users == 0)
		tn_mem_free(device->opened);
}

void tn_opened_give(struct tn_device *device, void *stream)
{
	if (!device->opened)
		return;
	if (device->fork_generation != tn_fork_generation()) {
		forget(device);
		return;
	}
	if (stream)
		tn_opened_end_stream(device, stream);
	tn_instance_lock(instance_of(device));
	if (!stream)
		device->opened->null_is_taken = 0;
	leave(device);
	tn_instance_unlock(instance_of(device));
}

const char *tn_opened_apart(const struct tn_device *a, const struct tn_device *b)
{
	if (a->opened == b->opened)
		return NULL;
	if (a->native || b->native)
		return "one is opened on a handle of others";
	if (instance_of(a) != instance_of(b))
		return "options, variables, log or threads of the contexts differ";
	if (!may_share(a))
		return "its work is in one stream, which contexts cannot share";
	return "one was opened after the other was lost";
}

int tn_opened_is_lost(const struct tn_device *device)
{
	return device->opened && atomic_load(&device->opened->is_lost);
}

void tn_opened_lose(const struct tn_device *device)
{
	if (!device->opened)
		return;
	atomic_store(&device->opened->is_lost, 1);
	if (instance_of(device))
		atomic_store(&instance_of(device)->is_lost, 1);
}
