/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * An operation that is one element program, recorded under its own name or as a map.
 */
#ifndef TN_OPS_FORMULA_H
#define TN_OPS_FORMULA_H

#include <tenon/number.h>

#include "array/array.h"
#include "dispatch/programs.h"

/* An operation of its own name, which is never freed, in the ledger and on the tape: a new array of
 * that dtype and of the inputs' broadcast shape, the formula over the inputs, none of them complex.
 * NULL: an input is NULL, or the error is kept. */
tn_array *tn_formula_operation(const char *name, const struct tn_formula *formula, tn_dtype dtype,
			       const tn_array *const *inputs, const double *scalars);
/* The same with derivatives of its own, as in struct tn_record: over the inputs, the gradient dz of
 * the result, and the scalars. */
tn_array *tn_formula_with_derivatives(const char *name, const struct tn_formula *formula,
				      const char *const *derivatives, tn_dtype dtype,
				      const tn_array *const *inputs, const double *scalars);
/* The operation "map", as tn_map_number makes it: with the dtype of the formula's value, which is
 * no u64, or the narrow one of all inputs; scalars of f64 are read in the dtype of the inputs. */
tn_array *tn_formula_map_number(const struct tn_formula *formula, const tn_array *const *inputs,
				const tn_number *scalars);

#endif
