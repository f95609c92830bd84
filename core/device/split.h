/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Splitting and joining free pieces.
 */
#ifndef TN_DEVICE_SPLIT_H
#define TN_DEVICE_SPLIT_H

#include "device/pool_parts.h"

/* A piece of that class, split from a larger free one of the current queue; when there is none,
 * free neighbours are joined first.  Neither used nor in a bin; NULL: no free piece is suitable. */
struct tn_piece *tn_piece_split(struct tn_device *device, uint32_t class);

#endif
