/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Diagonals and triangles of matrices.
 */
#include <tenon/manipulate.h>

#include <inttypes.h>
#include <string.h>

#include "array/make.h"
#include "array/result_type.h"
#include "array/shape.h"
#include "base/memory.h"
#include "ops/axes.h"
#include "ops/copy.h"
#include "ops/index_formula.h"

static const struct tn_formula on_diagonal = {
	.text = "z = index(1) - index(0) == k", .scalars = "k", .scalar_dtype = TN_I64};
static const struct tn_formula not_above = {
	.text = "z = index(1) - index(0) <= k", .scalars = "k", .scalar_dtype = TN_I64};

/* A diagonal further out than the corners selects what the next one does.  Lengths below 0 are
 * refused later. */
static double clip_diagonal(int64_t k, int64_t rows, int64_t columns)
{
	if (rows < 0)
		return 0;
	return (double)(k < -rows ? -rows : k > columns ? columns : k);
}

static tn_array *make_selection(struct tn_device *device, const char *operation, tn_dtype dtype,
				const int64_t shape[2], int64_t k,
				const struct tn_formula *selection)
{
	const double diagonal = clip_diagonal(k, shape[0], shape[1]);
	return tn_index_formula_make(device, operation, dtype, 2, shape, selection, &diagonal);
}

static tn_array *make_matrix(tn_context *context, const char *operation, tn_dtype dtype,
			     int64_t rows, int64_t columns, int64_t k,
			     const struct tn_formula *selection)
{
	struct tn_runtime *runtime = tn_runtime_of(context);
	if (!context || tn_runtime_ready(runtime))
		return NULL;
	return make_selection(runtime->device, operation, dtype, (const int64_t[]){rows, columns},
			      k, selection);
}

tn_array *tn_eye(tn_context *context, tn_dtype dtype, int64_t rows, int64_t columns, int64_t k)
{
	return make_matrix(context, "eye", dtype, rows, columns, k, &on_diagonal);
}

tn_array *tn_identity(tn_context *context, tn_dtype dtype, int64_t n)
{
	return make_matrix(context, "identity", dtype, n, n, 0, &on_diagonal);
}

tn_array *tn_tri(tn_context *context, tn_dtype dtype, int64_t rows, int64_t columns, int64_t k)
{
	return make_matrix(context, "tri", dtype, rows, columns, k, &not_above);
}

/* ---- A view of a diagonal --------------------------------------------------------------------*/

/* The length and the first element of a diagonal. */
static void place_diagonal(const tn_array *a, int64_t offset, int axis1, int axis2, int64_t *n,
			   int64_t *start)
{
	const int64_t rows = a->shape[axis1], columns = a->shape[axis2];
	const int64_t down = offset < 0 ? (offset < -rows ? rows : -offset) : 0;
	const int64_t right = offset > 0 ? (offset > columns ? columns : offset) : 0;
	*n = rows - down < columns - right ? rows - down : columns - right;
	*start = *n ? down * a->strides[axis1] + right * a->strides[axis2] : 0;
}

static tn_array *diagonal(const tn_array *a, const char *operation, int64_t offset, int axis1,
			  int axis2)
{
	struct tn_runtime *runtime = a->runtime;
	struct tn_record record = {.kind = TN_RECORD_DIAGONAL,
				   .operation = operation,
				   .start = offset,
				   .permutation = {axis1, axis2}};
	int64_t shape[TN_MAX_RANK], strides[TN_MAX_RANK], n, start;
	int to = 0;
	for (int i = 0; i < a->rank; i++) {
		if (i == axis1 || i == axis2)
			continue;
		shape[to] = a->shape[i];
		strides[to++] = a->strides[i];
	}
	place_diagonal(a, offset, axis1, axis2, &n, &start);
	shape[to] = n;
	strides[to] = a->strides[axis1] + a->strides[axis2];
	tn_array *view = tn_array_view(a, a->rank - 1, shape, strides, a->offset + start);
	tn_status status =
		view ? tn_record_made(runtime, &record, 1, &a, view) : runtime->report.status;
	return tn_end(runtime, status, view);
}

tn_array *tn_diagonal(const tn_array *a, int64_t offset, int axis1, int axis2)
{
	struct tn_runtime *runtime = tn_begin(1, &a, "diagonal");
	int axes[TN_MAX_RANK] = {0}, n = 2;
	char text[TN_SHAPE_TEXT];
	if (!runtime)
		return NULL;
	if (a->rank < 2) {
		tn_runtime_fail(runtime, TN_SHAPE, "diagonal",
				"a: expected at least two axes, found shape %s",
				tn_array_text(a, text));
		return NULL;
	}
	if (tn_axes_check(a, "diagonal", "axis1, axis2", &n, (const int[]){axis1, axis2}, axes))
		return NULL;
	return diagonal(a, "diagonal", offset, axes[0], axes[1]);
}

/* ---- Triangles -------------------------------------------------------------------------------*/

/* a where `mask` is true, else 0 (or the reverse); the mask is no longer needed. */
static tn_array *select_from(const tn_array *a, tn_array *mask, int keeps_masked)
{
	tn_array *zero = tn_array_filled(a, a->dtype, 0, NULL, 0);
	tn_array *selected = keeps_masked ? tn_where(mask, a, zero) : tn_where(mask, zero, a);
	tn_array_discard(zero);
	tn_array_discard(mask);
	return selected;
}

static tn_array *triangle(const tn_array *a, const char *operation, int64_t k, int is_lower)
{
	struct tn_runtime *runtime = tn_begin(1, &a, operation);
	if (!runtime)
		return NULL;
	if (!a->rank) {
		tn_runtime_fail(runtime, TN_SHAPE, operation,
				"a: expected at least one axis, found a 0-d array");
		return NULL;
	}
	const int64_t columns = a->shape[a->rank - 1];
	const int64_t shape[] = {a->rank > 1 ? a->shape[a->rank - 2] : columns, columns};
	tn_array *mask = make_selection(tn_array_home(a), operation, TN_BOOL, shape,
					is_lower || k == INT64_MIN ? k : k - 1, &not_above);
	return mask ? select_from(a, mask, is_lower) : NULL;
}

tn_array *tn_tril(const tn_array *a, int64_t k)
{
	return triangle(a, "tril", k, 1);
}

tn_array *tn_triu(const tn_array *a, int64_t k)
{
	return triangle(a, "triu", k, 0);
}

/* ---- Diag ------------------------------------------------------------------------------------*/

/* Row i of the matrix has element i, or i - |k| below the main diagonal, of the vector. */
static tn_array *matrix_of(const tn_array *a, int64_t k)
{
	struct tn_runtime *runtime = a->runtime;
	const int64_t n = a->shape[0], most = INT64_MAX / 2;
	if (k < -most || k > most - n) {
		tn_runtime_fail(runtime, TN_LIMIT, "diag",
				"k: a matrix with %" PRId64 " elements on diagonal %" PRId64
				" is too large",
				n, k);
		return NULL;
	}
	const int64_t away = k < 0 ? -k : k, shape[] = {n + away, n + away};
	int64_t size;
	if (tn_shape_check(runtime, "diag", a->dtype, 2, shape, &size))
		return tn_end(runtime, runtime->report.status, NULL);
	tn_array *zeros = tn_array_filled(a, a->dtype, 1, &away, 0);
	const tn_array *below[] = {zeros, a}, *above[] = {a, zeros};
	tn_array *line = tn_concatenate(2, k < 0 ? below : above, 0);
	tn_array *column = tn_expand_dims(line, 1);
	tn_array *mask =
		column ? make_selection(tn_array_home(a), "diag", TN_BOOL, shape, k, &on_diagonal)
		       : NULL;
	tn_array *matrix = mask ? select_from(column, mask, 1) : NULL;
	tn_array_discard(column);
	tn_array_discard(line);
	tn_array_discard(zeros);
	return matrix;
}

tn_array *tn_diag(const tn_array *a, int64_t k)
{
	struct tn_runtime *runtime = tn_begin(1, &a, "diag");
	char text[TN_SHAPE_TEXT];
	if (!runtime)
		return NULL;
	if (a->rank == 2)
		return diagonal(a, "diag", k, 0, 1);
	if (a->rank == 1)
		return matrix_of(a, k);
	tn_runtime_fail(runtime, TN_SHAPE, "diag", "a: expected one or two axes, found shape %s",
			tn_array_text(a, text));
	return NULL;
}

/* ---- Vander ----------------------------------------------------------------------------------*/

/* The powers of a column, from the one without a factor on. */
static tn_array *powers(const tn_array *column, int64_t n)
{
	tn_array **all = NULL;
	tn_array *joined = NULL;
	all = tn_mem_zeroed((size_t)n + 1, sizeof(tn_array *));
	if (!all) {
		tn_runtime_fail(column->runtime, TN_OUT_OF_MEMORY, "vander",
				"no host memory for %" PRId64 " columns", n);
		return NULL;
	}
	all[0] = tn_ones_like(column, 0);
	for (int64_t i = 1; i < n; i++)
		all[i] = tn_multiply(all[i - 1], column);
	if (!column->runtime->error.status)
		joined = tn_concatenate((int)n, (const tn_array *const *)all, 1);
	for (int64_t i = 0; i < n; i++)
		tn_array_discard(all[i]);
	tn_mem_free(all);
	return joined;
}

tn_array *tn_vander(const tn_array *a, int64_t n, int increasing)
{
	struct tn_runtime *runtime = tn_begin(1, &a, "vander");
	char text[TN_SHAPE_TEXT];
	if (!runtime)
		return NULL;
	if (a->rank != 1) {
		tn_runtime_fail(runtime, TN_SHAPE, "vander", "a: expected one axis, found shape %s",
				tn_array_text(a, text));
		return NULL;
	}
	if (n < 0 || n > INT32_MAX) {
		tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, "vander",
				"n: expected 0 to %d columns, found %" PRId64, INT32_MAX, n);
		return NULL;
	}
	const tn_dtype dtype = tn_result_type(a->dtype, TN_I64);
	const int64_t empty[] = {a->shape[0], 0};
	if (!n)
		return tn_end(runtime, TN_OK,
			      tn_array_make(runtime, tn_array_home(a), dtype, 2, empty));
	tn_array *converted = tn_astype(a, dtype);
	tn_array *column = tn_expand_dims(converted, 1);
	tn_array *matrix = column ? powers(column, n) : NULL;
	tn_array *reversed = increasing ? NULL : tn_slice(matrix, 1, INT64_MIN, INT64_MIN, -1);
	tn_array *made = increasing ? matrix : tn_copy(reversed);
	tn_array_discard(reversed);
	if (!increasing)
		tn_array_discard(matrix);
	tn_array_discard(column);
	tn_array_discard(converted);
	return made;
}
