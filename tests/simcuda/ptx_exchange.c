/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Runs shuffles, votes, matches and reductions of a warp, whose missing lanes run first.
 */
#include "ptx_exchange.h"

#include <string.h>

#include "ptx_warp.h"

static unsigned first_lane(uint32_t mask)
{
	return mask ? (unsigned)__builtin_ctz(mask) : 0;
}

static uint32_t members_of(const struct ptx_warp *warp, const struct ptx_exchange *exchange,
			   unsigned lane, uint32_t mask)
{
	return (exchange->members ? ptx_u32(warp, exchange->members, lane) : mask) & warp->members;
}

/* Are all lanes present that the present lanes name?  -1 after a fault. */
static int complete(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
	const struct ptx_exchange *exchange = step->extra;
	for (unsigned l = 0; l < PTX_LANES; l++) {
		if (!(mask >> l & 1))
			continue;
		uint32_t named = members_of(warp, exchange, l, mask);
		if (!(named >> l & 1)) {
			ptx_fail(warp, step, l, 719,
				 "the thread is not in its own mask of lanes 0x%08x", named);
			return -1;
		}
		if (named & ~warp->alive) {
			ptx_fail(
				warp, step, l, 719,
				"the mask of lanes 0x%08x names lane %u, which has left the kernel",
				named, first_lane(named & ~warp->alive));
			return -1;
		}
		if (named & ~mask)
			return 0;
	}
	return 1;
}

struct exchanged {
	uint32_t d[PTX_LANES], p[PTX_LANES];
};

/* The lane that is read, and whether it is inside the segment. */
static unsigned source_lane(enum ptx_exchange_kind kind, unsigned lane, uint32_t b, uint32_t c,
			    int *inside)
{
	unsigned b5 = b & 31, clamp = c & 31, segment = c >> 8 & 31;
	unsigned highest = (lane & segment) | (clamp & ~segment), lowest = lane & segment;
	int from = kind == PTX_SHUFFLE_UP     ? (int)lane - (int)b5
		   : kind == PTX_SHUFFLE_DOWN ? (int)(lane + b5)
		   : kind == PTX_SHUFFLE_BFLY ? (int)(lane ^ b5)
					      : (int)(lowest | (b5 & ~segment));
	/* For .up the clamp is the lowest lane, in the others the highest. */
	*inside = kind == PTX_SHUFFLE_UP ? from >= (int)highest : from <= (int)highest;
	return *inside ? (unsigned)from & 31 : lane;
}

static int shuffle(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask,
		   struct exchanged *out)
{
	const struct ptx_exchange *exchange = step->extra;
	for (unsigned l = 0; l < PTX_LANES; l++) {
		if (!(mask >> l & 1))
			continue;
		int inside;
		unsigned from = source_lane(exchange->kind, l, ptx_u32(warp, exchange->b, l),
					    ptx_u32(warp, exchange->c, l), &inside);
		/* Lanes beyond the threads of the block are undefined; a lane at another step is an
		 * error. */
		if (warp->members >> from & 1 & ~(mask >> from)) {
			ptx_fail(warp, step, l, 719,
				 "shuffle reads lane %u, which does not take part", from);
			return 0;
		}
		out->d[l] = warp->members >> from & 1 ? ptx_u32(warp, exchange->a, from) : 0;
		out->p[l] = 0 - (uint32_t)inside;
	}
	return 1;
}

static uint32_t holding(const struct ptx_warp *warp, const struct ptx_exchange *exchange,
			uint32_t lanes)
{
	uint32_t holds = 0;
	for (unsigned l = 0; l < PTX_LANES; l++)
		if ((lanes >> l & 1) && ptx_u32(warp, exchange->a, l))
			holds |= 1u << l;
	return holds;
}

static uint32_t vote(enum ptx_exchange_kind kind, uint32_t holds, uint32_t lanes)
{
	switch (kind) {
	case PTX_VOTE_ALL:
		return 0 - (uint32_t)(holds == lanes);
	case PTX_VOTE_ANY:
		return 0 - (uint32_t)(holds != 0);
	case PTX_VOTE_UNI:
		return 0 - (uint32_t)(holds == lanes || holds == 0);
	default:
		return holds;
	}
}

static uint32_t matching(const struct ptx_warp *warp, const struct ptx_exchange *exchange,
			 unsigned lane, uint32_t lanes)
{
	const char *a = ptx_lane_source(warp, exchange->a);
	size_t size = exchange->size;
	uint32_t same = 0;
	for (unsigned l = 0; l < PTX_LANES; l++)
		if ((lanes >> l & 1) && memcmp(a + l * size, a + lane * size, size) == 0)
			same |= 1u << l;
	return same;
}

static uint32_t combine(const struct ptx_exchange *exchange, uint32_t x, uint32_t y)
{
	int less = exchange->is_signed ? (int32_t)x < (int32_t)y : x < y;
	switch (exchange->kind) {
	case PTX_REDUCE_ADD:
		return x + y;
	case PTX_REDUCE_MIN:
		return less ? x : y;
	case PTX_REDUCE_MAX:
		return less ? y : x;
	case PTX_REDUCE_AND:
		return x & y;
	case PTX_REDUCE_OR:
		return x | y;
	default:
		return x ^ y;
	}
}

static uint32_t reduce(const struct ptx_warp *warp, const struct ptx_exchange *exchange,
		       uint32_t lanes)
{
	unsigned first = first_lane(lanes);
	uint32_t value = ptx_u32(warp, exchange->a, first);
	for (unsigned l = first + 1; l < PTX_LANES; l++)
		if (lanes >> l & 1)
			value = combine(exchange, value, ptx_u32(warp, exchange->a, l));
	return value;
}

static void one_lane(const struct ptx_warp *warp, const struct ptx_exchange *exchange,
		     unsigned lane, uint32_t lanes, struct exchanged *out)
{
	enum ptx_exchange_kind kind = exchange->kind;
	if (kind >= PTX_VOTE_ALL && kind <= PTX_VOTE_BALLOT) {
		out->d[lane] = vote(kind, holding(warp, exchange, lanes), lanes);
	} else if (kind == PTX_MATCH_ANY) {
		out->d[lane] = matching(warp, exchange, lane, lanes);
	} else if (kind == PTX_MATCH_ALL) {
		out->p[lane] = 0 - (uint32_t)(matching(warp, exchange, lane, lanes) == lanes);
		out->d[lane] = out->p[lane] & lanes;
	} else if (kind == PTX_ELECT) {
		out->d[lane] = first_lane(lanes);
		out->p[lane] = 0 - (uint32_t)(lane == first_lane(lanes));
	} else {
		out->d[lane] = reduce(warp, exchange, lanes);
	}
}

static void keep(struct ptx_warp *warp, int32_t place, uint32_t mask, const uint32_t *value)
{
	uint32_t *d = ptx_register(warp, place);
	for (unsigned l = 0; l < PTX_LANES; l++)
		if (place && (mask >> l & 1))
			d[l] = value[l];
}

/* Missing lanes run first; these wait. */
static enum ptx_next wait(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
	struct ptx_split *now = ptx_current(warp);
	now->pc = step->index;
	if (mask != now->mask)
		ptx_part(warp, now->mask & ~mask, step->index + 1);
	else
		now->wait = PTX_AT_WARP_SYNC;
	return PTX_JUMPED;
}

enum ptx_next ptx_run_exchange(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
	const struct ptx_exchange *exchange = step->extra;
	struct exchanged out = {{0}, {0}};
	int ready = complete(warp, step, mask);
	if (ready <= 0)
		return ready < 0 ? PTX_FAILED : wait(warp, step, mask);
	if (exchange->kind == PTX_WARP_SYNC) {
		warp->epoch++;
		return PTX_ON;
	}
	if (exchange->kind <= PTX_SHUFFLE_IDX) {
		if (!shuffle(warp, step, mask, &out))
			return PTX_FAILED;
	} else {
		/* Usually all lanes name the same ones, with the same result. */
		for (unsigned l = 0; l < PTX_LANES; l++)
			if (mask >> l & 1)
				one_lane(warp, exchange, l, members_of(warp, exchange, l, mask),
					 &out);
	}
	keep(warp, exchange->d, mask, out.d);
	keep(warp, exchange->p, mask, out.p);
	return PTX_ON;
}

/* The lanes that wait at some bar.warp.sync. */
static uint32_t waiting_lanes(const struct ptx_warp *warp)
{
	uint32_t lanes = 0;
	for (unsigned i = 0; i < warp->split_count; i++) {
		const struct ptx_split *split = &warp->splits[i];
		const struct ptx_step *step = &warp->run->module->steps[split->pc];
		if (split->wait == PTX_AT_WARP_SYNC &&
		    ((const struct ptx_exchange *)step->extra)->kind == PTX_WARP_SYNC)
			lanes |= split->mask;
	}
	return lanes;
}

int ptx_release_warp_sync(struct ptx_warp *warp)
{
	uint32_t lanes = waiting_lanes(warp);
	int released = 0;
	for (unsigned i = 0; i < warp->split_count; i++) {
		struct ptx_split *split = &warp->splits[i];
		const struct ptx_exchange *exchange = warp->run->module->steps[split->pc].extra;
		uint32_t named = 0;
		if (split->wait != PTX_AT_WARP_SYNC || !(split->mask & lanes))
			continue;
		for (unsigned l = 0; l < PTX_LANES; l++)
			if (split->mask >> l & 1)
				named |= members_of(warp, exchange, l, split->mask);
		if (named & ~lanes)
			continue;
		split->wait = PTX_RUNS;
		split->pc++;
		released = 1;
	}
	warp->epoch += (uint32_t)released;
	return released;
}
