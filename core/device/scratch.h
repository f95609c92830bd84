/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Memory that a call needs while it runs.
 */
#ifndef TN_DEVICE_SCRATCH_H
#define TN_DEVICE_SCRATCH_H

#include "device/device.h"

/* tn_block_take and tn_block_give (pool.h) for memory that a call in the current stream needs while
 * it runs.  A large block is kept for the next call in that stream, separate from the blocks of
 * arrays: if arrays were cut from it, the next call would have to allocate more. */
tn_status tn_scratch_take(struct tn_device *device, uint64_t size, struct tn_block *block,
			  struct tn_error_info *error);
void tn_scratch_give(struct tn_device *device, const struct tn_block *block);

#endif
