/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Runs one element program over arrays into a new one, and records it under the operation's own
 * name.
 */
#include "ops/formula.h"

#include "array/make.h"
#include "base/dtype.h"
#include "dispatch/ledger.h"
#include "ops/layout.h"
#include "ops/map.h"

tn_array *tn_formula_array(const char *name, const struct tn_formula *formula, tn_dtype dtype,
			   const tn_array *const *inputs, const double *scalars)
{
	return tn_formula_derived_array(name, formula, NULL, dtype, inputs, scalars);
}

tn_array *tn_formula_derived_array(const char *name, const struct tn_formula *formula,
				   const char *const *derivatives, tn_dtype dtype,
				   const tn_array *const *inputs, const double *scalars)
{
	const uint32_t n = tn_count_words(formula->inputs);
	struct tn_runtime *runtime = tn_begin(n, inputs, name);
	struct tn_scalar values[TN_PROGRAM_MAX_SCALARS];
	tn_dtype dtypes[TN_PROGRAM_MAX_INPUTS];
	struct tn_map_run run = {.inputs = inputs, .scalars = values};
	tn_array *out = NULL;
	if (!runtime)
		return NULL;
	for (uint32_t i = 0; i < n; i++)
		dtypes[i] = inputs[i]->dtype;
	tn_status status = tn_formula_program(runtime, name, formula, dtypes, &run.program);
	if (!status) {
		out = tn_array_make_broadcast(runtime, name, dtype, n, inputs);
		status = out ? TN_OK : runtime->report.status;
	}
	if (status)
		return tn_end(runtime, status, NULL);
	run.operation = tn_operation_named(runtime, name);
	run.outputs = &out;
	tn_scalars_of(run.program, scalars, values);
	status = tn_map_run(runtime, &run);
	if (!status && tn_is_floating(dtype)) {
		struct tn_record record = {.kind = TN_RECORD_MAP,
					   .operation = name,
					   .program = run.program,
					   .scalars = values,
					   .derivatives = derivatives,
					   .input_names = formula->inputs,
					   .scalar_names = formula->scalars};
		status = tn_record_made(runtime, &record, n, inputs, out);
	}
	return tn_end(runtime, status, out);
}
