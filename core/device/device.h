/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * An open device: one context's handle on one device of one backend, its pool of memory and its
 * transfers.  The pool caches freed blocks, sub-allocates small ones, takes large pages where
 * memory is the host's, gives its cache back and tries again when the device runs out, and hands a
 * block out again only in the order of the stream that used it.
 */
#ifndef TN_DEVICE_DEVICE_H
#define TN_DEVICE_DEVICE_H

#include <tenon/context.h>

#include "base/error.h"
#include "base/log.h"
#include "loader/backend.h"

struct tn_pool;
struct tn_piece;
struct tn_store;

struct tn_device {
	tn_context *context; /* whose device it is */
	const struct tn_backend *backend;
	uint32_t index; /* within the backend */
	char name[48];  /* "cpu:0" */
	struct tn_device_description description;
	void *handle; /* NULL until opened */
	int host_memory;
	int synchronous; /* work is done when an entry returns */
	uint64_t asks; /* bit s: slot s has wanted workspace, and is asked how much before a call */
	uint64_t fork_generation;
	tn_status lost; /* TN_OK, or TN_DEVICE_LOST for good */
	struct tn_pool *pool;
	struct tn_store *store; /* work is captured: where its memory stays; NULL: no */
	const struct tn_logger *logger;
	/* An asynchronous error that surfaced while the pool waited for the device and could not be
	 * answered there; the next sync or transfer answers it.  Status TN_OK: none. */
	struct tn_error_info deferred;
};

/* A piece of device memory, aligned to 256 bytes.  `address` is the host's view of it, NULL where
 * the host cannot read it. */
struct tn_block {
	uint64_t buffer;
	uint64_t offset;
	uint64_t size; /* as it was asked for */
	void *address;
	struct tn_piece *piece; /* the pool's own */
};

/* Describes device `index` without opening it.  memory_limit: bytes taken from the backend, 0 none.
 * TN_NOT_FOUND: the backend has fewer devices. */
tn_status tn_device_create(tn_context *context, const struct tn_backend *backend, uint32_t index,
			   uint64_t memory_limit, const struct tn_logger *logger,
			   struct tn_device **device, struct tn_error_info *error);
/* Opens it, when it is not open.  TN_FORKED, TN_DEVICE_LOST, or the backend's status. */
tn_status tn_device_open(struct tn_device *device, struct tn_error_info *error);
/* Frees the pool, closes and frees; in a forked child it leaves the backend alone.  Takes NULL.
 * All blocks must have been given back. */
void tn_device_destroy(struct tn_device *device);

/* May calls be made?  TN_OK, TN_FORKED or TN_DEVICE_LOST; costs two loads. */
tn_status tn_device_ready(const struct tn_device *device, struct tn_error_info *error);
/* Looks at a status that the backend gave: completes the message with the device's name, remembers
 * a lost device.  Returns the status. */
tn_status tn_device_answer(struct tn_device *device, tn_status status, struct tn_error_info *error);

/* At least `size` bytes (0 counts as 1); opens the device when it is not open.  TN_OUT_OF_MEMORY:
 * the text has requested, used and cached bytes and the limit.  What tn_device_open answers. */
tn_status tn_block_take(struct tn_device *device, uint64_t size, struct tn_block *block,
			struct tn_error_info *error);
/* The same, but never what captured work has used and given back:
 * for what is there before that work is done. */
tn_status tn_block_take_apart(struct tn_device *device, uint64_t size, struct tn_block *block,
			      struct tn_error_info *error);
/* The device may still be working on it: who takes it next does so in the same stream. */
void tn_block_give(struct tn_device *device, const struct tn_block *block);
/* The same for memory that a call needs while it runs: a large block is one that stays, apart from
 * those of arrays, which would else be cut from it and make the next call ask for more. */
tn_status tn_scratch_take(struct tn_device *device, uint64_t size, struct tn_block *block,
			  struct tn_error_info *error);
void tn_scratch_give(struct tn_device *device, const struct tn_block *block);
/* Gives all cached memory that is not mixed with used blocks back to the backend. */
void tn_pool_trim(struct tn_device *device);

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

/* Work on the device is written down from here on.  Memory that is taken or given back meanwhile
 * belongs to the store, for it is used whenever the work is done again; what would wait for the
 * device is
 * TN_NOT_CAPTURABLE.  The backend's answer; TN_STATE: work is captured already. */
tn_status tn_device_capture_begin(struct tn_device *device, struct tn_error_info *error);
/* Was the block taken while the work that is captured now was? */
int tn_device_captures(const struct tn_device *device, const struct tn_block *block);
/* Ends it; *store is owned in any case, *graph only on success. */
tn_status tn_device_capture_end(struct tn_device *device, void **graph, struct tn_store **store,
				struct tn_error_info *error);
tn_status tn_device_graph_launch(struct tn_device *device, void *graph,
				 struct tn_error_info *error);
/* Waits for the device, then gives back the graph (NULL: none) and the memory of the store. */
void tn_device_graph_release(struct tn_device *device, void *graph, struct tn_store *store);

#endif
