/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Element programs over arrays.
 */
#include "ops/map.h"

#include "array/make.h"
#include "dispatch/ledger.h"
#include "ops/copy.h"
#include "program/cast.h"

struct tn_scalar tn_scalar_of(tn_dtype dtype, double value)
{
	struct tn_scalar scalar = {.dtype = dtype,
				   .bits = tn_cast_bits(TN_F64, dtype, tn_bits_of_f64(value))};
	return scalar;
}

void tn_scalars_of(const struct tn_program *program, const double *values,
		   struct tn_scalar *scalars)
{
	for (uint32_t i = 0; i < program->n_scalars; i++) {
		tn_dtype dtype = tn_program_scalar_dtype(program, i);
		scalars[i] = tn_scalar_of(dtype ? dtype : TN_F32, values[i]);
	}
}

/* ---- Overlaps --------------------------------------------------------------------------------*/

/* With copies of the inputs that overlap.  A separate function, so that the short path does not pay
 * for its frame. */
static __attribute__((noinline)) tn_status
map_copies(struct tn_runtime *runtime, const struct tn_map_run *run, uint32_t overlaps)
{
	const tn_array *inputs[TN_PROGRAM_MAX_INPUTS];
	struct tn_map_run copied = *run;
	tn_status status = tn_scope_begin(runtime->context);
	if (status)
		return status;
	for (uint32_t i = 0; i < run->program->n_inputs && !status; i++) {
		inputs[i] = overlaps >> i & 1 ? tn_array_compact(runtime, run->inputs[i])
					      : run->inputs[i];
		status = inputs[i] ? TN_OK : runtime->report.status;
	}
	copied.inputs = inputs;
	if (!status)
		status = tn_map_call(runtime, &copied, NULL);
	tn_scope_end(runtime->context, NULL);
	return status;
}

tn_status tn_map_run(struct tn_runtime *runtime, const struct tn_map_run *run)
{
	uint32_t overlaps = 0;
	tn_status status = tn_map_call(runtime, run, &overlaps);
	return overlaps ? map_copies(runtime, run, overlaps) : status;
}

static tn_status map_formula(struct tn_runtime *runtime, uint32_t operation,
			     const struct tn_formula *formula, const tn_array *const *inputs,
			     tn_array *const *outputs, const double *scalars, int are_apart)
{
	const uint32_t n_inputs = tn_count_words(formula->inputs);
	tn_dtype dtypes[TN_PROGRAM_MAX_INPUTS] = {0};
	struct tn_scalar values[TN_PROGRAM_MAX_SCALARS];
	struct tn_map_run run = {.operation = operation,
				 .inputs = inputs,
				 .outputs = outputs,
				 .scalars = values,
				 .are_apart = are_apart};
	const char *name = tn_ledger_row_of(runtime->ledger, operation)->operation;
	for (uint32_t i = 0; i < n_inputs; i++)
		dtypes[i] = inputs[i]->dtype;
	tn_status status = tn_formula_program(runtime, name, formula, dtypes, &run.program);
	if (status)
		return status;
	tn_scalars_of(run.program, scalars, values);
	return tn_map_run(runtime, &run);
}

tn_status tn_formula_map(struct tn_runtime *runtime, uint32_t operation,
			 const struct tn_formula *formula, const tn_array *const *inputs,
			 tn_array *const *outputs, const double *scalars)
{
	return map_formula(runtime, operation, formula, inputs, outputs, scalars, 0);
}

tn_status tn_formula_map_apart(struct tn_runtime *runtime, uint32_t operation,
			       const struct tn_formula *formula, const tn_array *const *inputs,
			       tn_array *const *outputs, const double *scalars)
{
	return map_formula(runtime, operation, formula, inputs, outputs, scalars, 1);
}
