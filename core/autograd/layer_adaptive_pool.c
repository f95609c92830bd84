/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Averages over a given number of parts.  With equal parts this is an average pool; where the parts
 * overlap, y = A x B^T with the parts as rows of A and B.
 */
#include <tenon/autograd.h>

#include "array/array.h"
#include "base/memory.h"

/* (n, length): row i is 1 / count over the cells of part i, 0 elsewhere. */
static tn_array *make_parts(const tn_array *x, int64_t n, int64_t length)
{
	double *rows = tn_mem_zeroed((size_t)(n * length), sizeof(*rows));
	if (!rows) {
		tn_runtime_fail(x->runtime, TN_OUT_OF_MEMORY, "adaptive_avg_pool2d",
				"no memory for %lld parts", (long long)n);
		return NULL;
	}
	for (int64_t i = 0; i < n; i++) {
		int64_t begin = i * length / n, end = ((i + 1) * length + n - 1) / n;
		for (int64_t cell = begin; cell < end; cell++)
			rows[i * length + cell] = 1.0 / (double)(end - begin);
	}
	tn_array *a =
		tn_from_host(tn_array_context(x), TN_F64, 2, (const int64_t[]){n, length}, rows);
	tn_mem_free(rows);
	tn_array *converted = a ? tn_astype(a, x->dtype) : NULL;
	tn_array_destroy(a);
	return converted;
}

static tn_array *overlapping_parts(const tn_array *x, int64_t h, int64_t w)
{
	struct tn_device *current = x->runtime->device;
	x->runtime->device = tn_array_home(x);
	tn_array *a = make_parts(x, h, x->shape[2]), *b = make_parts(x, w, x->shape[3]);
	x->runtime->device = current;
	tn_array *columns = tn_transpose(b, NULL);
	tn_array *across = tn_matmul(x, columns);
	tn_array *y = tn_matmul(a, across);
	tn_array *const temporaries[] = {a, b, columns, across};
	for (size_t i = 0; i < sizeof(temporaries) / sizeof(temporaries[0]); i++)
		tn_array_destroy(temporaries[i]);
	return y;
}

tn_array *tn_adaptive_avg_pool2d(const tn_array *x, int64_t output_h, int64_t output_w)
{
	if (!x || tn_runtime_ready(x->runtime))
		return NULL;
	if (output_h < 1 || output_w < 1) {
		tn_runtime_fail(x->runtime, TN_INVALID_ARGUMENT, "adaptive_avg_pool2d",
				"expected an output of at least 1 x 1, found %lld x %lld",
				(long long)output_h, (long long)output_w);
		return NULL;
	}
	if (x->rank != 4 || x->shape[2] < 1 || x->shape[3] < 1) {
		tn_runtime_fail(x->runtime, TN_SHAPE, "adaptive_avg_pool2d",
				"x: expected (N, C, H, W), found rank %d, %lld elements", x->rank,
				(long long)x->size);
		return NULL;
	}
	if (x->shape[2] % output_h == 0 && x->shape[3] % output_w == 0) {
		const struct tn_pool2d_options equal_parts = {
			.struct_size = sizeof(equal_parts),
			.kernel = {x->shape[2] / output_h, x->shape[3] / output_w}};
		return tn_avg_pool2d(x, &equal_parts);
	}
	return overlapping_parts(x, output_h, output_w);
}

tn_array *tn_global_avg_pool(const tn_array *x)
{
	tn_array *cells = tn_adaptive_avg_pool2d(x, 1, 1);
	tn_array *y = cells ? tn_reshape(cells, 2, cells->shape) : NULL;
	tn_array_destroy(cells);
	return y;
}
