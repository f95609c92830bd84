/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Runs one element program over arrays into a new one, and records it.
 */
#include "ops/formula.h"

#include "array/make.h"
#include "base/dtype.h"
#include "dispatch/ledger.h"
#include "ops/layout.h"
#include "ops/map.h"
#include "ops/number.h"
#include "ops/users_program.h"

tn_array *tn_formula_operation(const char *name, const struct tn_formula *formula, tn_dtype dtype,
			       const tn_array *const *inputs, const double *scalars)
{
	return tn_formula_with_derivatives(name, formula, NULL, dtype, inputs, scalars);
}

/* Runs the record's program into a new array and records it. */
static tn_array *run_recorded(struct tn_runtime *runtime, uint32_t operation,
			      struct tn_record *record, tn_dtype dtype, uint32_t n,
			      const tn_array *const *inputs)
{
	tn_array *out = tn_array_make_broadcast(runtime, record->operation, dtype, n, inputs);
	if (!out)
		return tn_end(runtime, runtime->report.status, NULL);
	tn_status status = tn_map_run(runtime, &(struct tn_map_run){.operation = operation,
								    .program = record->program,
								    .inputs = inputs,
								    .outputs = &out,
								    .scalars = record->scalars});
	if (!status && tn_is_floating(dtype))
		status = tn_record_made(runtime, record, n, inputs, out);
	return tn_end(runtime, status, out);
}

tn_array *tn_formula_with_derivatives(const char *name, const struct tn_formula *formula,
				      const char *const *derivatives, tn_dtype dtype,
				      const tn_array *const *inputs, const double *scalars)
{
	const uint32_t n = tn_count_words(formula->inputs);
	struct tn_runtime *runtime = tn_begin(n, inputs, name);
	struct tn_scalar values[TN_PROGRAM_MAX_SCALARS];
	tn_dtype dtypes[TN_PROGRAM_MAX_INPUTS];
	struct tn_record record = {.kind = TN_RECORD_MAP,
				   .operation = name,
				   .scalars = values,
				   .derivatives = derivatives,
				   .input_names = formula->inputs,
				   .scalar_names = formula->scalars};
	if (!runtime)
		return NULL;
	for (uint32_t i = 0; i < n; i++)
		dtypes[i] = inputs[i]->dtype;
	tn_status status = tn_formula_program(runtime, name, formula, dtypes, &record.program);
	if (status)
		return tn_end(runtime, status, NULL);
	tn_scalars_of(record.program, scalars, values);
	return run_recorded(runtime, tn_operation_named(runtime, name), &record, dtype, n, inputs);
}

tn_array *tn_formula_map_number(const struct tn_formula *formula, const tn_array *const *inputs,
				const tn_number *scalars)
{
	const uint32_t n = tn_count_words(formula->inputs);
	const uint32_t n_scalars = tn_count_words(formula->scalars);
	struct tn_runtime *runtime = tn_begin(n, inputs, "map");
	struct tn_scalar values[TN_PROGRAM_MAX_SCALARS];
	tn_dtype dtypes[TN_PROGRAM_MAX_INPUTS], scalar_dtypes[TN_PROGRAM_MAX_SCALARS];
	struct tn_record record = {.kind = TN_RECORD_MAP, .operation = "map", .scalars = values};
	if (!runtime)
		return NULL;
	for (uint32_t i = 0; i < n; i++)
		dtypes[i] = inputs[i]->dtype;
	for (uint32_t i = 0; i < n_scalars; i++)
		scalar_dtypes[i] = scalars[i].dtype == TN_F64 ? 0 : scalars[i].dtype;
	tn_status status = tn_formula_program_typed(runtime, "map", formula, dtypes, scalar_dtypes,
						    &record.program);
	if (status)
		return tn_end(runtime, status, NULL);
	for (uint32_t i = 0; i < n_scalars; i++) {
		const tn_dtype dtype = tn_program_scalar_dtype(record.program, i);
		values[i] = (struct tn_scalar){.dtype = dtype ? dtype : TN_F32};
		values[i].bits = tn_number_cast(scalars[i], values[i].dtype);
	}
	const tn_dtype result = tn_program_output_dtype(record.program, 0);
	return run_recorded(runtime, TN_DO_MAP, &record, tn_users_dtype(result, (int)n, inputs), n,
			    inputs);
}
