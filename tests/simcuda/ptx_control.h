/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Control flow: branches, calls, barriers.
 */
#ifndef SIMCUDA_PTX_CONTROL_H
#define SIMCUDA_PTX_CONTROL_H

#include "ptx_reader.h"

/* brx.idx, whose labels may come later. */
struct ptx_targets {
	int32_t index;
	uint32_t count;
	uint32_t list; /* which .branchtargets of the function */
	uint32_t *target;
};

/* The copies of a call: from the caller's parameters to the callee's, and results back. */
struct ptx_call {
	const struct ptx_function *function; /* NULL: the address is in a register */
	int32_t address;
	unsigned arguments, results;
	uint32_t argument[PTX_VECTOR * 2],
		result[PTX_VECTOR]; /* offsets in the caller's local memory */
};

enum ptx_reduction { PTX_NO_REDUCTION, PTX_POPC, PTX_AND, PTX_OR };

struct ptx_sync {
	int32_t id, count; /* places; count 0: all threads */
	uint8_t aligned, arrives;
	uint8_t reduction;
	int32_t predicate, d; /* of bar.red */
};

int ptx_read_targets(struct ptx_reader *reader, struct ptx_label *label);

enum ptx_next ptx_branch(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask);
enum ptx_next ptx_branch_indexed(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask);
enum ptx_next ptx_run_call(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask);
enum ptx_next ptx_take_results(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask);
enum ptx_next ptx_return(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask);
enum ptx_next ptx_leave(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask);
enum ptx_next ptx_trap(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask);
enum ptx_next ptx_tick(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask);
enum ptx_next ptx_synchronize(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask);

#endif
