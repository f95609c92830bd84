/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * An open device: one context's handle on one device of one backend, its pool of memory and its
 * transfers.  The pool caches freed blocks, sub-allocates small ones, takes large pages where memory
 * is the host's, gives its cache back and tries again when the device runs out, and hands a block
 * out again only in the order of the stream that used it.
 */
#ifndef TN_DEVICE_DEVICE_H
#define TN_DEVICE_DEVICE_H

#include <tenon/context.h>

#include "base/error.h"
#include "base/log.h"
#include "loader/backend.h"

struct tn_pool;

struct tn_device {
	tn_context *context; /* whose device it is */
	const struct tn_backend *backend;
	uint32_t index; /* within the backend */
	char name[48];  /* "cpu:0" */
	struct tn_device_description description;
	void *handle; /* NULL until opened */
	int host_memory;
	uint64_t fork_generation;
	tn_status lost; /* TN_OK, or TN_DEVICE_LOST for good */
	struct tn_pool *pool;
	const struct tn_logger *logger;
};

/* A piece of device memory, aligned to 256 bytes.  `address` is the host's view of it, NULL where the
 * host cannot read it. */
struct tn_block {
	uint64_t buffer;
	uint64_t offset;
	uint64_t size;
	void *address;
};

/* Describes device `index` without opening it.  memory_limit: bytes, 0 none. */
tn_status tn_device_create(tn_context *context, const struct tn_backend *backend, uint32_t index,
			   uint64_t memory_limit, const struct tn_logger *logger,
			   struct tn_device **device, struct tn_error_info *error);
/* Opens it, when it is not open.  TN_FORKED, TN_DEVICE_LOST, or the backend's status. */
tn_status tn_device_open(struct tn_device *device, struct tn_error_info *error);
/* Frees the pool, closes and frees.  Takes NULL.  All blocks must have been given back. */
void tn_device_destroy(struct tn_device *device);

/* May calls be made?  TN_OK, TN_FORKED or TN_DEVICE_LOST; costs two loads. */
tn_status tn_device_ready(const struct tn_device *device, struct tn_error_info *error);
/* Looks at a status that the backend gave: completes the message with the device's name, remembers a
 * lost device.  Returns the status. */
tn_status tn_device_answer(struct tn_device *device, tn_status status, struct tn_error_info *error);

/* At least `size` bytes (0 counts as 1).  TN_OUT_OF_MEMORY: the text has requested, used and cached
 * bytes and the limit. */
tn_status tn_block_take(struct tn_device *device, uint64_t size, struct tn_block *block,
			struct tn_error_info *error);
void tn_block_give(struct tn_device *device, const struct tn_block *block);
/* Gives all cached memory back to the backend. */
void tn_pool_trim(struct tn_device *device);

/* Synchronous copies at a byte offset from the block's start. */
tn_status tn_device_upload(struct tn_device *device, const struct tn_block *block, uint64_t offset,
			   const void *host, uint64_t size, struct tn_error_info *error);
tn_status tn_device_download(struct tn_device *device, const struct tn_block *block,
			     uint64_t offset, void *host, uint64_t size,
			     struct tn_error_info *error);
tn_status tn_device_sync(struct tn_device *device, struct tn_error_info *error);

#endif
