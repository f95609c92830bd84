/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Checks and calls the backend's map.  The common case, compact arrays of one shape, reaches the
 * backend's entry without allocating, hashing or reading more than is passed.
 */
#include "ops/map_call.h"

#include <string.h>

#include "array/make.h"
#include "array/shape.h"
#include "dispatch/ledger.h"
#include "dispatch/operand.h"
#include "dispatch/route.h"
#include "ops/layout.h"

/* ---- Operands --------------------------------------------------------------------------------*/

struct prepared {
	struct tn_map_args args;
	struct tn_operand inputs[TN_PROGRAM_MAX_INPUTS];
	struct tn_operand outputs[TN_PROGRAM_MAX_OUTPUTS];
};

static int uses(const struct tn_program *program, uint16_t op)
{
	for (uint32_t i = 0; i < program->n_instructions; i++) {
		if (program->instructions[i].op == op)
			return 1;
	}
	return 0;
}

static int is_line(const tn_array *a, const tn_array *first)
{
	return a->size == first->size && a->rank == first->rank &&
	       a->storage->device == first->storage->device && a->runtime == first->runtime &&
	       tn_shape_equal(a->rank, a->shape, first->rank, first->shape) &&
	       tn_array_lie_alike(a, first);
}

static int lines_overlap(const tn_array *out, const tn_array *in)
{
	return !tn_storages_are_apart(out->storage, in->storage) &&
	       (out->storage != in->storage || out->offset != in->offset ||
		out->dtype != in->dtype) &&
	       tn_array_overlap(out, in) != TN_OVERLAP_NONE;
}

static inline void line_operand(struct tn_operand *operand, const tn_array *a)
{
	operand->buffer = a->storage->block.buffer;
	operand->offset = tn_array_byte_offset(a);
	operand->dtype = a->dtype;
	operand->rank = a->size != 1;
	operand->shape[0] = a->size;
	operand->strides[0] = 1;
}

/* A separate function: few programs have streams. */
static __attribute__((noinline)) void use_arrays(const struct tn_map_run *run)
{
	for (uint32_t j = 0; j < run->program->n_outputs; j++)
		tn_array_use(run->outputs[j]);
	for (uint32_t i = 0; i < run->program->n_inputs; i++)
		tn_array_use(run->inputs[i]);
}

/* Fills the operands when all arrays have one shape, no gaps and one order of axes, and no output
 * is read-only; else 0. */
static int prepare_lines(const struct tn_map_run *run, struct prepared *p)
{
	const struct tn_program *program = run->program;
	const tn_array *first = run->outputs[0];
	for (uint32_t j = 0; j < program->n_outputs; j++) {
		if (!is_line(run->outputs[j], first) ||
		    tn_storage_is_read_only(run->outputs[j]->storage))
			return 0;
		for (uint32_t k = 0; k < j; k++) {
			if (!tn_storages_are_apart(run->outputs[k]->storage,
						   run->outputs[j]->storage))
				return 0;
		}
		line_operand(&p->outputs[j], run->outputs[j]);
	}
	for (uint32_t i = 0; i < program->n_inputs; i++) {
		if (!is_line(run->inputs[i], first))
			return 0;
		for (uint32_t j = 0; j < program->n_outputs; j++) {
			if (lines_overlap(run->outputs[j], run->inputs[i]))
				return 0;
		}
		line_operand(&p->inputs[i], run->inputs[i]);
	}
	if (uses(program, TN_OP_INDEX) || (!first->contiguous && uses(program, TN_OP_ELEMENT)))
		return 0;
	if (tn_array_home(first)->tracks_use || first->runtime->observer)
		use_arrays(run);
	return 1;
}

/* Checks: one device; outputs of one shape that share no memory, to which the inputs broadcast. */
static tn_status check_arrays(struct tn_runtime *runtime, const struct tn_map_run *run)
{
	const char *name = tn_ledger_row_of(runtime->ledger, run->operation)->operation;
	const struct tn_program *program = run->program;
	const tn_array *all[TN_PROGRAM_MAX_INPUTS + TN_PROGRAM_MAX_OUTPUTS];
	const tn_array *first = run->outputs[0];
	char found[TN_SHAPE_TEXT], expected[TN_SHAPE_TEXT];
	uint32_t n = 0;
	for (uint32_t i = 0; i < program->n_inputs; i++)
		all[n++] = run->inputs[i];
	for (uint32_t j = 0; j < program->n_outputs; j++)
		all[n++] = run->outputs[j];
	tn_status status = tn_arrays_together(runtime, name, n, all);
	for (uint32_t j = 0; j < program->n_outputs && !status; j++) {
		const tn_array *out = run->outputs[j];
		status = tn_array_writable(runtime, name, out);
		if (!status && !tn_shape_equal(out->rank, out->shape, first->rank, first->shape))
			return tn_fail(&runtime->report, TN_SHAPE, name,
				       "output %u has shape %s, output 0 %s", j,
				       tn_array_text(out, found), tn_array_text(first, expected));
		for (uint32_t k = 0; k < j && !status && !run->are_apart; k++) {
			if (tn_array_overlap(out, run->outputs[k]) != TN_OVERLAP_NONE)
				return tn_fail(&runtime->report, TN_INVALID_ARGUMENT, name,
					       "outputs %u and %u share memory", k, j);
		}
	}
	for (uint32_t i = 0; i < program->n_inputs && !status; i++) {
		const tn_array *in = run->inputs[i];
		int64_t shape[TN_MAX_RANK];
		int rank = first->rank;
		memcpy(shape, first->shape, (size_t)rank * sizeof(*shape));
		if (!tn_shape_broadcast(&rank, shape, in->rank, in->shape) ||
		    !tn_shape_equal(rank, shape, first->rank, first->shape))
			return tn_fail(&runtime->report, TN_SHAPE, name,
				       "operand %u of shape %s does not broadcast to %s", i,
				       tn_array_text(in, found), tn_array_text(first, expected));
	}
	return status;
}

/* The inputs that share memory with an output, unless both are the exact same view: a bit each. */
static uint32_t find_overlaps(const struct tn_map_run *run)
{
	uint32_t overlaps = 0;
	for (uint32_t i = 0; i < run->program->n_inputs; i++) {
		for (uint32_t j = 0; j < run->program->n_outputs; j++) {
			if (tn_array_overlap(run->outputs[j], run->inputs[i]) == TN_OVERLAP_PARTIAL)
				overlaps |= 1u << i;
		}
	}
	return overlaps;
}

/* Any arrays.  Axes are merged unless the program reads an index, and sorted unless it reads the
 * number of the element. */
static void prepare_views(const struct tn_map_run *run, struct prepared *p)
{
	const struct tn_program *program = run->program;
	const tn_array *first = run->outputs[0];
	struct tn_operand *all[TN_PROGRAM_MAX_INPUTS + TN_PROGRAM_MAX_OUTPUTS];
	uint32_t n = 0;
	for (uint32_t j = 0; j < program->n_outputs; j++) {
		tn_operand_of(&p->outputs[j], run->outputs[j]);
		all[n++] = &p->outputs[j];
	}
	for (uint32_t i = 0; i < program->n_inputs; i++) {
		tn_operand_broadcast(&p->inputs[i], run->inputs[i], first->rank, first->shape);
		all[n++] = &p->inputs[i];
	}
	if (uses(program, TN_OP_INDEX))
		return;
	if (!uses(program, TN_OP_ELEMENT))
		tn_operands_sort(all, n, 0, 0, all[0]->rank);
	tn_operands_merge(all, n, 0, all[0]->rank);
}

/* ---- The call --------------------------------------------------------------------------------*/

static tn_status take_route(struct tn_runtime *runtime, const struct tn_map_run *run,
			    struct prepared *p)
{
	struct tn_route route = {.runtime = runtime,
				 .device = tn_array_home(run->outputs[0]),
				 .operation = run->operation,
				 .slot = TN_SLOT_MAP,
				 .call = &p->args.call};
	tn_status status;
	p->args = (struct tn_map_args){.call = {.struct_size = sizeof(p->args)},
				       .program = run->program,
				       .inputs = p->inputs,
				       .outputs = p->outputs,
				       .scalars = run->scalars};
	status = tn_route_run(&route);
	if (status)
		return status;
	for (uint32_t j = 0; j < run->program->n_outputs; j++)
		tn_array_touch(run->outputs[j]);
	return TN_OK;
}

/* A separate function, so that the short path does not pay for its frame. */
static __attribute__((noinline)) tn_status map_views(struct tn_runtime *runtime,
						     const struct tn_map_run *run,
						     struct prepared *p, uint32_t *overlaps)
{
	tn_status status = check_arrays(runtime, run);
	if (status || !run->outputs[0]->size)
		return status;
	if (overlaps)
		*overlaps = find_overlaps(run);
	if (overlaps && *overlaps)
		return TN_OK;
	prepare_views(run, p);
	return take_route(runtime, run, p);
}

tn_status tn_map_call(struct tn_runtime *runtime, const struct tn_map_run *run, uint32_t *overlaps)
{
	struct prepared p;
	if (!prepare_lines(run, &p))
		return map_views(runtime, run, &p, overlaps);
	return run->outputs[0]->size ? take_route(runtime, run, &p) : TN_OK;
}
