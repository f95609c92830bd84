/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Arrays that depend on nothing but their indices, made on the device by a formula: weights of rows
 * and columns, and positions.  No host memory is read, so that captured work may make them.
 */
#ifndef TN_LAYERS_INDEX_MAP_H
#define TN_LAYERS_INDEX_MAP_H

#include "array/array.h"
#include "dispatch/formulas.h"

/* A formula without inputs, of an array of `rank` axes of these lengths, on the device of x; not
 * recorded.  The error is kept. */
tn_array *tn_index_map(const char *operation, const tn_array *x, tn_dtype dtype, int rank,
		       const int64_t *shape, const struct tn_formula *formula,
		       const double *scalars);

/* x (N, C, H, W) of at least one row and column to (N, C, output[0], output[1]): A x B^T for each
 * plane, recorded as two products.  `weights`, with scalars[0] and scalars[1], makes A (output[0],
 * H) and B (output[1], W). */
tn_array *tn_axis_products(const char *operation, const tn_array *x, const int64_t output[2],
			   const struct tn_formula *weights, const double *const scalars[2]);

#endif
