/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Devices: which one is current, finding one by its name, waiting for one, and what it and its
 * backend say of themselves; its pool of memory: counts, limit, and functions that see every
 * allocation.  tenon/context.h has the list of devices, their description and the bytes in use.
 */
#ifndef TENON_DEVICE_H
#define TENON_DEVICE_H

#include <tenon/stream.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- The current device ----------------------------------------------------------------------*/

/* Makes the device current in its context until tn_device_pop, and opens it if necessary.
 * TN_OUT_OF_MEMORY, or the reason why the device does not open: then nothing is pushed, and the
 * error is kept.  TN_PENDING_ERROR: the context keeps an error already.
 * [thread: one per context | since 0.1] */
TN_API tn_status tn_device_push(tn_device *device);
/* Makes the device current again that was current before the last push.  Works while an error is
 * kept.  TN_STATE: no device is pushed (kept).  [thread: one per context | since 0.1] */
TN_API tn_status tn_device_pop(tn_context *context);

/* The device of that name: a backend's name and the index within it ("cuda:1"), or a backend's name
 * alone, which means the first of its devices in the order of the context; or a kind or an identity
 * as in a selection ("gpu", "pci:0000:65:00.0").  Borrowed, valid until close; it is not opened.
 * NULL, with the error kept: TN_FORMAT (the text has the column), TN_NOT_FOUND (the text lists the
 * devices that there are).
 * [thread: one per context | since 0.1] */
TN_API tn_device *tn_device_find(tn_context *context, const char *name);
/* 1: tn_device_find would give a device.  The question keeps no error and opens nothing; 0 also for
 * NULL.  [thread: one per context | since 0.1] */
TN_API int tn_device_available(const tn_context *context, const char *name);

/* tn_synchronize for one device: waits for all of its streams and returns their first asynchronous
 * error, which the context keeps.  Does nothing if the device is not open.  TN_PENDING_ERROR: the
 * context already keeps an error, and the call did not wait.
 * [thread: one per context | since 0.1] */
TN_API tn_status tn_device_synchronize(tn_device *device);

/* ---- What is there ---------------------------------------------------------------------------*/

/* The line of the device's report (tn_device_report_at) with that key: "driver", "capability",
 * "library.blas", "temperature"; `tenon info` and tenon-cuda(7) list them.  Opens the device if
 * necessary.  TN_NOT_FOUND: it reports nothing of that name.  Any failure to open it.  Not kept.
 * [thread: one per context | since 0.1] */
TN_API TN_CHECKED tn_status tn_device_attribute(tn_device *device, const char *key,
						struct tn_report_line *line);

/* 1: the backend of that name is loaded and has a device, which this does not open.  0: it is
 * absent; *reason, unless reason is NULL, is then why, in one line (borrowed, valid until close; ""
 * if it is there).  Never fails: without a context, or for an unknown name, the answer is
 * 0 with that reason.  tn_probe_all asks without a context.
 * [thread: one per context | since 0.1] */
TN_API int tn_backend_available(const tn_context *context, const char *name, const char **reason);

/* How the library was built and what it found, as lines of text: its version, compiler, options and
 * libraries, the processor's features, each backend with its devices or the reason why it is
 * absent, and the report of each device that is open.  Owned (tn_string_free).  NULL: out of
 * memory, not kept.  The text is for people: its form may change.
 * [thread: one per context | since 0.1] */
TN_API char *tn_show_config(const tn_context *context);

/* ---- The vendor's interface ------------------------------------------------------------------*/

/* *native := the vendor's handle of the device, or of the context that its backend uses there: what
 * tenon-cuda(7) or the backend's own page says, for CUDA the runtime's number of the device.  Opens
 * the device if necessary.  Borrowed, valid until the context is closed.  Not kept, except for
 * native NULL: TN_UNSUPPORTED (the backend has no tenon.native/1); any failure to open the device.
 * [thread: one per context | since 0.1] */
TN_API TN_CHECKED tn_status tn_device_native(tn_device *device, uint64_t *native);

/* A table of the vendor's own: what the backend does beyond this library's interface, under a name
 * in reverse DNS with the version of its form, "com.example.table/1".  *table is a struct that the
 * vendor's header declares, and *handle the open device, which its functions take.  Both are
 * borrowed, and valid until the context is closed; the functions follow the rules of an entry that
 * is [device] (tenon/backend.h), so that they may be called wherever the context may be used.
 * Opens the device if necessary.
 *   TN_INVALID_ARGUMENT  the name has another form, or begins with "tenon."; kept, as for NULL
 *   TN_NOT_FOUND         the backend has no such table; not kept
 * or any failure to open the device.  Then nothing is written.
 * [thread: one per context | since 0.1] */
TN_API TN_CHECKED tn_status tn_device_vendor_table(tn_device *device, const char *name,
						   const void **table, void **handle);

/* ---- The pool of memory ----------------------------------------------------------------------*/

/* Bytes and counts of a device's pool.  Counts are since the device was made. */
struct tn_memory_statistics {
	uint32_t struct_size;
	uint32_t reserved;
	uint64_t used;   /* bytes handed out */
	uint64_t cached; /* bytes that the pool keeps for reuse */
	uint64_t peak;  /* the most bytes handed out at a time, since tn_device_memory_reset_peak */
	uint64_t limit; /* of used and cached bytes together; 0: none */
	uint64_t n_used;         /* blocks that are handed out */
	uint64_t n_allocations;  /* blocks handed out so far; from the cache as well */
	uint64_t n_reserved;     /* pieces that the pool has of the backend's memory */
	uint64_t n_reservations; /* how often it asked the backend for memory, with success */
};
/* struct_size is set by the caller; members that are newer than it are not written.
 * TN_INVALID_ARGUMENT: NULL, or no struct_size.  Not kept.
 * [thread: one per context | since 0.1] */
TN_API TN_CHECKED tn_status
tn_device_get_memory_statistics(const tn_device *device, struct tn_memory_statistics *statistics);
/* The peak begins again with what is in use.  Takes NULL.
 * [thread: one per context | since 0.1] */
TN_API void tn_device_memory_reset_peak(tn_device *device);

/* The most bytes that the pool takes from the backend from now on; 0: no limit.  Replaces
 * TENON_MEMORY_LIMIT and the context's option.  Free memory beyond the limit is given back at once;
 * what is in use stays, and counts.  Works while an error is kept.  Does nothing with NULL.
 * [thread: one per context | since 0.1] */
TN_API void tn_device_set_memory_limit(tn_device *device, uint64_t bytes);
/* The same in per cent of the device's memory (struct tn_device_description), above 0 and at most
 * 100.  TN_INVALID_ARGUMENT: another number.  TN_UNSUPPORTED: the backend of the open device does
 * not tell how much memory it has.  Of a device that is not open yet the limit is set when it is,
 * with a warning if the memory is not known then.  Not kept; the limit is then as before.
 * [thread: one per context | since 0.1] */
TN_API TN_CHECKED tn_status tn_device_set_memory_limit_percent(tn_device *device, double percent);

/* Gives free memory of the pool back to the backend until the pool has at most keep_bytes, or no
 * free piece of its own; on a device that is not synchronous it waits for the device first.  Does
 * nothing during a capture, or with NULL.  [thread: one per context | since 0.1] */
TN_API void tn_device_memory_trim(tn_device *device, uint64_t keep_bytes);

/* The most bytes of workspace that an operation is offered beyond what it cannot do without; 64 MiB
 * unless set.  A larger one lets products and convolutions use faster algorithms, a smaller one
 * saves memory.  NULL: 0, and nothing is set.  [thread: one per context | since 0.1] */
TN_API uint64_t tn_device_workspace_limit(const tn_device *device);
TN_API void tn_device_set_workspace_limit(tn_device *device, uint64_t bytes);

/* ---- Hooks -----------------------------------------------------------------------------------*/

enum {
	TN_MEMORY_ALLOCATE = 0, /* a block is handed out: an array's, or workspace */
	TN_MEMORY_FREE = 1,     /* it is back in the pool */
	TN_MEMORY_RESERVE = 2,  /* the pool got memory from the backend */
	TN_MEMORY_RELEASE = 3,  /* and gave it back */
};
struct tn_memory_event {
	uint32_t struct_size;
	uint32_t kind; /* TN_MEMORY_... */
	tn_device *device;
	tn_stream *stream; /* the current one of the device; NULL: the ordinary one */
	uint64_t bytes;    /* with what the pool rounds up */
	uint64_t id;       /* of the block or memory, the same in its two events */
	uint64_t used;     /* bytes handed out, after it */
	const char *tag;   /* the one set when the block was handed out; NULL: none */
};
/* Sees every event of every device of the context, in the context's thread.  It must not call
 * functions that take an object of the context. */
typedef void (*tn_memory_hook)(void *user, const struct tn_memory_event *event);

/* Calls the hook from now on; it replaces the one before, NULL removes it.  Without a hook nothing
 * is called, and blocks have no tag.  Does nothing with a NULL context.
 * [thread: one per context | since 0.1] */
TN_API void tn_memory_set_hook(tn_context *context, tn_memory_hook hook, void *user);
/* What events of blocks handed out from now on have as their tag, such as "loss"; NULL: none.  The
 * string stays valid while a hook is set.  Returns the tag before, to be set again.  NULL without a
 * context.  [thread: one per context | since 0.1] */
TN_API const char *tn_memory_set_tag(tn_context *context, const char *tag);

#ifdef __cplusplus
}
#endif
#endif
