/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Scalars that change from step to step, in captured work: a learning rate, the number of a step, a
 * stream of random numbers.  Passed by value they would never change, so captured work reads them
 * from the device.
 *
 *	capture    an operation registers a source of n scalars (tn_stepped_add), receives places
 *	           for them in a block of the graph, and passes these to its program.  The host
 *	           counts as in any step, so that later work in the same capture sees the next
 *	           numbers.
 *	its end    none of the work has run, so all counts are undone.
 *	replay     the sources are called in the order of their registration: each returns the
 *	           scalars of its next step, and counts it.  One upload in stream order follows
 *	           the previous replay, which may not have run yet, and precedes this one.  When a
 *	           source, the upload or the launch fails, the counts are undone.
 *
 * The host's upload buffer has room for TN_STEPPED_ROUND replays; after that many the host waits
 * for the device.
 */
#ifndef TN_CAPTURE_STEPPED_H
#define TN_CAPTURE_STEPPED_H

#include "array/runtime.h"

enum { TN_STEPPED_ROUND = 16 };

/* A source of scalars, with a state of `size` bytes, initially zeroed, which lives as long as the
 * graph. */
struct tn_stepped_source {
	size_t size;
	/* The scalars of the next step, each in the dtype that it was registered with.  On failure
	 * the report is filled, and nothing is counted. */
	tn_status (*next)(struct tn_runtime *runtime, void *state, struct tn_scalar *scalars);
	/* Undoes the last count, by the captured step or by next.  May be NULL. */
	void (*take_back)(void *state);
	void (*release)(void *state); /* may be NULL */
};

/* For an operation on `device`.  While work is captured, registers the source and turns its n
 * scalars into scalars on the device; the caller at once fills *state, the source's state, and
 * counts the step.  Otherwise the scalars are unchanged and *state is NULL.  TN_NOT_CAPTURABLE:
 * work of another device is captured.  TN_OUT_OF_MEMORY.  Both fill runtime->report. */
tn_status tn_stepped_add(struct tn_runtime *runtime, struct tn_device *device,
			 const struct tn_stepped_source *source, uint32_t n,
			 struct tn_scalar *scalars, void **state);

/* The draws of a computation that is done again with the same random numbers: kept the first time,
 * then repeated.  They nest: a computation that is repeated may begin another one. */
struct tn_draws {
	struct tn_draws *outer; /* where draws come from while these are kept; NULL: the state */
	struct tn_scalar (*scalars)[2];
	size_t n, room;
	size_t next; /* to be repeated */
	int repeats;
};

/* Is a computation being repeated?  Then it must not count, nor update statistics. */
int tn_draws_repeat(const struct tn_runtime *runtime);

/* Draws a generator's next stream, as the i64 scalars seed and stream; or what runtime->draws
 * repeats.  TN_STATE: it has no more. */
tn_status tn_stepped_draw(struct tn_generator *generator, struct tn_device *device,
			  struct tn_scalar scalars[2]);
/* The same from the default generator. */
tn_status tn_stepped_random(struct tn_runtime *runtime, struct tn_device *device,
			    struct tn_scalar scalars[2]);

/* Ends a draw from the generator's state `before`; returns its `status`.  A failed draw is undone;
 * a capture undoes its draws at its end. */
tn_status tn_stepped_end_draw(struct tn_generator *generator, struct tn_random_state before,
			      tn_status status);
/* The same for the default generator. */
tn_status tn_stepped_drawn(struct tn_runtime *runtime, struct tn_random_state before,
			   tn_status status);

/* ---- For the graph ---------------------------------------------------------------------------*/

struct tn_stepped_entry;
struct tn_stepped_page;

/* The stepped scalars of one graph; initially zeroed. */
struct tn_stepped {
	struct tn_device *device;
	struct tn_random_state random; /* as it was before the step */
	struct tn_stepped_entry *first, *last;
	struct tn_stepped_page *pages;
	uint64_t n_replays; /* for which something was uploaded */
};

void tn_stepped_begin(struct tn_stepped *stepped, const struct tn_runtime *runtime);
/* Uploads the scalars of the next step, in stream order. */
tn_status tn_stepped_next(struct tn_stepped *stepped, struct tn_runtime *runtime);
/* Cancels the step: counts and random state return to their values before it. */
void tn_stepped_take_back(struct tn_stepped *stepped, struct tn_runtime *runtime);
/* Frees everything; the device must be idle. */
void tn_stepped_release(struct tn_stepped *stepped);

#endif
