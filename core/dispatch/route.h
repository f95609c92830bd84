/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The route of one operation.  Each step makes the actual call, preceded by a dry run where the
 * workspace must be known; the answer TN_UNSUPPORTED leads to the next step:
 *
 *   1. native     the device's own slot;
 *   2. lent       in host memory, the slot of another host-memory backend, without a copy;
 *   3. widened    with f16 or bf16 operands: steps 1, 2 or 4 on f32 copies of them;
 *   4. composed   the core's composition, when the device can run its steps;
 *   5. host       the reference, with the operands copied where the host cannot read them; where it
 *                 refuses too, 3 or 4 with steps that run on the host.
 *
 * TENON_FALLBACK cuts the list: `error` after 4, `native` after 2.  The ledger counts every run.
 */
#ifndef TN_DISPATCH_ROUTE_H
#define TN_DISPATCH_ROUTE_H

#include "array/runtime.h"
#include "loader/slots.h"

/* The entries that a composition calls. */
enum { TN_NEEDS_MAP = 1, TN_NEEDS_REDUCE = 2, TN_NEEDS_MATMUL = 4 };

struct tn_route {
	struct tn_runtime *runtime;
	struct tn_device *device;
	uint32_t operation; /* enum tn_operation, or tn_operation_named */
	enum tn_slot slot;
	struct tn_call *call; /* the arguments; the route fills all but struct_size and flags */
	/* NULL: no composition.  Uses public functions; an error that they keep becomes the
	 * operation's. */
	tn_status (*compose)(void *argument);
	void *argument;
	/* The offsets in `argument` of the composition's arrays (tn_array *), 0 last: a widened run
	 * replaces the narrow ones.  NULL: it cannot be composed of f32 copies. */
	const uint32_t *arrays;
	uint32_t needs;
	tn_dtype dtype; /* in which the composition computes */
	/* Return TN_UNSUPPORTED when the native slot refuses, f32 copies too, for callers with a
	 * simpler alternative. */
	int is_native_only;
};

/* Runs it.  On failure runtime->report is filled. */
tn_status tn_route_run(struct tn_route *route);

/* For what the core itself does on the host because the device cannot.  TN_UNSUPPORTED:
 * TENON_FALLBACK forbids it ("DEVICE cannot WHAT, and ..."). */
tn_status tn_route_allow_host(struct tn_runtime *runtime, uint32_t operation,
			      const struct tn_device *device, const char *what);
/* Counts it, and warns once with TENON_FALLBACK=warn. */
void tn_route_count_host(struct tn_runtime *runtime, uint32_t operation,
			 const struct tn_device *device);

/* Seconds of a monotonic clock. */
double tn_route_clock(void);

#endif
