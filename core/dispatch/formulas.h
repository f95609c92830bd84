/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Formulas: the form in which the library writes its own programs.
 */
#ifndef TN_DISPATCH_FORMULAS_H
#define TN_DISPATCH_FORMULAS_H

#include <tenon/types.h>

#include "base/words.h"

struct tn_program;
struct tn_runtime;

/* A program's text with the names of its operands in their order (base/words.h):
 *
 *     static const struct tn_formula normal = {.text = "z = (x - mean) * rstd",
 *                                              .inputs = "x mean rstd"};
 *
 * NULL: there are none.  The names are those of the paper or of the comment above the formula.  An
 * output may have the name of an input if it is among .outputs. */
struct tn_formula {
	const char *text;
	const char *inputs;
	const char *scalars;
	const char *outputs;   /* NULL: one, the name assigned last */
	tn_dtype scalar_dtype; /* 0: f64 when an input is f64, else f32 */
};

/* The program of a formula for inputs of those dtypes; lives as long as the context.  Fills
 * runtime->report on failure. */
tn_status tn_formula_program(struct tn_runtime *runtime, const char *operation,
			     const struct tn_formula *formula, const tn_dtype *dtypes,
			     const struct tn_program **program);
/* The same with a dtype for each scalar; 0: as above. */
tn_status tn_formula_program_typed(struct tn_runtime *runtime, const char *operation,
				   const struct tn_formula *formula, const tn_dtype *dtypes,
				   const tn_dtype *scalar_dtypes,
				   const struct tn_program **program);

/* A program of the caller's own (tn_program_destroy), with a dtype for each scalar, which may be
 * 0. */
tn_status tn_formula_parse(const struct tn_formula *formula, const tn_dtype *dtypes,
			   const tn_dtype *scalar_dtypes, struct tn_program **program,
			   struct tn_error_info *report);

#endif
