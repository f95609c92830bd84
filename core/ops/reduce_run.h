/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Runs reductions over arrays; nothing here is recorded, and errors are left in runtime->report.
 */
#ifndef TN_OPS_REDUCE_RUN_H
#define TN_OPS_REDUCE_RUN_H

#include "array/array.h"
#include "dispatch/programs.h"

/* outputs[j] := epilogue(accumulators, epilogue_inputs)[j] over the axes of the bit set `axes`.
 * The inputs broadcast to {rank, shape}; outputs and epilogue inputs have only the kept axes; the
 * reduced ones are absent or of length 1.  No reduced axis is empty. */
struct tn_reduce_run {
	uint32_t operation;
	const struct tn_program *prologue;
	const struct tn_program *epilogue;        /* may be NULL */
	const tn_array *const *inputs;            /* prologue->n_inputs */
	const tn_array *const *epilogue_inputs;   /* epilogue->n_inputs - n_values */
	tn_array *const *outputs;                 /* epilogue ? epilogue->n_outputs : n_values */
	const struct tn_scalar *scalars;          /* prologue->n_scalars */
	const struct tn_scalar *epilogue_scalars; /* epilogue->n_scalars */
	int rank;
	const int64_t *shape;
	uint32_t axes; /* bit i: axis i is reduced */
	uint32_t n_values;
	uint32_t combiners[4];
};
tn_status tn_reduce_run(struct tn_runtime *runtime, const struct tn_reduce_run *run);

/* A reduction of the shape of inputs[0] by formulas: a value for each output of the prologue.  The
 * epilogue's first inputs are the accumulators. */
struct tn_formula_reduction {
	const struct tn_formula *prologue;
	const struct tn_formula *epilogue; /* may be NULL */
	const tn_array *const *inputs;
	const tn_array *const *epilogue_inputs;
	tn_array *const *outputs;
	const double *scalars;
	const double *epilogue_scalars;
	uint32_t axes;
	uint32_t combiners[4];
};
tn_status tn_formula_reduce(struct tn_runtime *runtime, uint32_t operation,
			    const struct tn_formula_reduction *reduction);

#endif
