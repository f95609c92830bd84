/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Arrays whose elements depend on their indices alone, made on the device by a program without
 * inputs.
 */
#ifndef TN_OPS_INDEX_FORMULA_H
#define TN_OPS_INDEX_FORMULA_H

#include "array/array.h"
#include "dispatch/programs.h"

/* out[...] = the formula, which is the real part of a complex array.  Fills runtime->report on
 * failure. */
tn_status tn_index_formula_fill(struct tn_runtime *runtime, const char *operation,
				const struct tn_formula *formula, const double *scalars,
				tn_array *out);

/* A new array of such elements on that device; NULL with the error kept.  Not recorded. */
tn_array *tn_index_formula_make(struct tn_device *device, const char *operation, tn_dtype dtype,
				int rank, const int64_t *shape, const struct tn_formula *formula,
				const double *scalars);

#endif
