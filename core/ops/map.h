/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Runs element programs over arrays.  With reductions (reduce_run.h) and products (matmul.h) this
 * is what compositions, gradients and optimizers are made of; nothing here is recorded, and errors
 * are left in runtime->report.
 */
#ifndef TN_OPS_MAP_H
#define TN_OPS_MAP_H

#include <tenon/program.h>

#include "array/array.h"
#include "dispatch/formulas.h"
#include "dispatch/operations.h"
#include "dispatch/programs.h"
#include "ops/map_call.h"

/* Runs it.  An input that shares memory with an output, unless both are the same view, is copied
 * first. */
tn_status tn_map_run(struct tn_runtime *runtime, const struct tn_map_run *run);

/* A value as the scalar of that dtype. */
struct tn_scalar tn_scalar_of(tn_dtype dtype, double value);
/* The scalars of a program from doubles, each in the dtype in which the program reads it. */
void tn_scalars_of(const struct tn_program *program, const double *values,
		   struct tn_scalar *scalars);

/* Runs a formula on these arrays: outputs[j] := formula(inputs, scalars)[j]. */
tn_status tn_formula_map(struct tn_runtime *runtime, uint32_t operation,
			 const struct tn_formula *formula, const tn_array *const *inputs,
			 tn_array *const *outputs, const double *scalars);

/* The same, where the caller knows that no two outputs share an element, though they may
 * interleave. */
tn_status tn_formula_map_apart(struct tn_runtime *runtime, uint32_t operation,
			       const struct tn_formula *formula, const tn_array *const *inputs,
			       tn_array *const *outputs, const double *scalars);

#endif
