/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A launch: working memory for one block, the blocks one after another, the warps of a block in
 * turn until each has ended or waits.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx_reader.h"
#include "ptx_warp.h"

#define POISON 0xff /* a NaN of every float type, and -1 */

/* Where the parts of the working memory are. */
struct layout {
	size_t warps, registers, local, shared, shadow, parameters, reads, writes, scratch, total;
	size_t register_stride, local_stride;
};

static size_t reserve(size_t *total, size_t bytes)
{
	size_t at = *total;
	*total = ptx_align(at + bytes, 256);
	return at;
}

static struct layout plan(const struct ptx_kernel *kernel, unsigned warp_count, size_t shared,
			  int watches)
{
	const struct ptx_function *function = kernel->function;
	const struct ptx_module *module = function->module;
	struct layout l = {0};
	/* Slightly more than the bytes apart, so that warps do not share cache sets. */
	l.register_stride = ptx_align(function->register_bytes, 64) + 64;
	l.local_stride = ptx_align(function->local_bytes * PTX_LANES, 64);
	l.scratch = reserve(&l.total, PTX_LANES * 16);
	l.reads = reserve(&l.total, module->span_count * sizeof(struct ptx_span));
	l.writes = reserve(&l.total, module->span_count * sizeof(struct ptx_span));
	l.parameters = reserve(&l.total, function->parameter_bytes);
	l.warps = reserve(&l.total, warp_count * sizeof(struct ptx_warp));
	l.shared = reserve(&l.total, shared);
	l.registers = reserve(&l.total, warp_count * l.register_stride);
	l.local = reserve(&l.total, warp_count * l.local_stride);
	l.shadow = reserve(&l.total,
			   watches ? (shared / module->grain + 1) * sizeof(struct ptx_shadow) : 0);
	return l;
}

/* The memory of an earlier launch, if it is large enough.  Its size precedes it. */
#define FRONT 256

static unsigned char *take_memory(struct ptx_kernel *kernel, size_t total)
{
	unsigned char *spare = atomic_exchange(&kernel->spare, NULL);
	size_t size = 0;
	if (spare)
		memcpy(&size, spare, sizeof size);
	if (size >= total)
		return spare;
	free(spare);
	spare = aligned_alloc(FRONT, ptx_align(total, FRONT) + FRONT);
	if (spare) {
		memcpy(spare, &total, sizeof total);
		memset(spare + FRONT, 0, total);
	}
	return spare;
}

static void give_memory(struct ptx_kernel *kernel, unsigned char *memory)
{
	free(atomic_exchange(&kernel->spare, memory));
}

static void set_all(struct ptx_warp *warp, enum ptx_special special, uint32_t value)
{
	uint32_t *slot = (uint32_t *)(void *)(warp->registers + (size_t)special * PTX_SLOT);
	for (unsigned l = 0; l < PTX_LANES; l++)
		slot[l] = value;
}

static void set_lane(struct ptx_warp *warp, enum ptx_special special, unsigned lane, uint32_t value)
{
	((uint32_t *)(void *)(warp->registers + (size_t)special * PTX_SLOT))[lane] = value;
}

static void set_lanes(struct ptx_warp *warp)
{
	const unsigned *size = warp->run->launch->block;
	for (unsigned l = 0; l < PTX_LANES; l++) {
		unsigned thread = warp->index * PTX_LANES + l, rest = thread / size[0];
		set_lane(warp, PTX_TID_X, l, thread % size[0]);
		set_lane(warp, PTX_TID_Y, l, rest % size[1]);
		set_lane(warp, PTX_TID_Z, l, rest / size[1]);
		set_lane(warp, PTX_LANEID, l, l);
		set_lane(warp, PTX_LANEMASK_EQ, l, 1u << l);
		set_lane(warp, PTX_LANEMASK_LT, l, (1u << l) - 1);
		set_lane(warp, PTX_LANEMASK_LE, l, (2u << l) - 1);
		set_lane(warp, PTX_LANEMASK_GT, l, ~((2u << l) - 1));
		set_lane(warp, PTX_LANEMASK_GE, l, ~((1u << l) - 1));
	}
}

/* Special registers that stay the same for the whole launch. */
static void set_specials(struct ptx_warp *warp)
{
	const struct ptx_launch *launch = warp->run->launch;
	const struct ptx_block *block = warp->block;
	uint64_t *dynamic =
		(uint64_t *)(void *)(warp->registers + (size_t)PTX_DYNAMIC_PLACE * PTX_SLOT);
	memset(warp->registers, 0, PTX_FIRST_PLACE);
	for (unsigned i = 0; i < 3; i++) {
		set_all(warp, PTX_NTID_X + i, launch->block[i]);
		set_all(warp, PTX_NCTAID_X + i, launch->grid[i]);
	}
	set_all(warp, PTX_WARPID, warp->index);
	set_all(warp, PTX_NWARPID, block->warp_count);
	set_all(warp, PTX_NSMID, 1);
	set_all(warp, PTX_DYNAMIC_SIZE, (uint32_t)launch->shared);
	set_all(warp, PTX_TOTAL_SIZE, (uint32_t)block->shared_bytes);
	for (unsigned l = 0; l < PTX_LANES; l++)
		dynamic[l] = warp->run->module->shared_bytes;
	set_lanes(warp);
}

static void start_warp(struct ptx_warp *warp)
{
	const struct ptx_block *block = warp->block;
	for (unsigned i = 0; i < 3; i++)
		set_all(warp, PTX_CTAID_X + i, block->place[i]);
	warp->alive = warp->members;
	warp->epoch = 1;
	warp->spent = 0;
	memset(warp->known_epochs, 0, sizeof warp->known_epochs);
	warp->split_count = 1;
	warp->splits[0].pc = warp->run->kernel->function->entry;
	warp->splits[0].mask = warp->members;
	warp->splits[0].wait = PTX_RUNS;
	warp->splits[0].depth = 0;
}

static void start_block(struct ptx_block *block, uint64_t index)
{
	const unsigned *grid = block->run->launch->grid;
	block->place[0] = (uint32_t)(index % grid[0]);
	block->place[1] = (uint32_t)(index / grid[0] % grid[1]);
	block->place[2] = (uint32_t)(index / grid[0] / grid[1]);
	block->generation++;
	memset(block->shared, POISON, block->shared_bytes);
	memset(block->barriers, 0, sizeof block->barriers);
	for (unsigned w = 0; w < block->warp_count; w++)
		start_warp(&block->warps[w]);
}

/* A permutation of the numbers below n: multiples of a step coprime to n. */
static uint64_t permuted(uint64_t i, uint64_t n, unsigned seed)
{
	if (!seed || n < 2)
		return i;
	uint64_t step = seed == 1 ? n - 1 : (seed * 2654435761u) % n, start = seed % n;
	for (;; step++) {
		uint64_t a = step, b = n;
		while (b) {
			uint64_t rest = a % b;
			a = b;
			b = rest;
		}
		if (a == 1)
			break;
	}
	return (start + (unsigned __int128)i * step % n) % n;
}

/* A thread waits at a barrier that will never be complete. */
static int deadlock(struct ptx_block *block)
{
	for (unsigned w = 0; w < block->warp_count; w++) {
		struct ptx_warp *warp = &block->warps[w];
		if (!warp->split_count)
			continue;
		const struct ptx_split *split = &warp->splits[0];
		const struct ptx_barrier *barrier = &block->barriers[split->barrier % PTX_BARRIERS];
		ptx_fail(warp, &block->run->module->steps[split->pc],
			 (unsigned)__builtin_ctz(split->mask), 719,
			 "deadlock: %u of %u threads have come to barrier %u; the others have left "
			 "the "
			 "kernel or wait elsewhere",
			 barrier->arrived, barrier->expected, split->barrier);
		break;
	}
	return 0;
}

/* Each warp in turn, until all are done.  A round without progress is a deadlock. */
static int run_block(struct ptx_block *block, uint64_t index)
{
	unsigned seed = block->run->launch->order_seed, done = 0;
	start_block(block, index);
	while (done < block->warp_count) {
		uint64_t before = block->run->steps;
		done = 0;
		for (unsigned i = 0; i < block->warp_count; i++) {
			struct ptx_warp *warp = &block->warps[permuted(i, block->warp_count, seed)];
			enum ptx_state state = warp->split_count ? ptx_run_warp(warp) : PTX_DONE;
			if (state == PTX_BROKEN)
				return 0;
			done += state == PTX_DONE;
		}
		if (done < block->warp_count && before == block->run->steps)
			return deadlock(block);
	}
	return 1;
}

static int refuse(struct ptx_fault *fault, int code, const struct ptx_kernel *kernel,
		  const char *what)
{
	fault->code = code;
	snprintf(fault->text, sizeof fault->text, "kernel %s: %s", kernel->function->name, what);
	return code;
}

static void copy_arguments(struct ptx_run *run)
{
	const struct ptx_function *function = run->kernel->function;
	for (size_t i = 0; i < function->parameter_count; i++)
		memcpy(run->parameters + function->parameters[i].offset, run->launch->arguments[i],
		       function->parameters[i].size);
}

static void prepare(struct ptx_run *run, struct ptx_block *block, unsigned char *memory,
		    const struct layout *l)
{
	run->scratch = memory + l->scratch;
	run->reads = (struct ptx_span *)(void *)(memory + l->reads);
	run->writes = (struct ptx_span *)(void *)(memory + l->writes);
	memset(memory + l->reads, 0, l->parameters - l->reads);
	run->parameters = memory + l->parameters;
	run->parameter_bytes = run->kernel->function->parameter_bytes;
	copy_arguments(run);
	block->shared = memory + l->shared;
	block->warps = (struct ptx_warp *)(void *)(memory + l->warps);
	if (block->shadow) {
		block->shadow = (struct ptx_shadow *)(void *)(memory + l->shadow);
		memset(block->shadow, 0, l->total - l->shadow);
	}
	for (unsigned w = 0; w < block->warp_count; w++) {
		struct ptx_warp *warp = &block->warps[w];
		unsigned left = block->threads - w * PTX_LANES;
		warp->run = run;
		warp->block = block;
		warp->index = w;
		warp->members = left >= PTX_LANES ? UINT32_MAX : (1u << left) - 1;
		warp->registers = memory + l->registers + w * l->register_stride;
		warp->local = memory + l->local + w * l->local_stride;
		set_specials(warp);
	}
}

static void run_blocks(struct ptx_run *run, struct ptx_block *block)
{
	const struct ptx_launch *launch = run->launch;
	uint64_t count = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
	for (uint64_t i = 0; i < count; i++)
		if (!run_block(block, permuted(i, count, launch->order_seed)))
			return;
}

int ptx_run(const struct ptx_kernel *kernel, const struct ptx_launch *launch,
	    struct ptx_counts *counts, struct ptx_fault *fault)
{
	struct ptx_kernel *owner = (struct ptx_kernel *)kernel;
	const struct ptx_module *module = kernel->function->module;
	uint64_t threads = (uint64_t)launch->block[0] * launch->block[1] * launch->block[2];
	memset(fault, 0, sizeof *fault);
	if (threads == 0 || threads > PTX_LANES * PTX_WARPS)
		return refuse(fault, 9, kernel, "a block has 1 to 1024 threads");
	struct ptx_run run = {.kernel = kernel, .module = module, .launch = launch, .fault = fault};
	struct ptx_block block = {.run = &run,
				  .threads = (unsigned)threads,
				  .warp_count = (unsigned)(threads + PTX_LANES - 1) / PTX_LANES,
				  .shared_bytes = module->shared_bytes + launch->shared};
	int watches = !launch->no_races && block.shared_bytes > 0;
	struct layout l = plan(kernel, block.warp_count, block.shared_bytes, watches);
	unsigned char *memory = take_memory(owner, l.total);
	if (!memory)
		return refuse(fault, 2, kernel, "no memory to simulate it");
	struct ptx_shadow nobody;
	block.shadow = watches ? &nobody : NULL;
	prepare(&run, &block, memory + FRONT, &l);
	run_blocks(&run, &block);
	give_memory(owner, memory);
	counts->instructions += run.counts.instructions;
	counts->sectors += run.counts.sectors;
	counts->written += run.counts.written;
	return fault->code;
}
