/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fills arrays from their indices, and applies weights made in this way to the rows and columns of
 * images as two products.
 */
#include "layers/index_map.h"

#include "array/make.h"
#include "autograd/node.h"
#include "dispatch/ledger.h"
#include "ops/map.h"

tn_array *tn_index_map(const char *operation, const tn_array *x, tn_dtype dtype, int rank,
		       const int64_t *shape, const struct tn_formula *formula,
		       const double *scalars)
{
	struct tn_suspension suspension = tn_tape_suspend(x);
	struct tn_runtime *rt = suspension.runtime;
	tn_array *y = rt ? tn_empty(tn_array_context(x), dtype, rank, shape) : NULL;
	if (y)
		y = tn_end(rt,
			   tn_formula_map(rt, tn_operation_named(rt, operation), formula, NULL, &y,
					  scalars),
			   y);
	return tn_tape_resume(suspension, y, &(struct tn_node_request){.operation = operation});
}

tn_array *tn_axis_products(const char *operation, const tn_array *x, const int64_t output[2],
			   const struct tn_formula *weights, const double *const scalars[2])
{
	tn_array *parts[2] = {NULL};
	for (int i = 0; i < 2; i++)
		parts[i] = tn_index_map(operation, x, x->dtype, 2,
					(const int64_t[]){output[i], x->shape[2 + i]}, weights,
					scalars[i]);
	tn_array *columns = tn_transpose(parts[1], NULL);
	tn_array *across = tn_matmul(x, columns);
	tn_array *y = tn_matmul(parts[0], across);
	tn_array *const temporaries[] = {parts[0], parts[1], columns, across};
	for (size_t i = 0; i < sizeof(temporaries) / sizeof(temporaries[0]); i++)
		tn_array_destroy(temporaries[i]);
	return y;
}
