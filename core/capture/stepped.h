/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Scalars that change from step to step, in captured work: a learning rate, the number of a step, a
 * stream of random numbers.  By value they would stay as they were; so captured work reads them
 * from the device.
 *
 *	capture    an operation registers a source of n scalars (tn_stepped_add); it gets places for them in
 *	           a block of the graph, and passes those to its program.  The host goes on counting as
 *	           it does in any step, so that what follows in the same capture sees the next numbers.
 *	its end    nothing of the work has been done, so all that was counted is taken back.
 *	replay     the sources are asked in the order in which they were registered: each gives the
 *	           scalars of its next step, and counts it.  They are uploaded in one piece, in the order
 *	           of the stream: behind the replay before, which may not have run, and before this one.
 *	           When a source, the upload or the launch fails, the counts are taken back.
 *
 * What the host uploads from has room for TN_STEPPED_ROUND replays;
 * after so many the device is waited for.
 */
#ifndef TN_CAPTURE_STEPPED_H
#define TN_CAPTURE_STEPPED_H

#include "array/runtime.h"

enum { TN_STEPPED_ROUND = 16 };

/* A source of scalars.  It works on a state of `size` bytes, zeroed at first, which lives as long
 * as the graph. */
struct tn_stepped_source {
	size_t size;
	/* The scalars of the next step, each in the dtype that it was registered with.  On failure
	 * the report is filled, and nothing is counted. */
	tn_status (*next)(struct tn_runtime *runtime, void *state, struct tn_scalar *scalars);
	/* Takes back what was counted last, by the step that was captured or by next.
	 * May be NULL. */
	void (*take_back)(void *state);
	void (*release)(void *state); /* may be NULL */
};

/* For an operation on `device`: while work is captured, registers the source and makes its n
 * scalars such as lie on the device; *state is the source's, to be filled by the caller, who also
 * counts the step, at once.  Otherwise the scalars stay as they are, and *state is NULL.
 * TN_NOT_CAPTURABLE: work of another device is captured.  TN_OUT_OF_MEMORY.  Both fill
 * runtime->report. */
tn_status tn_stepped_add(struct tn_runtime *runtime, struct tn_device *device,
			 const struct tn_stepped_source *source, uint32_t n,
			 struct tn_scalar *scalars, void **state);

/* Draws the next stream of the random state, as the i64 scalars seed and stream. */
tn_status tn_stepped_random(struct tn_runtime *runtime, struct tn_device *device,
			    struct tn_scalar scalars[2]);

/* What drew from the state `before` ended with `status`, which is returned.  Where it failed
 * nothing was drawn; a capture takes back at its end what it drew. */
tn_status tn_stepped_drawn(struct tn_runtime *runtime, struct tn_random_state before,
			   tn_status status);

/* ---- For the graph ---------------------------------------------------------------------------*/

struct tn_stepped_entry;
struct tn_stepped_page;

/* What one graph has; zeroed at first. */
struct tn_stepped {
	struct tn_device *device;
	struct tn_random_state random; /* as it was before the step */
	struct tn_stepped_entry *first, *last;
	struct tn_stepped_page *pages;
	uint64_t n_replays; /* for which something was uploaded */
};

void tn_stepped_begin(struct tn_stepped *stepped, const struct tn_runtime *runtime);
/* The scalars of the next step, on their way to the device. */
tn_status tn_stepped_next(struct tn_stepped *stepped, struct tn_runtime *runtime);
/* The step is not done: counts and random state are what they were before it. */
void tn_stepped_take_back(struct tn_stepped *stepped, struct tn_runtime *runtime);
/* The device is idle. */
void tn_stepped_release(struct tn_stepped *stepped);

#endif
