/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Memory that a call needs while it runs.
 */
#ifndef TN_DEVICE_SCRATCH_H
#define TN_DEVICE_SCRATCH_H

#include "device/device.h"

/* tn_block_take and tn_block_give (pool.h) for memory that a call needs while it runs: a large
 * block is one that stays, apart from those of arrays, which would else be cut from it and make the
 * next call ask for more. */
tn_status tn_scratch_take(struct tn_device *device, uint64_t size, struct tn_block *block,
			  struct tn_error_info *error);
void tn_scratch_give(struct tn_device *device, const struct tn_block *block);

#endif
