/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Blocks of a device's memory, from the pool.
 */
#ifndef TN_DEVICE_POOL_H
#define TN_DEVICE_POOL_H

#include "device/device.h"

/* At least `size` bytes (0 counts as 1); opens the device unless it is open.  TN_OUT_OF_MEMORY: the
 * text has requested, used and cached bytes and the limit.  Also the errors of tn_device_open. */
tn_status tn_block_take(struct tn_device *device, uint64_t size, struct tn_block *block,
			struct tn_error_info *error);
/* The same, but never memory the captured work has used: for data that exists before a replay. */
tn_status tn_block_take_apart(struct tn_device *device, uint64_t size, struct tn_block *block,
			      struct tn_error_info *error);
/* The device may still use the block, in any stream whose use was noted (use.h): its next user
 * comes after that work. */
void tn_block_give(struct tn_device *device, const struct tn_block *block);

/* The most bytes in use since the last call, or since the pool was made; begins again with those in
 * use. */
uint64_t tn_pool_restart_high(struct tn_device *device);

struct tn_pool *tn_pool_create(uint64_t limit);

#endif
