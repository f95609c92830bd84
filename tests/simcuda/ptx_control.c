/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Branches, calls and barriers at run time.
 */
#include "ptx_control.h"

#include <string.h>

#include "ptx_warp.h"

static unsigned first_lane(uint32_t mask)
{
	return mask ? (unsigned)__builtin_ctz(mask) : 0;
}

void ptx_part(struct ptx_warp *warp, uint32_t mask, uint32_t pc)
{
	struct ptx_split *now = ptx_current(warp);
	if (mask == now->mask) {
		now->pc = pc;
		return;
	}
	now->mask &= ~mask;
	struct ptx_split *made = &warp->splits[warp->split_count++];
	*made = *now;
	made->mask = mask;
	made->pc = pc;
}

enum ptx_next ptx_branch(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
	const uint32_t *target = step->extra;
	struct ptx_split *now = ptx_current(warp);
	now->pc = step->index + 1;
	ptx_part(warp, mask, *target);
	return PTX_JUMPED;
}

enum ptx_next ptx_branch_indexed(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
	const struct ptx_targets *targets = step->extra;
	struct ptx_split *now = ptx_current(warp);
	now->pc = step->index + 1;
	while (mask) {
		unsigned lane = first_lane(mask);
		uint32_t index = ptx_u32(warp, targets->index, lane), same = 0;
		if (index >= targets->count)
			return ptx_fail(warp, step, lane, 719, "brx.idx: %u of %u targets", index,
					targets->count);
		for (unsigned l = lane; l < PTX_LANES; l++)
			if ((mask >> l & 1) && ptx_u32(warp, targets->index, l) == index)
				same |= 1u << l;
		mask &= ~same;
		ptx_part(warp, same, targets->target[index]);
	}
	return PTX_JUMPED;
}

/* Copies between two places in the local memory of each lane. */
static void copy_local(const struct ptx_warp *warp, uint32_t mask, size_t to, size_t from,
		       size_t size)
{
	size_t local = warp->run->kernel->function->local_bytes;
	for (unsigned l = 0; l < PTX_LANES; l++)
		if (mask >> l & 1)
			memmove(warp->local + l * local + to, warp->local + l * local + from, size);
}

static int is_active(const struct ptx_split *split, const struct ptx_module *module,
		     const struct ptx_function *function)
{
	for (unsigned i = 0; i < split->depth; i++)
		if (ptx_function_of(module, split->returns[i] - 1) == function)
			return 1;
	return ptx_function_of(module, split->pc) == function;
}

static enum ptx_next enter(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask,
			   const struct ptx_function *function)
{
	const struct ptx_call *call = step->extra;
	struct ptx_split *now = ptx_current(warp);
	now->pc = step->index;
	if (now->depth == PTX_DEPTH || is_active(now, warp->run->module, function))
		return ptx_fail(warp, step, first_lane(mask), 719,
				"call of %s: recursion is not simulated", function->name);
	for (unsigned i = 0; i < call->arguments && i < function->parameter_count; i++)
		copy_local(warp, mask, function->parameters[i].offset, call->argument[i],
			   function->parameters[i].size);
	struct ptx_split saved = *now;
	now->returns[now->depth++] = step->index + 1;
	now->pc = function->entry;
	if (mask == now->mask)
		return PTX_JUMPED;
	/* The others keep their call stacks. */
	struct ptx_split *rest = &warp->splits[warp->split_count++];
	*rest = saved;
	rest->mask = saved.mask & ~mask;
	rest->pc = step->index + 1;
	now->mask = mask;
	return PTX_JUMPED;
}

static const struct ptx_function *pointed_to(const struct ptx_module *module, uint64_t address)
{
	uint64_t index = (address - PTX_FUNCTION_WINDOW) / 16;
	if ((address & PTX_WINDOW_MASK) != PTX_FUNCTION_WINDOW || address % 16 ||
	    index >= module->function_count || !module->functions[index]->body)
		return NULL;
	return module->functions[index];
}

/* Lanes that call one function proceed together; the others reach this step again. */
static enum ptx_next call_pointer(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
	const struct ptx_call *call = step->extra;
	const uint64_t *address = ptx_lane_source(warp, call->address);
	unsigned lane = first_lane(mask);
	const struct ptx_function *function = pointed_to(warp->run->module, address[lane]);
	struct ptx_split *now = ptx_current(warp);
	uint32_t same = 0;
	if (!function || function->is_entry || function->parameter_count != call->arguments ||
	    function->result_count != call->results)
		return ptx_fail(warp, step, lane, 717, "call of 0x%llx, which is no such function",
				(unsigned long long)address[lane]);
	for (unsigned l = 0; l < PTX_LANES; l++)
		if ((mask >> l & 1) && address[l] == address[lane])
			same |= 1u << l;
	if (mask != now->mask || same != mask) {
		/* Both parts evaluate the guard again. */
		uint32_t again = now->mask & ~same;
		now->pc = step->index;
		ptx_part(warp, again, step->index);
		ptx_current(warp)->mask = same;
	}
	return enter(warp, step, same, function);
}

enum ptx_next ptx_run_call(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
	const struct ptx_call *call = step->extra;
	if (!call->function)
		return call_pointer(warp, step, mask);
	return enter(warp, step, mask, call->function);
}

/* Each lane's results are where its callee stored them. */
enum ptx_next ptx_take_results(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
	const struct ptx_call *call = step->extra;
	for (unsigned l = 0; l < PTX_LANES; l++) {
		const struct ptx_function *function = warp->returned[l];
		if (!(mask >> l & 1) || !function)
			continue;
		for (unsigned i = 0; i < call->results && i < function->result_count; i++)
			copy_local(warp, 1u << l, call->result[i], function->results[i].offset,
				   function->results[i].size);
	}
	return PTX_ON;
}

enum ptx_next ptx_leave(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
	struct ptx_split *now = ptx_current(warp);
	warp->alive &= ~mask;
	now->mask &= ~mask;
	now->pc = step->index + 1;
	if (!now->mask)
		*now = warp->splits[--warp->split_count];
	return PTX_JUMPED;
}

enum ptx_next ptx_return(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
	struct ptx_split *now = ptx_current(warp);
	if (!now->depth)
		return ptx_leave(warp, step, mask);
	const struct ptx_function *function = ptx_function_of(warp->run->module, step->index);
	for (unsigned l = 0; l < PTX_LANES; l++)
		if (mask >> l & 1)
			warp->returned[l] = function;
	uint32_t back = now->returns[now->depth - 1];
	if (mask != now->mask) {
		struct ptx_split *rest = &warp->splits[warp->split_count++];
		*rest = *now;
		rest->mask = now->mask & ~mask;
		rest->pc = step->index + 1;
		now->mask = mask;
	}
	now->depth--;
	now->pc = back;
	return PTX_JUMPED;
}

enum ptx_next ptx_trap(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
	return ptx_fail(warp, step, first_lane(mask), 719, "trap");
}

enum ptx_next ptx_tick(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
	uint32_t *clock = ptx_register(warp, PTX_CLOCK * PTX_SLOT);
	uint64_t *clock64 = ptx_register(warp, PTX_CLOCK64 * PTX_SLOT);
	(void)step, (void)mask;
	for (unsigned l = 0; l < PTX_LANES; l++) {
		clock64[l] = warp->run->steps;
		clock[l] = (uint32_t)warp->run->steps;
	}
	warp->run->steps++;
	return PTX_ON;
}

/* The waiting lanes continue with the result of bar.red. */
static void release(struct ptx_block *block, unsigned id)
{
	const struct ptx_barrier *barrier = &block->barriers[id];
	const struct ptx_step *steps = block->run->module->steps;
	for (unsigned w = 0; w < block->warp_count; w++) {
		struct ptx_warp *warp = &block->warps[w];
		for (unsigned i = 0; i < warp->split_count; i++) {
			struct ptx_split *split = &warp->splits[i];
			if (split->wait != PTX_AT_BARRIER || split->barrier != id)
				continue;
			const struct ptx_sync *sync = steps[split->pc].extra;
			uint32_t value = sync->reduction == PTX_POPC ? barrier->set
					 : sync->reduction == PTX_AND
						 ? 0 - (uint32_t)!barrier->any_clear
						 : 0 - (uint32_t)(barrier->set > 0);
			uint32_t *d = ptx_register(warp, sync->d);
			for (unsigned l = 0; l < PTX_LANES && sync->reduction; l++)
				if (split->mask >> l & 1)
					d[l] = value;
			split->wait = PTX_RUNS;
			split->pc++;
		}
	}
}

/* Participants are ordered after the others' earlier accesses.  After a barrier of all threads all
 * earlier accesses are ordered. */
static void order(struct ptx_block *block, struct ptx_barrier *barrier)
{
	if (barrier->expected >= block->threads) {
		block->generation++;
		return;
	}
	for (unsigned w = 0; w < block->warp_count; w++)
		for (unsigned v = 0; v < block->warp_count && barrier->warps >> w & 1; v++) {
			uint32_t *known = &block->warps[w].known_epochs[v];
			if ((barrier->warps >> v & 1) && barrier->epochs[v] > *known)
				*known = barrier->epochs[v];
		}
}

static void arrive(struct ptx_warp *warp, struct ptx_barrier *barrier, const struct ptx_sync *sync,
		   uint32_t mask)
{
	int whole = mask == warp->members;
	barrier->arrived += sync->count && whole ? PTX_LANES : (uint32_t)__builtin_popcount(mask);
	barrier->warps |= 1u << warp->index;
	barrier->epochs[warp->index] = ++warp->epoch;
	for (unsigned l = 0; l < PTX_LANES && sync->reduction; l++) {
		if (!(mask >> l & 1))
			continue;
		int holds = ptx_u32(warp, sync->predicate, l) != 0;
		barrier->set += (uint32_t)holds;
		barrier->any_clear |= (uint32_t)!holds;
	}
}

static int same_for_all(const struct ptx_warp *warp, int32_t place, uint32_t mask)
{
	uint32_t value = ptx_u32(warp, place, first_lane(mask));
	for (unsigned l = 0; l < PTX_LANES; l++)
		if ((mask >> l & 1) && ptx_u32(warp, place, l) != value)
			return 0;
	return 1;
}

/* An aligned barrier needs the whole warp: the scheduler runs the other lanes first. */
static enum ptx_next incomplete(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
	struct ptx_split *now = ptx_current(warp);
	if (warp->alive != warp->members)
		return ptx_fail(
			warp, step, first_lane(warp->members & ~warp->alive), 719,
			"divergent barrier: the thread has left the kernel, and thread %u of "
			"its warp waits here",
			first_lane(mask));
	now->wait = PTX_AT_BARRIER;
	now->barrier = PTX_BARRIERS;
	now->pc = step->index;
	return PTX_JUMPED;
}

enum ptx_next ptx_synchronize(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
	const struct ptx_sync *sync = step->extra;
	struct ptx_split *now = ptx_current(warp);
	uint32_t id = ptx_u32(warp, sync->id, first_lane(mask));
	now->pc = step->index;
	if (mask != now->mask) {
		/* Lanes whose guard fails continue; the rest evaluate it again. */
		ptx_part(warp, now->mask & ~mask, step->index + 1);
		return PTX_JUMPED;
	}
	if (id >= PTX_BARRIERS || !same_for_all(warp, sync->id, mask))
		return ptx_fail(warp, step, first_lane(mask), 719, "there is no barrier %u", id);
	if (sync->aligned && mask != warp->members)
		return incomplete(warp, step, mask);
	struct ptx_barrier *barrier = &warp->block->barriers[id];
	uint32_t expected =
		sync->count ? ptx_u32(warp, sync->count, first_lane(mask)) : warp->block->threads;
	if (barrier->arrived && barrier->expected != expected)
		return ptx_fail(warp, step, first_lane(mask), 719,
				"barrier %u is expected to have %u threads, and %u elsewhere", id,
				expected, barrier->expected);
	barrier->expected = expected;
	arrive(warp, barrier, sync, mask);
	now->wait = PTX_AT_BARRIER;
	now->barrier = (uint8_t)id;
	if (sync->arrives) {
		now->wait = PTX_RUNS;
		now->pc++;
	}
	if (barrier->arrived >= barrier->expected) {
		order(warp->block, barrier);
		release(warp->block, id);
		memset(barrier, 0, sizeof *barrier);
	}
	return PTX_JUMPED;
}
