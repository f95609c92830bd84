/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Reductions over arrays: axes are put in order, kept ones first, and merged; then the route.
 */
#include "ops/reduce_run.h"

#include <string.h>

#include "array/make.h"
#include "array/shape.h"
#include "dispatch/ledger.h"
#include "dispatch/operand.h"
#include "dispatch/route.h"
#include "ops/copy.h"
#include "ops/map.h"

enum { MOST_EPILOGUE = TN_PROGRAM_MAX_INPUTS };

struct prepared {
	struct tn_reduce_args args;
	struct tn_operand inputs[TN_PROGRAM_MAX_INPUTS];
	struct tn_operand epilogue_inputs[MOST_EPILOGUE];
	struct tn_operand outputs[TN_PROGRAM_MAX_OUTPUTS];
	uint32_t n_epilogue_inputs;
	uint32_t n_outputs;
};

static int keeps_axes(const struct tn_program *program)
{
	return program &&
	       (tn_program_has(program, TN_OP_INDEX) || tn_program_has(program, TN_OP_ELEMENT));
}

/* Kept axes in front, reduced ones behind, each in their order. */
static void order_axes(struct tn_operand *operand, uint32_t axes)
{
	struct tn_operand old = *operand;
	uint32_t to = 0;
	for (int reduced = 0; reduced < 2; reduced++) {
		for (uint32_t axis = 0; axis < old.rank; axis++) {
			if ((axes >> axis & 1) != (uint32_t)reduced)
				continue;
			operand->shape[to] = old.shape[axis];
			operand->strides[to++] = old.strides[axis];
		}
	}
}

/* An output, or an input of the epilogue, on the kept axes of the whole shape. */
static void kept_operand(struct tn_operand *operand, const tn_array *array,
			 const struct tn_reduce_run *run)
{
	int has_reduced = array->rank == run->rank;
	int from = 0;
	uint32_t to = 0;
	tn_operand_of(operand, array);
	for (int axis = 0; axis < run->rank; axis++) {
		int reduced = (int)(run->axes >> axis & 1);
		if (reduced && !has_reduced)
			continue;
		if (!reduced) {
			operand->shape[to] = run->shape[axis];
			operand->strides[to++] = array->shape[from] == 1 ? 0 : array->strides[from];
		}
		from++;
	}
	operand->rank = to;
}

/* The kept axes of all operands are merged together, then the reduced ones of the inputs. */
static void merge_operands(const struct tn_reduce_run *run, struct prepared *p)
{
	struct tn_operand *all[3 * TN_PROGRAM_MAX_INPUTS];
	uint32_t n = 0, n_inputs = run->prologue->n_inputs, n_kept = p->outputs[0].rank;
	uint32_t n_reduced = (uint32_t)run->rank - n_kept;
	int takes_index = 0;
	p->args.n_reduced = n_reduced;
	if (keeps_axes(run->prologue) || keeps_axes(run->epilogue))
		return;
	for (uint32_t i = 0; i < n_inputs; i++)
		all[n++] = &p->inputs[i];
	for (uint32_t v = 0; v < run->n_values; v++)
		takes_index |= run->combiners[v] >= TN_REDUCE_ARGMAX;
	if (!takes_index)
		tn_operands_sort(all, n, 0, n_kept, n_kept + n_reduced);
	p->args.n_reduced = tn_operands_merge(all, n, n_kept, n_kept + n_reduced);
	/* Without reduced axes, add one of length 1. */
	if (!p->args.n_reduced) {
		for (uint32_t i = 0; i < n_inputs; i++) {
			p->inputs[i].shape[p->inputs[i].rank] = 1;
			p->inputs[i].strides[p->inputs[i].rank++] = 0;
		}
		p->args.n_reduced = 1;
	}
	for (uint32_t j = 0; j < p->n_outputs; j++)
		all[n++] = &p->outputs[j];
	for (uint32_t i = 0; i < p->n_epilogue_inputs; i++)
		all[n++] = &p->epilogue_inputs[i];
	/* Inputs have more axes than the others; only the kept ones are compared. */
	tn_operands_sort(all, n, n_inputs, 0, n_kept);
	tn_operands_merge(all, n, 0, n_kept);
}

static tn_status copy_apart(struct tn_runtime *runtime, const struct tn_reduce_run *run,
			    uint32_t n_outputs, const tn_array **input, int is_epilogue)
{
	for (uint32_t j = 0; j < n_outputs; j++) {
		enum tn_overlap overlap = tn_array_overlap(run->outputs[j], *input);
		if (overlap == TN_OVERLAP_NONE || (is_epilogue && overlap == TN_OVERLAP_SAME))
			continue;
		*input = tn_array_compact(runtime, *input);
		return *input ? TN_OK : runtime->report.status;
	}
	return TN_OK;
}

static tn_status prepare_operands(struct tn_runtime *runtime, const struct tn_reduce_run *run,
				  const char *name, struct prepared *p)
{
	tn_status status = TN_OK;
	p->n_outputs = run->epilogue ? run->epilogue->n_outputs : run->n_values;
	p->n_epilogue_inputs = run->epilogue ? run->epilogue->n_inputs - run->n_values : 0;
	for (uint32_t j = 0; j < p->n_outputs && !status; j++) {
		status = tn_array_writable(runtime, name, run->outputs[j]);
		kept_operand(&p->outputs[j], run->outputs[j], run);
	}
	for (uint32_t i = 0; i < run->prologue->n_inputs && !status; i++) {
		const tn_array *input = run->inputs[i];
		status = copy_apart(runtime, run, p->n_outputs, &input, 0);
		if (status)
			break;
		tn_operand_broadcast(&p->inputs[i], input, run->rank, run->shape);
		order_axes(&p->inputs[i], run->axes);
	}
	for (uint32_t i = 0; i < p->n_epilogue_inputs && !status; i++) {
		const tn_array *input = run->epilogue_inputs[i];
		status = copy_apart(runtime, run, p->n_outputs, &input, 1);
		if (!status)
			kept_operand(&p->epilogue_inputs[i], input, run);
	}
	if (!status)
		merge_operands(run, p);
	return status;
}

tn_status tn_reduce_run(struct tn_runtime *runtime, const struct tn_reduce_run *run)
{
	const char *name = tn_ledger_row_of(runtime->ledger, run->operation)->operation;
	struct prepared p;
	struct tn_route route = {.runtime = runtime,
				 .device = tn_array_home(run->outputs[0]),
				 .operation = run->operation,
				 .slot = TN_SLOT_REDUCE,
				 .call = &p.args.call};
	tn_status status;
	if (!run->outputs[0]->size)
		return TN_OK;
	status = tn_scope_begin(runtime->context);
	if (status)
		return status;
	status = prepare_operands(runtime, run, name, &p);
	if (!status) {
		p.args = (struct tn_reduce_args){.call = {.struct_size = sizeof(p.args)},
						 .prologue = run->prologue,
						 .epilogue = run->epilogue,
						 .inputs = p.inputs,
						 .epilogue_inputs = p.epilogue_inputs,
						 .outputs = p.outputs,
						 .scalars = run->scalars,
						 .epilogue_scalars = run->epilogue_scalars,
						 .n_reduced = p.args.n_reduced,
						 .n_values = run->n_values};
		memcpy(p.args.combiners, run->combiners, sizeof(p.args.combiners));
		status = tn_route_run(&route);
	}
	for (uint32_t j = 0; !status && j < p.n_outputs; j++)
		tn_array_touch(run->outputs[j]);
	tn_scope_end(runtime->context, NULL);
	return status;
}

/* The dtype in which a value accumulates. */
static tn_dtype accumulator_dtype(const struct tn_program *prologue, uint32_t value,
				  uint32_t combiner)
{
	const tn_dtype dtype = tn_program_output_dtype(prologue, value);
	const int is_real = dtype == TN_F32 || dtype == TN_F64;
	return is_real && combiner < TN_REDUCE_ARGMAX ? dtype : TN_I64;
}

/* The programs of the reduction, for `run`. */
static tn_status find_programs(struct tn_runtime *runtime, const struct tn_formula_reduction *r,
			       const char *name, struct tn_reduce_run *run)
{
	tn_dtype dtypes[TN_PROGRAM_MAX_INPUTS] = {0};
	const uint32_t n_inputs = tn_count_words(r->prologue->inputs);
	for (uint32_t i = 0; i < n_inputs; i++)
		dtypes[i] = r->inputs[i]->dtype;
	tn_status status = tn_formula_program(runtime, name, r->prologue, dtypes, &run->prologue);
	if (status)
		return status;
	run->n_values = run->prologue->n_outputs;
	if (!r->epilogue)
		return TN_OK;
	for (uint32_t v = 0; v < run->n_values; v++)
		dtypes[v] = accumulator_dtype(run->prologue, v, r->combiners[v]);
	const uint32_t n_terms = tn_count_words(r->epilogue->inputs);
	for (uint32_t i = run->n_values; i < n_terms; i++)
		dtypes[i] = r->epilogue_inputs[i - run->n_values]->dtype;
	return tn_formula_program(runtime, name, r->epilogue, dtypes, &run->epilogue);
}

tn_status tn_formula_reduce(struct tn_runtime *runtime, uint32_t operation,
			    const struct tn_formula_reduction *r)
{
	const char *name = tn_ledger_row_of(runtime->ledger, operation)->operation;
	struct tn_scalar scalars[TN_PROGRAM_MAX_SCALARS], epilogue_scalars[TN_PROGRAM_MAX_SCALARS];
	struct tn_reduce_run run = {.operation = operation,
				    .inputs = r->inputs,
				    .epilogue_inputs = r->epilogue_inputs,
				    .outputs = r->outputs,
				    .scalars = scalars,
				    .epilogue_scalars = epilogue_scalars,
				    .rank = r->inputs[0]->rank,
				    .shape = r->inputs[0]->shape,
				    .axes = r->axes};
	memcpy(run.combiners, r->combiners, sizeof(run.combiners));
	tn_status status = find_programs(runtime, r, name, &run);
	if (status)
		return status;
	tn_scalars_of(run.prologue, r->scalars, scalars);
	if (run.epilogue)
		tn_scalars_of(run.epilogue, r->epilogue_scalars, epilogue_scalars);
	return tn_reduce_run(runtime, &run);
}
