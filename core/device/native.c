/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Calls the entries of tenon.native/1.  Where a stream of others and one of the device are put in
 * order, the former is imported for the time of the call alone.
 */
#include "device/native.h"

#include "base/fork.h"
#include "device/open.h"
#include "device/point.h"
#include "device/pool_parts.h"
#include "device/queue.h"
#include "device/transfer.h"
#include "device/turn.h"

int tn_device_has_native(const struct tn_device *device)
{
	return tn_device_has_queues(device) &&
	       tn_backend_has_all(device->backend, TN_SLOT_DEVICE_EXPORT, TN_SLOT_STREAM_EXPORT);
}

static tn_status refuse(const struct tn_device *device, const char *operation,
			struct tn_error_info *error)
{
	return tn_fail(error, TN_UNSUPPORTED, operation,
		       device->synchronous
			       ? "%s has one stream only: its work is done when a call returns"
			       : "%s: the backend neither imports nor exports streams "
				 "(" TN_TABLE_NATIVE ")",
		       device->name);
}

tn_status tn_device_import_stream(struct tn_device *device, uint64_t native, const char *operation,
				  void **stream, struct tn_error_info *error)
{
	struct tn_native_args args = {.call = {.struct_size = sizeof(args), .error = error},
				      .native = native};
	if (!tn_device_has_native(device))
		return refuse(device, operation, error);
	tn_error_reset(error);
	*stream = NULL;
	tn_status status = tn_turn_end(device, device->backend->vendor.stream_import(
						       tn_turn_begin(device), &args, stream));
	if (!status && !*stream)
		status = tn_fail(error, TN_BACKEND_FAILURE, operation,
				 "the backend returned no handle");
	return tn_device_answer(device, status, error);
}

void tn_device_release_stream(struct tn_device *device, void *stream)
{
	struct tn_error_info error;
	struct tn_stream_args args = {
		.call = {.struct_size = sizeof(args), .stream = stream, .error = &error}};
	if (device->fork_generation != tn_fork_generation())
		return;
	tn_error_reset(&error);
	tn_status status = tn_turn_end(
		device, device->backend->vendor.stream_release(tn_turn_begin(device), &args));
	if (tn_device_answer(device, status, &error) && status != TN_DEVICE_LOST)
		tn_log_format(device->logger, TN_LOG_WARNING, "stream", "%s", error.text);
}

/* ---- Out -------------------------------------------------------------------------------------*/

tn_status tn_device_export(struct tn_device *device, uint64_t *native, struct tn_error_info *error)
{
	struct tn_native_args args = {.call = {.struct_size = sizeof(args), .error = error}};
	tn_status status = tn_device_open(device, error);
	if (status)
		return status;
	if (!tn_backend_has(device->backend, TN_SLOT_DEVICE_EXPORT))
		return refuse(device, "device_native", error);
	tn_error_reset(error);
	return tn_device_answer(device,
				tn_turn_end(device, device->backend->vendor.device_export(
							    tn_turn_begin(device), &args, native)),
				error);
}

tn_status tn_queue_export(struct tn_device *device, const struct tn_queue *queue, uint64_t *native,
			  struct tn_error_info *error)
{
	struct tn_stream_args args = {
		.call = {.struct_size = sizeof(args), .stream = queue->handle, .error = error}};
	tn_status status = tn_device_open(device, error);
	if (status)
		return status;
	if (!tn_device_has_native(device))
		return refuse(device, "stream_native", error);
	tn_error_reset(error);
	return tn_device_answer(device,
				tn_turn_end(device, device->backend->vendor.stream_export(
							    tn_turn_begin(device), &args, native)),
				error);
}

/* ---- Order -----------------------------------------------------------------------------------*/

/* Waits on the host where the backend makes no event. */
static tn_status put_in_order(struct tn_device *device, void *first, void *second,
			      struct tn_error_info *error)
{
	struct tn_sync_args args = {
		.call = {.struct_size = sizeof(args), .stream = first, .error = error}};
	if (tn_stream_follow(device, second, first))
		return TN_OK;
	tn_error_reset(error);
	return tn_device_answer(
		device,
		tn_turn_end(device, device->backend->device.sync(tn_turn_begin(device), &args)),
		error);
}

/* The current stream and one of others, which is the first or the second. */
static tn_status order_with(struct tn_device *device, uint64_t native, int is_first,
			    const char *operation, struct tn_error_info *error)
{
	void *theirs;
	tn_status status = tn_device_begin_wait(device, operation, error);
	if (!status)
		status = tn_device_import_stream(device, native, operation, &theirs, error);
	if (status)
		return status;
	status = is_first ? put_in_order(device, theirs, device->stream, error)
			  : put_in_order(device, device->stream, theirs, error);
	tn_device_release_stream(device, theirs);
	return status;
}

tn_status tn_device_give_to(struct tn_device *device, uint64_t native, const char *operation,
			    struct tn_error_info *error)
{
	return order_with(device, native, 0, operation, error);
}

tn_status tn_device_take_from(struct tn_device *device, uint64_t native, const char *operation,
			      struct tn_error_info *error)
{
	return order_with(device, native, 1, operation, error);
}
