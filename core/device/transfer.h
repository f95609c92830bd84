/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Transfers between the host and a device or two devices, and waiting for a device.
 */
#ifndef TN_DEVICE_TRANSFER_H
#define TN_DEVICE_TRANSFER_H

#include "device/device.h"

/* Synchronous copies at a byte offset from the block's start.  They open the device when it is not
 * open.  TN_INVALID_ARGUMENT: outside the block. */
tn_status tn_device_upload(struct tn_device *device, const struct tn_block *block, uint64_t offset,
			   const void *host, uint64_t size, struct tn_error_info *error);
/* The same, which may return before the host's memory is free: it is,
 * once the device has been waited for. */
tn_status tn_device_upload_later(struct tn_device *device, const struct tn_block *block,
				 uint64_t offset, const void *host, uint64_t size,
				 struct tn_error_info *error);
tn_status tn_device_download(struct tn_device *device, const struct tn_block *block,
			     uint64_t offset, void *host, uint64_t size,
			     struct tn_error_info *error);
/* From the start of a block of one device to that of another's, without a stop on the host, where
 * nobody waits for it: each device's work goes on in its own order, of which the copy is a part, so
 * that either block may be given back at once.  TN_UNSUPPORTED: there is no such way between the
 * two. */
tn_status tn_device_copy_peer(struct tn_device *to, const struct tn_block *block,
			      struct tn_device *from, const struct tn_block *source,
			      uint64_t offset, uint64_t size, struct tn_error_info *error);
/* Waits for the device's work and answers its first asynchronous error. */
tn_status tn_device_sync(struct tn_device *device, struct tn_error_info *error);
/* The same where no error can be answered: it is kept for the caller who asks next. */
void tn_device_settle(struct tn_device *device);

/* Waits for the work of an open device, whatever error is still to be said. */
tn_status tn_device_wait(struct tn_device *device, struct tn_error_info *error);

#endif
