/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Indices and element numbers, and indices of regular places.
 */
#include <tenon/index.h>

#include <inttypes.h>
#include <tenon/ufunc.h>

#include "array/make.h"
#include "array/shape.h"
#include "base/dtype.h"
#include "numpy/index_bounds.h"
#include "numpy/nonzero.h"
#include "ops/formula.h"

static void clear(int n, tn_array **arrays)
{
	for (int i = 0; arrays && i < n; i++)
		arrays[i] = NULL;
}

static tn_status check_rank(struct tn_runtime *runtime, const char *operation, int rank)
{
	if (rank >= 1 && rank <= TN_MAX_RANK)
		return TN_OK;
	return tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, operation,
			       "rank: expected 1 to %d, found %d", TN_MAX_RANK, rank);
}

/* ---- Element numbers -------------------------------------------------------------------------*/

/* The number of elements of a shape of `rank` lengths, which programs are given as f64. */
static tn_status check_shape(struct tn_runtime *runtime, const char *operation, int rank,
			     const int64_t *shape, int64_t *size)
{
	const int64_t most = (int64_t)1 << 53;
	char text[TN_SHAPE_TEXT];
	tn_status status = check_rank(runtime, operation, rank);
	if (!status && !shape)
		status = tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, operation,
					 "shape: expected %d lengths, found NULL", rank);
	if (status)
		return status;
	status = tn_end_into(runtime,
			     tn_shape_check(runtime, operation, TN_BOOL, rank, shape, size));
	if (!status && *size > most)
		status = tn_runtime_fail(runtime, TN_LIMIT, operation,
					 "shape: %s has more than 2^53 elements",
					 tn_shape_print(rank, shape, text));
	return status;
}

tn_status tn_unravel_index(const tn_array *numbers, int rank, const int64_t *shape,
			   tn_array **indices)
{
	static const char operation[] = "unravel_index";
	static const struct tn_check check = {operation, "number", "the shape has size"};
	int64_t size;
	clear(rank < TN_MAX_RANK ? rank : TN_MAX_RANK, indices);
	tn_status status = tn_begin_into(1, &numbers, operation);
	if (status)
		return status;
	struct tn_runtime *runtime = numbers->runtime;
	status = check_shape(runtime, operation, rank, shape, &size);
	if (!status)
		status = tn_scope_begin_all(runtime, operation, rank, indices);
	if (status)
		return status;
	const tn_array *checked = tn_index_bounded(&check, "numbers", numbers, 0, size, TN_RAISE);
	for (int i = 0; i < rank && checked; i++)
		indices[i] = tn_unraveled(operation, checked, rank, shape, i);
	return tn_scope_end_all(runtime->context, TN_OK, rank, indices);
}

static tn_array *ravel(int rank, const tn_array *const *indices, const int64_t *shape,
		       const uint32_t *bounds)
{
	static const char operation[] = "ravel_multi_index";
	static const struct tn_check check = {operation, "index", "the axis has length"};
	static const struct tn_formula next = {.text = "z = number * length + i",
					       .inputs = "i number",
					       .scalars = "length",
					       .scalar_dtype = TN_I64};
	tn_array *numbers = NULL;
	for (int i = 0; i < rank; i++) {
		tn_array *index = tn_index_bounded(&check, "indices", indices[i], 0, shape[i],
						   bounds ? bounds[i] : TN_RAISE);
		const tn_array *both[] = {index, numbers};
		const double length = (double)shape[i];
		numbers = i ? tn_formula_operation(operation, &next, TN_I64, both, &length) : index;
		if (!numbers)
			return NULL;
	}
	return numbers;
}

tn_array *tn_ravel_multi_index(int rank, const tn_array *const *indices, const int64_t *shape,
			       const uint32_t *bounds)
{
	int64_t size;
	if (rank < 1 || !indices)
		return NULL;
	struct tn_runtime *runtime = tn_begin((uint32_t)rank, indices, "ravel_multi_index");
	if (!runtime || check_shape(runtime, "ravel_multi_index", rank, shape, &size) ||
	    tn_scope_begin(runtime->context))
		return NULL;
	return tn_scope_end(runtime->context, ravel(rank, indices, shape, bounds));
}

/* ---- Grids -----------------------------------------------------------------------------------*/

static tn_array *open_grid(const tn_array *line, int n, int axis)
{
	int64_t shape[TN_MAX_RANK];
	const tn_array *indices = line->dtype == TN_BOOL ? tn_true_numbers("ix", line, -1) : line;
	if (!indices)
		return NULL;
	for (int i = 0; i < n; i++)
		shape[i] = i == axis ? indices->size : 1;
	return tn_reshape(indices, n, shape);
}

static tn_status check_lines(struct tn_runtime *runtime, int n, const tn_array *const *lines)
{
	char text[TN_SHAPE_TEXT];
	if (n > TN_MAX_RANK)
		return tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, "ix",
				       "n: expected 1 to %d lines, found %d", TN_MAX_RANK, n);
	for (int i = 0; i < n; i++) {
		if (lines[i]->rank != 1)
			return tn_runtime_fail(runtime, TN_SHAPE, "ix",
					       "lines[%d]: expected one axis, found shape %s", i,
					       tn_array_text(lines[i], text));
		if (lines[i]->dtype != TN_BOOL && !tn_is_integer(lines[i]->dtype))
			return tn_runtime_fail(runtime, TN_DTYPE, "ix",
					       "lines[%d]: expected integers or bool, found %s", i,
					       tn_dtype_name(lines[i]->dtype));
	}
	return TN_OK;
}

tn_status tn_ix(int n, const tn_array *const *lines, tn_array **grids)
{
	clear(n, grids);
	if (n < 1 || !lines)
		return TN_INVALID_ARGUMENT;
	tn_status status = tn_begin_into((uint32_t)n, lines, "ix");
	if (status)
		return status;
	struct tn_runtime *runtime = lines[0]->runtime;
	status = check_lines(runtime, n, lines);
	if (!status)
		status = tn_scope_begin_all(runtime, "ix", n, grids);
	if (status)
		return status;
	for (int i = 0; i < n; i++)
		grids[i] = open_grid(lines[i], n, i);
	return tn_scope_end_all(runtime->context, TN_OK, n, grids);
}

/* ---- Diagonals and triangles -----------------------------------------------------------------*/

tn_status tn_diag_indices(tn_context *context, int64_t n, int rank, tn_array **indices)
{
	struct tn_runtime *runtime = tn_runtime_of(context);
	clear(rank < TN_MAX_RANK ? rank : TN_MAX_RANK, indices);
	if (!context)
		return TN_INVALID_ARGUMENT;
	tn_status status = tn_runtime_ready(runtime);
	if (!status)
		status = check_rank(runtime, "diag_indices", rank);
	if (!status && n < 0)
		status = tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, "diag_indices",
					 "n: expected 0 or more, found %" PRId64, n);
	if (!status)
		status = tn_scope_begin_all(runtime, "diag_indices", rank, indices);
	if (status)
		return status;
	for (int i = 0; i < rank; i++)
		indices[i] = tn_arange_number(context, TN_I64, tn_number_i64(0), tn_number_i64(n),
					      tn_number_i64(1));
	return tn_scope_end_all(context, TN_OK, rank, indices);
}

/* How many elements of a matrix (n, m) are not above that diagonal? */
static int64_t count_lower(int64_t n, int64_t m, int64_t k)
{
	int64_t count = 0;
	/* Without columns there may be more rows than can be counted one by one. */
	for (int64_t i = 0; i < n && m; i++) {
		const int64_t columns = i + k + 1;
		count += columns < 0 ? 0 : columns > m ? m : columns;
	}
	return count;
}

/* The elements not above diagonal k, or the others. */
static tn_status triangle(tn_context *context, const char *operation, int64_t n, int64_t k,
			  int64_t m, int is_lower, tn_array *indices[2])
{
	struct tn_runtime *runtime = tn_runtime_of(context);
	const int64_t shape[] = {n, m};
	int64_t size;
	clear(2, indices);
	if (!context)
		return TN_INVALID_ARGUMENT;
	tn_status status = tn_runtime_ready(runtime);
	if (!status)
		status = tn_end_into(runtime,
				     tn_shape_check(runtime, operation, TN_I64, 2, shape, &size));
	if (!status)
		status = tn_scope_begin_all(runtime, operation, 2, indices);
	if (status)
		return status;
	/* All elements are on one side of the diagonals beyond the corners. */
	k = k < -n ? -n : k > m ? m : k;
	const int64_t lower = count_lower(n, m, k);
	const tn_array *mask = tn_tri(context, TN_BOOL, n, m, k);
	if (!is_lower)
		mask = tn_logical_not(mask);
	const tn_array *numbers = tn_true_numbers(operation, mask, is_lower ? lower : size - lower);
	for (int i = 0; i < 2 && numbers; i++)
		indices[i] = tn_unraveled(operation, numbers, 2, shape, i);
	return tn_scope_end_all(context, TN_OK, 2, indices);
}

tn_status tn_tril_indices(tn_context *context, int64_t n, int64_t k, int64_t m,
			  tn_array *indices[2])
{
	return triangle(context, "tril_indices", n, k, m, 1, indices);
}

tn_status tn_triu_indices(tn_context *context, int64_t n, int64_t k, int64_t m,
			  tn_array *indices[2])
{
	return triangle(context, "triu_indices", n, k == INT64_MIN ? k : k - 1, m, 0, indices);
}
