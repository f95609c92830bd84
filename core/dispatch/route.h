/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The route of one operation.  Each step makes the actual call, or asks with it (a dry run) where
 * the workspace is to be known, and goes on to the next step when the answer is TN_UNSUPPORTED:
 *
 *   1. native     the device's own slot;
 *   2. lent       where memory is the host's, the slot of another host-memory backend, without a copy;
 *   3. composed   the core's composition, when the device can run what it is made of;
 *   4. host       the reference, with the operands copied where the host cannot read them.
 *
 * TENON_FALLBACK cuts the list: `error` after 3, `native` after 2.  The ledger counts every run.
 */
#ifndef TN_DISPATCH_ROUTE_H
#define TN_DISPATCH_ROUTE_H

#include "array/runtime.h"
#include "loader/slots.h"

/* The most workspace that is offered beyond an entry's minimum, and the size of a tile of a
 * composition's temporary. */
#define TN_WORKSPACE_CAP (UINT64_C(64) << 20)

/* What a composition is made of. */
enum { TN_NEEDS_MAP = 1, TN_NEEDS_REDUCE = 2, TN_NEEDS_MATMUL = 4 };

struct tn_route {
	struct tn_runtime *runtime;
	struct tn_device *device;
	uint32_t operation; /* enum tn_operation, or tn_operation_named */
	enum tn_slot slot;
	struct tn_call *call; /* the arguments; the route fills all but struct_size and flags */
	/* NULL: there is none.  Uses public functions; an error that they keep becomes the
	 * operation's. */
	tn_status (*compose)(void *argument);
	void *argument;
	uint32_t needs;
	tn_dtype dtype; /* in which the composition computes */
	/* TN_UNSUPPORTED when the native slot refuses, for callers who can ask for less. */
	int is_native_only;
};

/* Runs it.  On failure runtime->report is filled. */
tn_status tn_route_run(struct tn_route *route);

/* Seconds on a clock that only goes forward. */
double tn_route_clock(void);

#endif
