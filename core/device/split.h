/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Pieces from larger ones.
 */
#ifndef TN_DEVICE_SPLIT_H
#define TN_DEVICE_SPLIT_H

#include "device/pool_parts.h"

/* A piece of that class from a free one that is larger; neighbours that are free are joined when
 * there is none.  Neither used nor in a bin; NULL: there is none that is worth it. */
struct tn_piece *tn_piece_split(struct tn_pool *pool, uint32_t class);

#endif
