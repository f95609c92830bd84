/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Transfers between the host and a device or two devices, and waiting for a device's streams.
 */
#ifndef TN_DEVICE_TRANSFER_H
#define TN_DEVICE_TRANSFER_H

#include "device/device.h"

/* All work here is in the current stream of the device, and of both devices where there are two.
 *
 * Synchronous copies at a byte offset from the block's start.  They open the device unless it is
 * open.  TN_INVALID_ARGUMENT: outside the block. */
tn_status tn_device_upload(struct tn_device *device, const struct tn_block *block, uint64_t offset,
			   const void *host, uint64_t size, struct tn_error_info *error);
/* The same, but may return early: the host's memory must stay unchanged until a wait for the
 * device. */
tn_status tn_device_upload_later(struct tn_device *device, const struct tn_block *block,
				 uint64_t offset, const void *host, uint64_t size,
				 struct tn_error_info *error);
tn_status tn_device_download(struct tn_device *device, const struct tn_block *block,
			     uint64_t offset, void *host, uint64_t size,
			     struct tn_error_info *error);
/* The same, but may return early: the host's memory is filled after a wait for the device. */
tn_status tn_device_download_later(struct tn_device *device, const struct tn_block *block,
				   uint64_t offset, void *host, uint64_t size,
				   struct tn_error_info *error);
/* Copies from the start of a block of one device to that of another, directly and without a wait on
 * the host.  The copy is ordered with the work of both devices, so that either block may be given
 * back at once.  TN_UNSUPPORTED: the two devices have no direct path. */
tn_status tn_device_copy_peer(struct tn_device *to, const struct tn_block *block,
			      struct tn_device *from, const struct tn_block *source,
			      uint64_t offset, uint64_t size, struct tn_error_info *error);
/* Waits for the work of a stream, the current one or all, and reports the first asynchronous error;
 * that of another stream is kept as by tn_queue_settle. */
tn_status tn_queue_sync(struct tn_device *device, const struct tn_queue *queue,
			struct tn_error_info *error);
tn_status tn_device_sync(struct tn_device *device, struct tn_error_info *error);
tn_status tn_device_sync_all(struct tn_device *device, struct tn_error_info *error);
/* The same for one stream or all where no error can be reported: it is kept for the next sync or
 * transfer, or logged if one is kept already. */
void tn_queue_settle(struct tn_device *device, const struct tn_queue *queue);
void tn_device_settle(struct tn_device *device);
/* Before the device is closed: waits for its work and logs the errors that are still to be
 * reported. */
void tn_device_end_transfers(struct tn_device *device);

/* Opens the device unless it is open.  TN_OK, or a stored asynchronous error, which is then
 * reported.  TN_NOT_CAPTURABLE: work is captured. */
tn_status tn_device_begin_wait(struct tn_device *device, const char *operation,
			       struct tn_error_info *error);

#endif
