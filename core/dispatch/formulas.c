/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Makes the program of a formula for given dtypes, from the cache of the context or parsed anew.
 */
#include "dispatch/formulas.h"

#include "array/runtime.h"
#include "base/error.h"
#include "dispatch/programs.h"

/* The dtype of the scalars. */
static tn_dtype scalar_dtype_of(const struct tn_formula *formula, uint32_t n_inputs,
				const tn_dtype *dtypes)
{
	if (formula->scalar_dtype)
		return formula->scalar_dtype;
	for (uint32_t i = 0; i < n_inputs; i++) {
		if (dtypes[i] == TN_F64)
			return TN_F64;
	}
	return TN_F32;
}

static struct tn_program_source source_of(const struct tn_formula *formula, const tn_dtype *dtypes,
					  const tn_dtype *scalar_dtypes)
{
	return (struct tn_program_source){
		.text = formula->text,
		.inputs = {.n = tn_count_words(formula->inputs),
			   .words = formula->inputs,
			   .dtypes = dtypes},
		.scalars = {.n = tn_count_words(formula->scalars),
			    .words = formula->scalars,
			    .dtypes = scalar_dtypes},
		.outputs = {.n = tn_count_words(formula->outputs), .words = formula->outputs},
	};
}

tn_status tn_formula_program_typed(struct tn_runtime *runtime, const char *operation,
				   const struct tn_formula *formula, const tn_dtype *dtypes,
				   const tn_dtype *scalar_dtypes, const struct tn_program **program)
{
	const struct tn_program_source source = source_of(formula, dtypes, scalar_dtypes);
	return tn_programs_find(runtime, operation, &source, program);
}

tn_status tn_formula_program(struct tn_runtime *runtime, const char *operation,
			     const struct tn_formula *formula, const tn_dtype *dtypes,
			     const struct tn_program **program)
{
	tn_dtype scalars[TN_PROGRAM_MAX_SCALARS] = {0};
	const struct tn_program_source source = source_of(formula, dtypes, scalars);
	if (source.scalars.n > TN_PROGRAM_MAX_SCALARS)
		return tn_fail(&runtime->report, TN_LIMIT, operation, "%u scalars are more than %d",
			       source.scalars.n, TN_PROGRAM_MAX_SCALARS);
	const tn_dtype scalar_dtype = scalar_dtype_of(formula, source.inputs.n, dtypes);
	for (uint32_t i = 0; i < source.scalars.n; i++)
		scalars[i] = scalar_dtype;
	return tn_programs_find(runtime, operation, &source, program);
}

tn_status tn_formula_parse(const struct tn_formula *formula, const tn_dtype *dtypes,
			   const tn_dtype *scalar_dtypes, struct tn_program **program,
			   struct tn_error_info *report)
{
	const struct tn_program_source source = source_of(formula, dtypes, scalar_dtypes);
	return tn_programs_parse(&source, program, NULL, report);
}
