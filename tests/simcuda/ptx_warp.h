/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Running state: a launch, one block of it at a time, the block's warps in turn.
 *
 * The lanes of a warp at the same step with the same call stack form a split.  The split deepest in
 * calls, then at the lowest step, runs first, until it meets another; so diverged lanes reconverge
 * where their paths join.
 */
#ifndef SIMCUDA_PTX_WARP_H
#define SIMCUDA_PTX_WARP_H

#include "ptx_module.h"

#define PTX_DEPTH 24
#define PTX_BARRIERS 16
#define PTX_WARPS 32

enum ptx_wait {
	PTX_RUNS,
	PTX_AT_BARRIER,   /* of the block */
	PTX_AT_WARP_SYNC, /* for lanes that its mask names */
};

struct ptx_split {
	uint32_t pc, mask;
	uint8_t wait, depth, barrier;
	uint32_t returns[PTX_DEPTH];
};

struct ptx_run;
struct ptx_block;

struct ptx_warp {
	struct ptx_run *run;
	struct ptx_block *block;
	unsigned index;
	uint32_t members; /* lanes that exist */
	uint32_t alive;   /* and have not left the kernel */
	unsigned char *registers;
	unsigned char *local;
	struct ptx_split splits[PTX_LANES];
	unsigned split_count, current;
	uint64_t spent; /* steps since the lanes diverged */
	const struct ptx_function *returned[PTX_LANES];
	uint32_t epoch; /* incremented by everything that orders the warp's lanes */
	uint32_t known_epochs[PTX_WARPS]; /* of other warps, by barriers of some warps only */
};

struct ptx_barrier {
	uint32_t arrived; /* threads */
	uint32_t expected;
	uint32_t warps;          /* which warps took part */
	uint32_t set, any_clear; /* threads whose predicate holds; does one not hold */
	uint32_t epochs[PTX_WARPS];
};

/* The last accesses to a word of shared memory; see ptx_shared.c. */
struct ptx_shadow {
	uint64_t writer, reader, other_reader;
};

struct ptx_block {
	struct ptx_run *run;
	uint32_t place[3];
	unsigned char *shared;
	size_t shared_bytes;
	struct ptx_warp *warps;
	unsigned warp_count, threads;
	struct ptx_barrier barriers[PTX_BARRIERS];
	struct ptx_shadow *shadow; /* NULL: no race detection */
	uint32_t generation;       /* incremented by every barrier of the whole block */
};

struct ptx_span {
	uint64_t low, high;
};

struct ptx_run {
	const struct ptx_kernel *kernel;
	const struct ptx_module *module;
	const struct ptx_launch *launch;
	struct ptx_fault *fault;
	struct ptx_counts counts;
	uint64_t steps; /* all, for the clock and the limit */
	unsigned char *parameters;
	size_t parameter_bytes;
	struct ptx_span *reads, *writes; /* the allowed spans, for each access of the module */
	unsigned char *scratch;          /* a result before inactive lanes are restored */
};

/* A lane's value of a place. */
static inline const void *ptx_lane_source(const struct ptx_warp *warp, int32_t place)
{
	return place < 0 ? warp->run->module->constants - place : warp->registers + place;
}

static inline uint32_t ptx_u32(const struct ptx_warp *warp, int32_t place, unsigned lane)
{
	return ((const uint32_t *)ptx_lane_source(warp, place))[lane];
}

static inline void *ptx_register(const struct ptx_warp *warp, int32_t place)
{
	return warp->registers + place;
}

static inline struct ptx_split *ptx_current(struct ptx_warp *warp)
{
	return &warp->splits[warp->current];
}

/* Writes the fault: kernel, line, block, thread, then what happened. */
enum ptx_next ptx_fail(struct ptx_warp *warp, const struct ptx_step *step, unsigned lane, int code,
		       const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Lanes `mask` leave the current split and go to `pc`; it must hold them. */
void ptx_part(struct ptx_warp *warp, uint32_t mask, uint32_t pc);

enum ptx_state {
	PTX_DONE,
	PTX_WAITING, /* for other warps */
	PTX_YIELDED,
	PTX_BROKEN,
};
enum ptx_state ptx_run_warp(struct ptx_warp *warp);

/* ptx_shared.c: one access of one lane.  `value` is what it writes, NULL for a read.
 * 0 after a race. */
enum ptx_touch { PTX_READ, PTX_WRITE, PTX_ATOMIC };
int ptx_watch(struct ptx_warp *warp, const struct ptx_step *step, unsigned lane, uint32_t offset,
	      size_t size, enum ptx_touch touch, const void *value);

/* The spaces and addresses of the lanes. */
struct ptx_spot {
	uint64_t address[PTX_LANES];
	unsigned char *pointer[PTX_LANES];
	uint8_t space[PTX_LANES]; /* enum ptx_space */
	uint32_t shared;          /* lanes that access shared memory */
};
/* ptx_memory.c: 0 after a fault. */
int ptx_locate(struct ptx_warp *warp, const struct ptx_step *step, const struct ptx_access *access,
	       uint32_t mask, size_t bytes, int write, struct ptx_spot *spot);

/* ptx_shared.c: ptx_watch for a load that reads the same word in all lanes. */
int ptx_watch_reads(struct ptx_warp *warp, const struct ptx_step *step, const struct ptx_spot *spot,
		    size_t bytes, enum ptx_touch touch);

#endif
