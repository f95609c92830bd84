/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Races in shared memory.  A word (as small as the smallest access of the module, at most 4 bytes)
 * records its last writer and two threads that read it since.  Two touches by different threads,
 * one of them a write, must be ordered:
 *   - by a barrier of the whole block: it starts a new generation;
 *   - by a barrier of some warps: each gets the others' epochs;
 *   - between lanes of one warp by bar.warp.sync, which starts a new epoch of the warp.  It counts
 *     for all lanes, even if its mask names some, so a race between two parts of a warp may be
 *     missed.
 * Shuffles and votes order no memory.  Atomics do not race with each other, and a store of the
 * present value is harmless.
 */
#include <string.h>

#include "ptx_warp.h"

/* A record: generation, epoch of the warp, atomic or not, thread.  0: none. */
#define THREAD_BITS 10
#define ATOMIC (1ull << THREAD_BITS)
#define EPOCH_SHIFT (THREAD_BITS + 1)
#define EPOCH_BITS 26
#define GENERATION_SHIFT (EPOCH_SHIFT + EPOCH_BITS)

/* Grains are 1, 2 or 4 bytes: a shift by 0, 1 or 2. */
static inline struct ptx_shadow *word_of(const struct ptx_warp *warp, size_t offset)
{
	return &warp->block->shadow[offset >> (warp->run->module->grain >> 1)];
}

static uint64_t record(const struct ptx_warp *warp, unsigned lane, enum ptx_touch touch)
{
	return (uint64_t)warp->block->generation << GENERATION_SHIFT |
	       (uint64_t)(warp->epoch & ((1u << EPOCH_BITS) - 1)) << EPOCH_SHIFT |
	       (touch == PTX_ATOMIC ? ATOMIC : 0) | (warp->index * PTX_LANES + lane);
}

static unsigned thread_of(uint64_t past)
{
	return past & ((1u << THREAD_BITS) - 1);
}

/* Did what `past` records surely happen before what the lane does now? */
static inline int ordered(const struct ptx_warp *warp, uint64_t past, uint64_t now)
{
	if (past >> GENERATION_SHIFT != now >> GENERATION_SHIFT)
		return 1;
	unsigned other = thread_of(past) / PTX_LANES;
	uint32_t epoch = (uint32_t)(past >> EPOCH_SHIFT) & ((1u << EPOCH_BITS) - 1);
	if (other == warp->index)
		return thread_of(past) == thread_of(now) || epoch < warp->epoch;
	return epoch < warp->known_epochs[other];
}

static int conflicts(const struct ptx_warp *warp, uint64_t past, uint64_t now)
{
	return !((past & now) & ATOMIC) && !ordered(warp, past, now);
}

static int race(struct ptx_warp *warp, const struct ptx_step *step, unsigned lane, uint32_t offset,
		const char *what, uint64_t past)
{
	const struct ptx_launch *launch = warp->run->launch;
	unsigned other = thread_of(past);
	unsigned x = other % launch->block[0], rest = other / launch->block[0];
	ptx_fail(
		warp, step, lane, 719,
		"race in shared memory: byte %u is %s thread (%u,%u,%u), with nothing between that "
		"orders them",
		offset, what, x, rest % launch->block[1], rest / launch->block[1]);
	return 0;
}

static inline void remember_reader(const struct ptx_warp *warp, struct ptx_shadow *shadow,
				   uint64_t now)
{
	if (thread_of(shadow->reader) == thread_of(now) || ordered(warp, shadow->reader, now))
		shadow->reader = now;
	else
		shadow->other_reader = now;
}

static int watch_word(struct ptx_warp *warp, const struct ptx_step *step, unsigned lane,
		      uint32_t offset, uint64_t now, enum ptx_touch touch, int same)
{
	struct ptx_shadow *shadow = word_of(warp, offset);
	if (conflicts(warp, shadow->writer, now) && !same)
		return race(warp, step, lane, offset,
			    touch == PTX_READ ? "read, but was written by"
					      : "written, but was written by",
			    shadow->writer);
	if (touch == PTX_READ) {
		remember_reader(warp, shadow, now);
		return 1;
	}
	if (conflicts(warp, shadow->reader, now) && !same)
		return race(warp, step, lane, offset, "written, but was read by", shadow->reader);
	if (conflicts(warp, shadow->other_reader, now) && !same)
		return race(warp, step, lane, offset, "written, but was read by",
			    shadow->other_reader);
	if (!same || ordered(warp, shadow->writer, now))
		shadow->writer = now;
	return 1;
}

/* From before the last barrier of the whole block: the usual case. */
static inline int is_past(uint64_t past, uint64_t now)
{
	return (past ^ now) >> GENERATION_SHIFT != 0;
}

int ptx_watch(struct ptx_warp *warp, const struct ptx_step *step, unsigned lane, uint32_t offset,
	      size_t size, enum ptx_touch touch, const void *value)
{
	if (!warp->block->shadow)
		return 1;
	uint64_t now = record(warp, lane, touch);
	size_t grain = warp->run->module->grain;
	const unsigned char *there = warp->block->shared + offset;
	for (size_t i = 0; i < size; i += grain) {
		struct ptx_shadow *shadow = word_of(warp, offset + i);
		if (touch != PTX_READ && is_past(shadow->writer, now) &&
		    is_past(shadow->reader, now) && is_past(shadow->other_reader, now)) {
			shadow->writer = now;
			continue;
		}
		int same = touch == PTX_WRITE &&
			   memcmp(there + i, (const char *)value + i, grain) == 0;
		if (!watch_word(warp, step, lane, offset + (uint32_t)i, now, touch, same))
			return 0;
	}
	return 1;
}

/* Fast path for words that only one lane accessed since the last barrier. */
static int read_lane(struct ptx_warp *warp, const struct ptx_step *step, unsigned lane,
		     uint32_t offset, size_t bytes, uint64_t now)
{
	size_t grain = warp->run->module->grain;
	for (size_t i = 0; i < bytes; i += grain) {
		struct ptx_shadow *shadow = word_of(warp, offset + i);
		if (is_past(shadow->writer, now) && is_past(shadow->reader, now))
			shadow->reader = now;
		else if (is_past(shadow->writer, now))
			remember_reader(warp, shadow, now);
		else if (!watch_word(warp, step, lane, offset + (uint32_t)i, now, PTX_READ, 0))
			return 0;
	}
	return 1;
}

int ptx_watch_reads(struct ptx_warp *warp, const struct ptx_step *step, const struct ptx_spot *spot,
		    size_t bytes, enum ptx_touch touch)
{
	uint64_t now = record(warp, 0, touch), before = UINT64_MAX;
	unsigned run = 0;
	for (uint32_t lanes = spot->shared; lanes; lanes &= lanes - 1) {
		unsigned l = (unsigned)__builtin_ctz(lanes);
		/* Of adjacent lanes that read the same word, two represent all. */
		run = spot->address[l] == before ? run + 1 : 0;
		before = spot->address[l];
		if (run > 1)
			continue;
		if (touch == PTX_READ
			    ? !read_lane(warp, step, l, (uint32_t)spot->address[l], bytes, now + l)
			    : !ptx_watch(warp, step, l, (uint32_t)spot->address[l], bytes, touch,
					 NULL))
			return 0;
	}
	return 1;
}
