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
/* Frees the pool, closes and frees; in a forked child it leaves the backend alone.  Takes NULL.
 * All blocks must have been given back. */
void tn_device_destroy(struct tn_device *device);

#endif
