/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * An open device: one context's share in one device of one backend, its pool of memory and its
 * transfers.  The pool caches freed blocks, sub-allocates small ones, uses huge pages for host
 * memory, releases its cache and retries when the device runs out, and reuses a block only in the
 * order of the stream that used it.
 */
#ifndef TN_DEVICE_DEVICE_H
#define TN_DEVICE_DEVICE_H

#include <pthread.h>

#include <tenon/context.h>

#include "base/error.h"
#include "base/log.h"
#include "base/quarantine.h"
#include "loader/backend.h"

#define TN_DEVICE_ENDED "the context of the device has been closed"

struct tn_deferred_release;
struct tn_opened;
struct tn_pool;
struct tn_piece;
struct tn_store;
struct tn_queue;
struct tn_stream;
struct tn_event;
struct tn_check;
struct tn_watchers;

/* A piece of device memory, aligned to 256 bytes.  `address` is the host's view of it, NULL where
 * the host cannot read it. */
struct tn_block {
	uint64_t buffer;
	uint64_t offset;
	uint64_t size; /* as requested */
	void *address;
	struct tn_piece *piece; /* for the pool alone */
};

/* The checks of values in the device's memory (checks.h). */
enum { TN_MOST_CHECKS = 64 };
struct tn_check_record {
	struct tn_check_record *next;
	struct tn_block block;
	const void *owner; /* the queue or store whose work alone writes it; NULL: it is gone */
	int is_clear;
	uint64_t have_run;                 /* bit q: checks in queue q, since it was last read */
	const struct tn_queue *latest;     /* in which a check ran last */
	const struct tn_queue *cleared_in; /* NULL: it was cleared by work that is done */
};
struct tn_checks {
	struct tn_check_record *records;
	uint32_t n;
	const struct tn_check *all[TN_MOST_CHECKS]; /* number i + 1 is all[i] */
};

struct tn_device {
	tn_context *context; /* the backend that owns the device */
	const struct tn_backend *backend;
	uint32_t index;                           /* within the backend */
	char name[48];                            /* "cpu:0" */
	struct tn_device_description description; /* before it is open: what is known by then */
	void *handle;                             /* NULL until opened */
	int host_memory;
	int synchronous; /* work is done when an entry returns */
	/* Of slot s: it has needed workspace, so a dry run precedes its calls. */
	unsigned char asks[TN_SLOT_COUNT];
	uint64_t fork_generation;
	tn_status lost; /* TN_OK, or TN_DEVICE_LOST permanently */
	struct tn_pool *pool;
	struct tn_store *store; /* the memory of the current capture; NULL: none */
	/* Memory to be released: at the end of the capture (deferred_release.h), and what others
	 * have given back (returned.h). */
	struct tn_deferred_release *postponed, *_Atomic returned;
	/* The current stream, as calls get it, and its queue (queue.h). */
	void *stream;
	struct tn_queue *queue;
	int tracks_use;     /* there have been several queues or a capture: uses are noted */
	uint64_t replayers; /* bit q: graphs are launched in queue q */
	/* The program's streams and events, and the stack of pushed streams (stream.h). */
	struct tn_stream *streams;
	struct tn_event *events;
	struct tn_stream **pushed;
	size_t n_pushed, room_for_pushed;
	const struct tn_logger *logger;
	/* An asynchronous error that appeared where it could not be reported, while the pool waited
	 * for the device; the next sync or transfer reports it.  Status TN_OK: none. */
	struct tn_error_info deferred;
	struct tn_checks checks;
	double memory_percent;    /* the pool's limit, of its memory; 0: not given so */
	uint64_t workspace_limit; /* offered beyond an entry's minimum */
	/* Who sees what happens to memory (memory_events.h); NULL: nobody. */
	const struct tn_watchers *watchers;
	uint64_t native; /* on which the backend opens it; 0: on its own */
	struct tn_opened *opened;
	pthread_mutex_t *turn; /* of calls (turn.h); NULL: they may be at once */
	int has_ended;         /* its context is closed, in which handles are checked */
};

/* TN_STATE, which is logged: the device has ended. */
static inline tn_status tn_device_check(const struct tn_device *device, const char *operation)
{
	if (!tn_quarantine_is_open || !device->has_ended)
		return TN_OK;
	return tn_quarantine_report(operation, TN_DEVICE_ENDED, NULL);
}

/* The most workspace offered beyond an entry's minimum, and the size of a tile of a composition's
 * temporary, unless a program sets another. */
#define TN_WORKSPACE_LIMIT (UINT64_C(64) << 20)

/* Does it work on any address of host memory? */
static inline int tn_device_takes_any_address(const struct tn_device *device)
{
	return device->host_memory &&
	       (device->description.flags & TN_DEVICE_TAKES_ANY_ADDRESS) != 0;
}

/* Describes device `index` without opening it.  memory_limit: the most bytes taken from the
 * backend, 0: unlimited.
 * TN_NOT_FOUND: the backend has fewer devices. */
tn_status tn_device_create(tn_context *context, const struct tn_backend *backend, uint32_t index,
			   uint64_t memory_limit, const struct tn_logger *logger,
			   struct tn_device **device, struct tn_error_info *error);
/* Frees the pool, closes the device unless other contexts use it, and frees it; in a forked child
 * without calling the backend.  Takes NULL.  All blocks must have been given back. */
void tn_device_destroy(struct tn_device *device);

#endif
