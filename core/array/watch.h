/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * What watches a network run: a summary or a profile.  Modules, nodes of a tape and optimizers
 * report when they begin and end, as nested spans, and products how much they multiply.  A runtime
 * without a watch pays for one comparison each.
 */
#ifndef TN_ARRAY_WATCH_H
#define TN_ARRAY_WATCH_H

#include "array/array.h"

enum tn_watch_kind {
	TN_WATCH_FORWARD,  /* a module's forward */
	TN_WATCH_NODE,     /* one node of a backward pass */
	TN_WATCH_BACKWARD, /* a backward pass */
	TN_WATCH_STEP,     /* of an optimizer */
	TN_WATCH_SECTION,  /* of the program's own */
};

/* A span that has begun. */
struct tn_watch_frame {
	enum tn_watch_kind kind;
	uint32_t row;       /* of the module that it belongs to, from 1; 0: none */
	uint32_t outer_row; /* the watch's row outside of it */
	const char *name;
	uint64_t base;  /* bytes of the device's memory in use when it began */
	uint64_t high;  /* the most in use since then */
	int is_skipped; /* for the functions */
};

struct tn_watch;

struct tn_watch_functions {
	void (*begun)(struct tn_watch *watch, struct tn_watch_frame *frame);
	/* result: of a forward; NULL: it failed, or the span has none. */
	void (*ended)(struct tn_watch *watch, const struct tn_watch_frame *frame,
		      const tn_array *result);
	/* Multiply-adds of a product or a convolution; may be NULL. */
	void (*multiplied)(struct tn_watch *watch, int64_t n);
};

struct tn_watch {
	const struct tn_watch_functions *functions;
	struct tn_device *device; /* whose memory counts */
	int is_separate;          /* chains run each member by itself */
	uint32_t row;             /* of the innermost module that runs, from 1; 0: none */
	tn_status failed;         /* TN_OUT_OF_MEMORY: spans were lost */
	struct tn_watch_frame *frames;
	size_t n_frames, room;
	size_t n_lost;
};

void tn_watch_begin(struct tn_watch *watch, enum tn_watch_kind kind, uint32_t row,
		    const char *name);
/* Ends the innermost span. */
void tn_watch_end(struct tn_watch *watch, const tn_array *result);
void tn_watch_release(struct tn_watch *watch);

/* A product of the program's own, not a step of a composition. */
static inline void tn_watch_multiplied(const struct tn_runtime *runtime, int64_t n)
{
	struct tn_watch *watch = runtime->watch;
	if (watch && !runtime->depth && watch->functions->multiplied)
		watch->functions->multiplied(watch, n);
}

#endif
