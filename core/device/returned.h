/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Memory that was lent to others, who give it back from any thread.
 */
#ifndef TN_DEVICE_RETURNED_H
#define TN_DEVICE_RETURNED_H

#include "device/deferred_release.h"

/* From any thread: the next tn_returned_collect calls later->release. */
void tn_returned_add(struct tn_device *device, struct tn_deferred_release *later);
/* Makes the calls, in the context's own thread; not during a capture, which would keep the memory.
 */
void tn_returned_collect(struct tn_device *device);

#endif
