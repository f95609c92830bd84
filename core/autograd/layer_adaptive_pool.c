/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Averages and maxima over a given number of parts.  With equal parts these are pools.  Where the
 * parts overlap, an average is y = A x B^T with the parts as rows of A and B, and a maximum is that
 * of the parts side by side, each with its last row and column repeated up to one size: of equal
 * elements the first remains the first.
 */
#include <tenon/autograd.h>

#include "array/array.h"
#include "autograd/axis_products.h"
#include "base/memory.h"

/* Part i of n covers the cells begin to end - 1. */
static int64_t part_begin(int64_t i, int64_t n, int64_t length)
{
	return i * length / n;
}

static int64_t part_end(int64_t i, int64_t n, int64_t length)
{
	return ((i + 1) * length + n - 1) / n;
}

/* May the parts be taken?  The error is kept. */
static int check(const char *operation, const tn_array *x, int64_t output_h, int64_t output_w)
{
	if (!x || tn_runtime_ready(x->runtime))
		return 0;
	if (output_h < 1 || output_w < 1) {
		tn_runtime_fail(x->runtime, TN_INVALID_ARGUMENT, operation,
				"expected an output of at least 1 x 1, found %lld x %lld",
				(long long)output_h, (long long)output_w);
		return 0;
	}
	if (x->rank != 4 || x->shape[2] < 1 || x->shape[3] < 1) {
		tn_runtime_fail(x->runtime, TN_SHAPE, operation,
				"x: expected (N, C, H, W), found rank %d, %lld elements", x->rank,
				(long long)x->size);
		return 0;
	}
	return 1;
}

static int has_equal_parts(const tn_array *x, int64_t output_h, int64_t output_w)
{
	return x->shape[2] % output_h == 0 && x->shape[3] % output_w == 0;
}

static struct tn_pool2d_options equal_parts(const tn_array *x, int64_t output_h, int64_t output_w)
{
	return (struct tn_pool2d_options){
		.struct_size = sizeof(struct tn_pool2d_options),
		.kernel = {x->shape[2] / output_h, x->shape[3] / output_w}};
}

/* ---- Averages --------------------------------------------------------------------------------*/

/* Row i is 1 / count over the cells of part i. */
static void average_weights(const void *user, int axis, int64_t n, int64_t length, double *weights)
{
	(void)user;
	(void)axis;
	for (int64_t i = 0; i < n; i++) {
		int64_t begin = part_begin(i, n, length), end = part_end(i, n, length);
		for (int64_t cell = begin; cell < end; cell++)
			weights[i * length + cell] = 1.0 / (double)(end - begin);
	}
}

tn_array *tn_adaptive_avg_pool2d(const tn_array *x, int64_t output_h, int64_t output_w)
{
	if (!check("adaptive_avg_pool2d", x, output_h, output_w))
		return NULL;
	const struct tn_pool2d_options parts = equal_parts(x, output_h, output_w);
	if (has_equal_parts(x, output_h, output_w))
		return tn_avg_pool2d(x, &parts);
	return tn_axis_products("adaptive_avg_pool2d", x, (const int64_t[]){output_h, output_w},
				average_weights, NULL);
}

/* ---- Maxima ----------------------------------------------------------------------------------*/

/* x with the parts of one axis side by side, each of *size cells. */
static tn_array *spread(const tn_array *x, int axis, int64_t n, int64_t *size)
{
	int64_t length = x->shape[axis];
	*size = 0;
	for (int64_t i = 0; i < n; i++) {
		int64_t count = part_end(i, n, length) - part_begin(i, n, length);
		*size = count > *size ? count : *size;
	}
	int64_t total = n * *size, *cells = tn_mem_zeroed((size_t)total, sizeof(*cells));
	if (!cells) {
		tn_runtime_fail(x->runtime, TN_OUT_OF_MEMORY, "adaptive_max_pool2d",
				"no memory for %lld parts", (long long)n);
		return NULL;
	}
	for (int64_t k = 0; k < total; k++) {
		int64_t part = k / *size, last = part_end(part, n, length) - 1;
		int64_t cell = part_begin(part, n, length) + k % *size;
		cells[k] = cell < last ? cell : last;
	}
	struct tn_device *current = x->runtime->device;
	x->runtime->device = tn_array_home(x);
	tn_array *indices = tn_from_host(tn_array_context(x), TN_I64, 1, &total, cells);
	x->runtime->device = current;
	tn_mem_free(cells);
	tn_array *y = tn_take(x, indices, axis);
	tn_array_destroy(indices);
	return y;
}

tn_array *tn_adaptive_max_pool2d(const tn_array *x, int64_t output_h, int64_t output_w)
{
	if (!check("adaptive_max_pool2d", x, output_h, output_w))
		return NULL;
	struct tn_pool2d_options parts = equal_parts(x, output_h, output_w);
	if (has_equal_parts(x, output_h, output_w))
		return tn_max_pool2d(x, &parts);
	tn_array *rows = spread(x, 2, output_h, &parts.kernel[0]);
	tn_array *cells = rows ? spread(rows, 3, output_w, &parts.kernel[1]) : NULL;
	tn_array *y = tn_max_pool2d(cells, &parts);
	tn_array_destroy(rows);
	tn_array_destroy(cells);
	return y;
}

/* ---- Of whole planes -------------------------------------------------------------------------*/

/* Drops the axes of one element; `cells` is released. */
static tn_array *without_plane(tn_array *cells)
{
	tn_array *y = cells ? tn_reshape(cells, 2, cells->shape) : NULL;
	tn_array_destroy(cells);
	return y;
}

tn_array *tn_global_avg_pool(const tn_array *x)
{
	return without_plane(tn_adaptive_avg_pool2d(x, 1, 1));
}

tn_array *tn_global_max_pool(const tn_array *x)
{
	return without_plane(tn_adaptive_max_pool2d(x, 1, 1));
}
