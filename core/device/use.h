/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Which queues use a piece of memory: noted when work is given it, so that its next user waits for
 * that work (point.h).  A device that has always had one queue, and no capture, notes nothing.
 */
#ifndef TN_DEVICE_USE_H
#define TN_DEVICE_USE_H

#include "device/device.h"

void tn_block_note_use(struct tn_device *device, const struct tn_block *block);

/* To be called before work of the device's current stream is given the block. */
static inline void tn_block_use(struct tn_device *device, const struct tn_block *block)
{
	if (device->tracks_use)
		tn_block_note_use(device, block);
}

#endif
