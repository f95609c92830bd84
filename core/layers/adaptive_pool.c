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
#include "layers/check_floating.h"
#include "layers/index_map.h"

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
	return !tn_check_floating(operation, x);
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

/* Row i is 1 / count over the cells of part i, else 0. */
static const struct tn_formula weights_f32 = {
	.text = "begin = index(0) * length / n_parts\n"
		"end = ((index(0) + 1) * length + n_parts - 1) / n_parts\n"
		"weight = index(1) < begin || index(1) >= end ? 0 : 1 / f32(end - begin)",
	.scalars = "length n_parts",
	.scalar_dtype = TN_I64};
static const struct tn_formula weights_f64 = {
	.text = "begin = index(0) * length / n_parts\n"
		"end = ((index(0) + 1) * length + n_parts - 1) / n_parts\n"
		"weight = index(1) < begin || index(1) >= end ? 0 : 1 / f64(end - begin)",
	.scalars = "length n_parts",
	.scalar_dtype = TN_I64};

tn_array *tn_adaptive_avg_pool2d(const tn_array *x, int64_t output_h, int64_t output_w)
{
	if (!check("adaptive_avg_pool2d", x, output_h, output_w))
		return NULL;
	const struct tn_pool2d_options parts = equal_parts(x, output_h, output_w);
	if (has_equal_parts(x, output_h, output_w))
		return tn_avg_pool2d(x, &parts);
	const double rows[] = {(double)x->shape[2], (double)output_h};
	const double columns[] = {(double)x->shape[3], (double)output_w};
	return tn_axis_products("adaptive_avg_pool2d", x, (const int64_t[]){output_h, output_w},
				x->dtype == TN_F64 ? &weights_f64 : &weights_f32,
				(const double *const[]){rows, columns});
}

/* ---- Maxima ----------------------------------------------------------------------------------*/

/* The cells of all parts, one after the other, `size` of each. */
static const struct tn_formula part_cells = {
	.text = "part = index(0) / size; begin = part * length / n_parts\n"
		"end = ((part + 1) * length + n_parts - 1) / n_parts\n"
		"cell = min(begin + index(0) - part * size, end - 1)",
	.scalars = "length n_parts size",
	.scalar_dtype = TN_I64};

/* x with the parts of one axis side by side, each of *size cells. */
static tn_array *spread(const tn_array *x, int axis, int64_t n, int64_t *size)
{
	int64_t length = x->shape[axis];
	*size = 0;
	for (int64_t i = 0; i < n; i++) {
		int64_t count = part_end(i, n, length) - part_begin(i, n, length);
		*size = count > *size ? count : *size;
	}
	const double scalars[] = {(double)length, (double)n, (double)*size};
	int64_t total = n * *size;
	tn_array *cells =
		tn_index_map("adaptive_max_pool2d", x, TN_I64, 1, &total, &part_cells, scalars);
	tn_array *y = tn_take(x, cells, axis, TN_RAISE);
	tn_array_destroy(cells);
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
