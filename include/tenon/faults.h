/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Faults on request: a table by which a backend lets tests provoke what devices rarely do, so that
 * it can be seen that errors are reported, to whom they belong, and that nothing is lost beside
 * them.  tenon-conform(1) uses it, and says what it could not check of a backend without it.
 *
 * Optional.  A backend that has it answers query(TN_TABLE_FAULTS); a program gets it from
 * tn_device_vendor_table.  Like every table it only grows at its end.
 *
 * A fault belongs to an open device, and ends with it or by `reset`.  It happens in the backend as
 * the real one would: work fails when it runs, not when it is given.
 */
#ifndef TENON_FAULTS_H
#define TENON_FAULTS_H

#include <tenon/backend.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TN_TABLE_FAULTS "org.tenon.faults/1"

/* What happens, and to what.  A piece of work is what one call of an entry has given to a stream: a
 * slot, a transfer, a copy from a peer, or the launch of a graph; events are not counted. */
enum {
	/* A piece of work of call.stream fails: an asynchronous error, TN_BACKEND_FAILURE, with the
	 * name of its operation.  Its outputs are undefined; the work after it is done. */
	TN_FAULT_WORK = 1,
	/* The device is lost when a piece of work of call.stream would run: neither that nor other
	 * work is done any more.  TN_DEVICE_LOST, until the device is closed. */
	TN_FAULT_LOST = 2,
	/* The same as TN_FAULT_WORK for uploads and downloads alone, which also may answer it
	 * themselves. */
	TN_FAULT_TRANSFER = 3,
	/* An allocation fails: TN_OUT_OF_MEMORY. */
	TN_FAULT_ALLOC = 4,
	/* The device has `bytes` of memory, of which none is pinned: TN_OUT_OF_MEMORY beyond. */
	TN_FAULT_LIMIT = 5,
};

struct tn_fault_args {
	struct tn_call call; /* call.stream: of the work, TN_FAULT_ALLOC and _LIMIT ignore it */
	uint32_t kind;       /* TN_FAULT_... */
	uint32_t reserved;
	uint64_t after; /* how many pieces, transfers or allocations go well first */
	uint64_t times; /* how many fail then, one after the other; 0: all */
	uint64_t bytes; /* TN_FAULT_LIMIT */
};

struct tn_faults_table {
	uint32_t struct_size;
	uint32_t reserved;

	/* Sets a fault, in the place of one of the same kind in the same stream.  What runs after
	 * this call is counted: a caller that wants to count its own work waits for the stream
	 * before.  TN_UNSUPPORTED: an unknown kind, or one that this device cannot provoke.
	 * [device] */
	tn_status (*provoke)(void *device, const struct tn_fault_args *args);

	/* Ends all faults of the device.  Errors that have happened stay until they are fetched,
	 * and a lost device stays lost.  [device] */
	tn_status (*reset)(void *device, const struct tn_sync_args *args);
};

#ifdef __cplusplus
}
#endif

#endif
