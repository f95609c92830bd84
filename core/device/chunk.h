/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Chunks: getting them, cutting them and giving them back.
 */
#ifndef TN_DEVICE_CHUNK_H
#define TN_DEVICE_CHUNK_H

#include "device/pool_parts.h"
/* Gives back to the backend all chunks without used blocks. */
void tn_pool_trim(struct tn_device *device);
/* Gives every chunk back (not in a forked child) and frees the pool.  Takes NULL. */
void tn_pool_destroy(struct tn_device *device);

/* A piece of that class cut from the current, an empty or a new chunk; it is neither used nor in a
 * bin, and may belong to another queue. */
tn_status tn_chunk_cut(struct tn_device *device, uint32_t class, struct tn_piece **piece,
		       struct tn_error_info *error);
/* A block of at least that size, shared by successive calls of the current queue; replaces the
 * previous one. */
tn_status tn_chunk_get_scratch(struct tn_device *device, uint64_t size,
			       struct tn_error_info *error);
/* The queue is about to be destroyed and has no work left: its memory goes to the ordinary one. */
void tn_pool_inherit(struct tn_device *device, struct tn_queue *queue);
/* Gives empty chunks back, the oldest first, until at most `keep` bytes are reserved. */
void tn_chunk_release(struct tn_device *device, uint64_t keep);

#endif
