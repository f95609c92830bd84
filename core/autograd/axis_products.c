/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * See axis_products.h.
 */
#include "autograd/axis_products.h"

#include "array/array.h"
#include "base/memory.h"

/* (n, length) on the device of x, of its dtype. */
static tn_array *make_matrix(const char *operation, const tn_array *x, int axis, int64_t n,
			     tn_axis_weights weights, const void *user)
{
	int64_t length = x->shape[2 + axis];
	double *rows = tn_mem_zeroed((size_t)(n * length), sizeof(*rows));
	if (!rows) {
		tn_runtime_fail(x->runtime, TN_OUT_OF_MEMORY, operation,
				"no memory for the weights of %lld rows", (long long)n);
		return NULL;
	}
	weights(user, axis, n, length, rows);
	struct tn_device *current = x->runtime->device;
	x->runtime->device = tn_array_home(x);
	tn_array *a =
		tn_from_host(tn_array_context(x), TN_F64, 2, (const int64_t[]){n, length}, rows);
	tn_mem_free(rows);
	tn_array *converted = a ? tn_astype(a, x->dtype) : NULL;
	x->runtime->device = current;
	tn_array_destroy(a);
	return converted;
}

tn_array *tn_axis_products(const char *operation, const tn_array *x, const int64_t output[2],
			   tn_axis_weights weights, const void *user)
{
	tn_array *a = make_matrix(operation, x, 0, output[0], weights, user);
	tn_array *b = a ? make_matrix(operation, x, 1, output[1], weights, user) : NULL;
	tn_array *columns = tn_transpose(b, NULL);
	tn_array *across = tn_matmul(x, columns);
	tn_array *y = tn_matmul(a, across);
	tn_array *const temporaries[] = {a, b, columns, across};
	for (size_t i = 0; i < sizeof(temporaries) / sizeof(temporaries[0]); i++)
		tn_array_destroy(temporaries[i]);
	return y;
}
