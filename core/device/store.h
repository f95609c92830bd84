/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The memory of captured work.
 */
#ifndef TN_DEVICE_STORE_H
#define TN_DEVICE_STORE_H

#include "device/pool_parts.h"

/* A piece of the store for `size` bytes, marked as used, or NULL.  The pool counts it as used
 * throughout. */
struct tn_piece *tn_store_take(struct tn_store *store, uint64_t size);
/* Moves the piece to the store; 0: no host memory. */
int tn_store_adopt(struct tn_store *store, struct tn_piece *piece);
void tn_store_give(struct tn_piece *piece);

#endif
