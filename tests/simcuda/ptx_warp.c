/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * One warp: which split runs, and its steps one after another.
 */
#include "ptx_warp.h"

#include <fenv.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ptx_exchange.h"
#include "ptx_small.h"

#define SLICE 4096              /* steps before another split of the warp gets a turn */
#define WARP_SLICE 1000000      /* and another warp */
#define MOST_STEPS (1ull << 31) /* of a launch, before a timeout */

/* Copies one line of the text, without surrounding blanks. */
static void quote(const struct ptx_module *module, uint32_t line, char *out, size_t capacity)
{
	const char *at = module->text;
	for (uint32_t i = 1; i < line && at; i++)
		at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL;
	size_t length = 0;
	while (at && (*at == ' ' || *at == '\t'))
		at++;
	while (at && at[length] && at[length] != '\n' && length + 1 < capacity) {
		out[length] = at[length] == '\t' ? ' ' : at[length];
		length++;
	}
	out[length] = '\0';
}

enum ptx_next ptx_fail(struct ptx_warp *warp, const struct ptx_step *step, unsigned lane, int code,
		       const char *format, ...)
{
	const struct ptx_run *run = warp->run;
	const struct ptx_launch *launch = run->launch;
	const uint32_t *block = warp->block->place;
	unsigned thread = warp->index * PTX_LANES + lane;
	unsigned x = thread % launch->block[0], rest = thread / launch->block[0];
	char line[96], what[256];
	va_list list;
	va_start(list, format);
	vsnprintf(what, sizeof what, format, list);
	va_end(list);
	quote(run->module, step->line, line, sizeof line);
	run->fault->code = code;
	snprintf(run->fault->text, sizeof run->fault->text,
		 "kernel %s, line %u (%s), block (%u,%u,%u), thread (%u,%u,%u): %s",
		 run->kernel->function->name, step->line, line, block[0], block[1], block[2], x,
		 rest % launch->block[1], rest / launch->block[1], what);
	return PTX_FAILED;
}

static int joinable(const struct ptx_split *a, const struct ptx_split *b)
{
	return a->depth == b->depth &&
	       memcmp(a->returns, b->returns, a->depth * sizeof *a->returns) == 0;
}

/* Merges splits at the same step, which is then evaluated again. */
static void merge(struct ptx_warp *warp)
{
	for (unsigned i = 0; i + 1 < warp->split_count; i++)
		for (unsigned j = i + 1; j < warp->split_count;) {
			struct ptx_split *a = &warp->splits[i], *b = &warp->splits[j];
			int arrived = (a->wait == PTX_AT_BARRIER && a->barrier < 16) ||
				      (b->wait == PTX_AT_BARRIER && b->barrier < 16);
			if (a->pc != b->pc || arrived || !joinable(a, b)) {
				j++;
				continue;
			}
			a->mask |= b->mask;
			a->wait = PTX_RUNS;
			*b = warp->splits[--warp->split_count];
		}
}

/* The split to run; warp->split_count if none can. */
static unsigned pick(struct ptx_warp *warp)
{
	/* Every other slice is for a split other than the first. */
	uint64_t slices = warp->spent / SLICE;
	unsigned turn = slices % 2 ? (unsigned)(slices / 2) + 1 : 0;
	unsigned best = warp->split_count, runnable = 0;
	for (unsigned i = 0; i < warp->split_count; i++) {
		const struct ptx_split *split = &warp->splits[i];
		if (split->wait != PTX_RUNS)
			continue;
		runnable++;
		if (best == warp->split_count || split->depth > warp->splits[best].depth ||
		    (split->depth == warp->splits[best].depth && split->pc < warp->splits[best].pc))
			best = i;
	}
	if (!turn || runnable < 2)
		return best;
	/* A split that spins at a low step must not starve the one it waits for. */
	for (unsigned i = 1; i <= warp->split_count; i++) {
		unsigned other = (best + turn + i) % warp->split_count;
		if (other != best && warp->splits[other].wait == PTX_RUNS)
			return other;
	}
	return best;
}

/* The nearest step after the split's own that another split is at. */
static uint32_t limit_of(const struct ptx_warp *warp, unsigned current)
{
	const struct ptx_split *now = &warp->splits[current];
	uint32_t limit = UINT32_MAX;
	for (unsigned i = 0; i < warp->split_count; i++) {
		const struct ptx_split *other = &warp->splits[i];
		if (i != current && other->depth == now->depth && other->pc > now->pc &&
		    other->pc < limit)
			limit = other->pc;
	}
	return limit;
}

static uint32_t guard_lanes(const struct ptx_warp *warp, const struct ptx_step *step)
{
	static const uint32_t bit[PTX_LANES] = {
		1u << 0,  1u << 1,  1u << 2,  1u << 3,  1u << 4,  1u << 5,  1u << 6,  1u << 7,
		1u << 8,  1u << 9,  1u << 10, 1u << 11, 1u << 12, 1u << 13, 1u << 14, 1u << 15,
		1u << 16, 1u << 17, 1u << 18, 1u << 19, 1u << 20, 1u << 21, 1u << 22, 1u << 23,
		1u << 24, 1u << 25, 1u << 26, 1u << 27, 1u << 28, 1u << 29, 1u << 30, 1u << 31};
	const uint32_t *predicate = ptx_lane_source(warp, step->guard);
	uint32_t lanes = 0;
	for (unsigned l = 0; l < PTX_LANES; l++)
		lanes |= predicate[l] & bit[l];
	return step->guard_not ? ~lanes : lanes;
}

static void blend(unsigned char *to, const unsigned char *from, size_t size, uint32_t mask)
{
	for (size_t l = 0; l < PTX_LANES; l++)
		if (mask >> l & 1)
			memcpy(to + l * size, from + l * size, size);
}

static void run_rounded(const struct ptx_step *step, void *d, const void *const s[4])
{
	static const int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
	int saved = fegetround();
	fesetround(modes[step->direction & 3]);
	step->lanes(d, s);
	fesetround(saved);
}

static inline void run_lanes(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
	const void *s[4];
	for (unsigned i = 0; i < 4; i++)
		s[i] = ptx_lane_source(warp, step->s[i]);
	unsigned char *to = warp->registers + step->d;
	/* Lanes that have exited may be overwritten. */
	unsigned char *d = mask == warp->alive ? to : warp->run->scratch;
	if (step->direction == PTX_NEAREST)
		step->lanes(d, s);
	else
		run_rounded(step, d, s);
	if (d != to)
		blend(to, d, step->size, mask);
}

enum reason { LEFT, FAILED };

/* Runs the current split until another one must be considered. */
static enum reason run_split(struct ptx_warp *warp, uint32_t slice)
{
	struct ptx_run *run = warp->run;
	const struct ptx_step *steps = run->module->steps;
	struct ptx_split *now = ptx_current(warp);
	uint32_t limit = limit_of(warp, warp->current), pc = now->pc, left = slice;
	uint64_t counted = 0;
	enum ptx_next next = PTX_ON;
	while (left && next == PTX_ON && pc < limit) {
		const struct ptx_step *step = &steps[pc];
		uint32_t mask = now->mask;
		left--;
		counted += step->counted;
		if (step->guard)
			mask &= guard_lanes(warp, step);
		if (!mask) {
			pc++;
		} else if (step->lanes) {
			run_lanes(warp, step, mask);
			pc++;
		} else {
			next = step->action(warp, step, mask);
			pc++;
			/* With only one split there is nothing to merge: continue at once. */
			if (next == PTX_JUMPED && warp->split_count == 1 && !warp->current &&
			    now->wait == PTX_RUNS) {
				pc = now->pc;
				next = PTX_ON;
			}
		}
	}
	if (next == PTX_ON)
		now->pc = pc;
	run->counts.instructions += counted;
	run->steps += slice - left;
	warp->spent += slice - left;
	return next == PTX_FAILED ? FAILED : LEFT;
}

/* All splits wait, but not all at one barrier of the block: a thread is missing. */
static enum ptx_state stuck(struct ptx_warp *warp)
{
	const struct ptx_split *split = &warp->splits[0];
	int arrived = 1;
	for (unsigned i = 0; i < warp->split_count; i++) {
		const struct ptx_split *each = &warp->splits[i];
		if (each->wait == PTX_AT_BARRIER && each->barrier < PTX_BARRIERS)
			continue;
		arrived = 0;
		split = each;
	}
	if (arrived)
		return PTX_WAITING;
	if (ptx_release_warp_sync(warp))
		return PTX_YIELDED;
	const struct ptx_step *steps = warp->run->module->steps;
	const char *what =
		split->wait == PTX_AT_BARRIER ? "divergent barrier" : "deadlock within a warp";
	if (warp->split_count == 1) {
		ptx_fail(warp, &steps[split->pc], (unsigned)__builtin_ctz(split->mask), 719,
			 "%s: lanes 0x%08x wait here, the others have left the kernel", what,
			 split->mask);
		return PTX_BROKEN;
	}
	const struct ptx_split *other =
		split == &warp->splits[0] ? &warp->splits[1] : &warp->splits[0];
	ptx_fail(warp, &steps[split->pc], (unsigned)__builtin_ctz(split->mask), 719,
		 "%s: lanes 0x%08x wait here, lanes 0x%08x at line %u", what, split->mask,
		 other->mask, steps[other->pc].line);
	return PTX_BROKEN;
}

enum ptx_state ptx_run_warp(struct ptx_warp *warp)
{
	uint64_t end = warp->run->steps + WARP_SLICE;
	while (warp->split_count) {
		if (warp->split_count > 1)
			merge(warp);
		else
			warp->spent = 0;
		warp->current = pick(warp);
		if (warp->current == warp->split_count) {
			enum ptx_state state = stuck(warp);
			if (state != PTX_YIELDED)
				return state;
			continue;
		}
		uint32_t slice = warp->split_count > 1 ? SLICE : WARP_SLICE;
		if (run_split(warp, slice) == FAILED)
			return PTX_BROKEN;
		if (warp->run->steps > MOST_STEPS) {
			const struct ptx_split *now = &warp->splits[0];
			ptx_fail(warp, &warp->run->module->steps[now->pc], 0, 702,
				 "the launch has not ended after %llu steps",
				 (unsigned long long)warp->run->steps);
			return PTX_BROKEN;
		}
		if (warp->run->steps >= end)
			return warp->split_count ? PTX_YIELDED : PTX_DONE;
	}
	return PTX_DONE;
}
