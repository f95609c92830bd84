/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Copies between host and device and between devices, and waiting.  These calls report the errors
 * of earlier work, each once and with the name of the operation that failed:
 *
 *	all        an error that appeared where it could not be reported (device->deferred)
 *	copies     errors of work that is done (async_error)
 *	download,  all errors of earlier work, and failed checks (checks.h), because the host waits;
 *	sync       a download that does not wait is like an upload
 *
 * A call that reports one does nothing else, except for a download whose own wait revealed it.
 */
#include "device/transfer.h"

#include <inttypes.h>

#include "base/fork.h"
#include "device/check_record.h"
#include "device/open.h"
#include "device/pool_parts.h"
#include "device/turn.h"
#include "device/use.h"

/* If the device was lost meanwhile, the stored error has the backend's text about it. */
tn_status tn_device_begin_wait(struct tn_device *device, const char *operation,
			       struct tn_error_info *error)
{
	tn_status status = device->deferred.status;
	if (device->store)
		return tn_fail(error, TN_NOT_CAPTURABLE, operation,
			       "%s: work is captured: the host cannot wait for the device",
			       device->name);
	if (!status || device->fork_generation != tn_fork_generation())
		return tn_device_open(device, error);
	if (error)
		*error = device->deferred;
	tn_error_reset(&device->deferred);
	return status;
}

typedef tn_status transfer_fn(void *device, const struct tn_transfer_args *args);

static tn_status transfer(struct tn_device *device, transfer_fn *entry, const char *operation,
			  const struct tn_block *block, uint64_t offset, void *host, uint64_t size,
			  uint32_t flags, struct tn_error_info *error)
{
	int is_upload = entry == device->backend->device.upload;
	if (offset > block->size || size > block->size - offset)
		return tn_fail(error, TN_INVALID_ARGUMENT, operation,
			       "%s: %" PRIu64 " bytes at %" PRIu64
			       " are outside the block of %" PRIu64,
			       device->name, size, offset, block->size);
	tn_status status = tn_device_begin_wait(device, operation, error);
	if (status || size == 0)
		return status;
	int waits = !is_upload && !(flags & TN_ASYNC);
	status = waits ? tn_check_record_fetch(device, device->queue, error)
		       : tn_queue_error(device, device->queue, error);
	if (status)
		return status;
	tn_error_reset(error);
	tn_block_use(device, block);
	struct tn_transfer_args args = {
		.call = {.struct_size = sizeof(args),
			 .flags = flags,
			 .stream = device->stream,
			 .error = error},
		.buffer = block->buffer,
		.offset = block->offset + offset,
		.size = size,
		.host = host,
	};
	status = tn_device_answer(device, tn_turn_end(device, entry(tn_turn_begin(device), &args)),
				  error);
	if (status)
		tn_check_record_doubt(device, device->queue);
	return status || !waits ? status : tn_queue_error(device, device->queue, error);
}

tn_status tn_device_upload(struct tn_device *device, const struct tn_block *block, uint64_t offset,
			   const void *host, uint64_t size, struct tn_error_info *error)
{
	/* The entry only reads this memory. */
	return transfer(device, device->backend->device.upload, "upload", block, offset,
			(void *)(uintptr_t)host, size, 0, error);
}

tn_status tn_device_upload_later(struct tn_device *device, const struct tn_block *block,
				 uint64_t offset, const void *host, uint64_t size,
				 struct tn_error_info *error)
{
	return transfer(device, device->backend->device.upload, "upload", block, offset,
			(void *)(uintptr_t)host, size, TN_ASYNC, error);
}

tn_status tn_device_download(struct tn_device *device, const struct tn_block *block,
			     uint64_t offset, void *host, uint64_t size,
			     struct tn_error_info *error)
{
	return transfer(device, device->backend->device.download, "download", block, offset, host,
			size, 0, error);
}

tn_status tn_device_download_later(struct tn_device *device, const struct tn_block *block,
				   uint64_t offset, void *host, uint64_t size,
				   struct tn_error_info *error)
{
	return transfer(device, device->backend->device.download, "download", block, offset, host,
			size, TN_ASYNC, error);
}

tn_status tn_device_copy_peer(struct tn_device *to, const struct tn_block *block,
			      struct tn_device *from, const struct tn_block *source,
			      uint64_t offset, uint64_t size, struct tn_error_info *error)
{
	if (to->backend != from->backend || !tn_backend_has(to->backend, TN_SLOT_PEER_COPY))
		return TN_UNSUPPORTED;
	tn_status status = tn_device_begin_wait(from, "peer_copy", error);
	if (!status)
		status = tn_queue_error(from, from->queue, error);
	if (!status)
		status = tn_device_begin_wait(to, "peer_copy", error);
	if (!status)
		status = tn_queue_error(to, to->queue, error);
	if (status)
		return status;
	tn_error_reset(error);
	tn_block_use(to, block);
	tn_block_use(from, source);
	struct tn_peer_args args = {
		.call = {.struct_size = sizeof(args), .stream = to->stream, .error = error},
		.peer = from->handle,
		.peer_stream = from->stream,
		.buffer = block->buffer,
		.offset = block->offset,
		.peer_buffer = source->buffer,
		.peer_offset = source->offset + offset,
		.size = size,
	};
	status = tn_turn_end_both(to, from,
				  to->backend->peer.peer_copy(tn_turn_begin_both(to, from), &args));
	return status == TN_UNSUPPORTED ? status : tn_device_answer(to, status, error);
}

/* Waits, even if an error is still to be reported. */
static tn_status wait_for_queue(struct tn_device *device, const struct tn_queue *queue,
				struct tn_error_info *error)
{
	tn_error_reset(error);
	struct tn_sync_args args = {
		.call = {.struct_size = sizeof(args), .stream = queue->handle, .error = error}};
	device->replayers &= ~tn_queue_bit(queue);
	tn_status status = tn_device_answer(
		device,
		tn_turn_end(device, device->backend->device.sync(tn_turn_begin(device), &args)),
		error);
	if (status)
		tn_check_record_doubt(device, queue);
	else
		tn_check_record_trust(device, queue);
	return status;
}

tn_status tn_queue_sync(struct tn_device *device, const struct tn_queue *queue,
			struct tn_error_info *error)
{
	tn_status status = tn_device_begin_wait(device, "sync", error);
	if (!status)
		status = wait_for_queue(device, queue, error);
	return status ? status : tn_check_record_fetch(device, queue, error);
}

tn_status tn_device_sync(struct tn_device *device, struct tn_error_info *error)
{
	return tn_queue_sync(device, device->queue, error);
}

static void warn_unreported(const struct tn_device *device, const struct tn_error_info *error)
{
	tn_log_format(device->logger, TN_LOG_WARNING, "device",
		      "%s: an error was not reported by any call: %s: %s", device->name,
		      error->operation, error->text);
}

/* For the next call that can report it. */
static void keep_unreported(struct tn_device *device, const struct tn_error_info *error)
{
	if (device->deferred.status)
		warn_unreported(device, error);
	else
		device->deferred = *error;
}

tn_status tn_device_sync_all(struct tn_device *device, struct tn_error_info *error)
{
	struct tn_queue *const *queues = device->pool->queues;
	struct tn_error_info later;
	tn_status first = tn_device_begin_wait(device, "sync", error);
	if (first)
		return first;
	for (uint32_t i = 0; i < TN_MOST_QUEUES && !device->lost; i++) {
		if (!queues[i])
			continue;
		tn_status status = wait_for_queue(device, queues[i], first ? &later : error);
		if (!status && !first)
			status = tn_check_record_fetch(device, queues[i], error);
		if (status && first)
			keep_unreported(device, &later);
		first = first ? first : status;
	}
	return first;
}

void tn_queue_settle(struct tn_device *device, const struct tn_queue *queue)
{
	struct tn_error_info error;
	if (device->synchronous || device->store || tn_device_ready(device, NULL))
		return;
	if (wait_for_queue(device, queue, &error))
		keep_unreported(device, &error);
}

void tn_device_settle(struct tn_device *device)
{
	for (uint32_t i = 0; i < TN_MOST_QUEUES; i++) {
		if (device->pool->queues[i])
			tn_queue_settle(device, device->pool->queues[i]);
	}
}

void tn_device_end_transfers(struct tn_device *device)
{
	struct tn_error_info error;
	if (!device->handle || device->fork_generation != tn_fork_generation())
		return;
	tn_device_settle(device);
	if (device->deferred.status)
		warn_unreported(device, &device->deferred);
	tn_error_reset(&device->deferred);
	for (uint32_t i = 0; i < TN_MOST_QUEUES && !device->lost; i++) {
		const struct tn_queue *queue = device->pool->queues[i];
		if (queue && tn_check_record_fetch(device, queue, &error))
			warn_unreported(device, &error);
	}
}
