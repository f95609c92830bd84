/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Grids of coordinates.
 */
#include <tenon/manipulate.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "array/make.h"
#include "array/shape.h"
#include "ops/index_formula.h"

/* ---- Indices ---------------------------------------------------------------------------------*/

static tn_status fill_indices(tn_array *out, int axis)
{
	struct tn_runtime *runtime = out->runtime;
	char text[24];
	const struct tn_formula formula = {.text = text};
	snprintf(text, sizeof(text), "z = index(%d)", axis);
	tn_array *part = tn_array_view(out, out->rank - 1, out->shape + 1, out->strides + 1,
				       out->offset + axis * out->strides[0]);
	if (!part)
		return runtime->report.status;
	tn_status status = tn_index_formula_fill(runtime, "indices", &formula, NULL, part);
	tn_array_discard(part);
	return status;
}

tn_array *tn_indices(tn_context *context, tn_dtype dtype, int rank, const int64_t *shape)
{
	struct tn_runtime *runtime = tn_runtime_of(context);
	int64_t whole[TN_MAX_RANK];
	if (!context || tn_runtime_ready(runtime))
		return NULL;
	if (rank < 0 || rank >= TN_MAX_RANK || (rank && !shape)) {
		tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, "indices",
				"rank: expected 0 to %d with a shape, found %d", TN_MAX_RANK - 1,
				rank);
		return NULL;
	}
	whole[0] = rank;
	if (rank)
		memcpy(whole + 1, shape, (size_t)rank * sizeof(*shape));
	int64_t size;
	if (tn_shape_check(runtime, "indices", dtype, rank + 1, whole, &size))
		return tn_end(runtime, runtime->report.status, NULL);
	tn_array *out = tn_array_make(runtime, runtime->device, dtype, rank + 1, whole);
	tn_status status = out ? TN_OK : runtime->report.status;
	for (int axis = 0; axis < rank && size && !status; axis++)
		status = fill_indices(out, axis);
	return tn_end(runtime, status, out);
}

/* ---- Meshgrid --------------------------------------------------------------------------------*/

/* The axis along which array i varies. */
static int grid_axis(int i, int n, uint32_t indexing)
{
	return indexing == TN_INDEXING_XY && n > 1 && i < 2 ? 1 - i : i;
}

static tn_array *make_grid(const tn_array *a, int axis, int n, const int64_t *shape)
{
	int64_t line[TN_MAX_RANK];
	for (int i = 0; i < n; i++)
		line[i] = i == axis ? a->size : 1;
	tn_array *vector = tn_reshape(a, n, line);
	tn_array *view = tn_broadcast_to(vector, n, shape);
	tn_array *grid = tn_copy(view);
	tn_array_discard(view);
	tn_array_discard(vector);
	return grid;
}

static tn_status check_grids(struct tn_runtime *runtime, int n, uint32_t indexing,
			     tn_array *const *grids)
{
	if (n > TN_MAX_RANK)
		return tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, "meshgrid",
				       "n: expected 1 to %d arrays, found %d", TN_MAX_RANK, n);
	if (indexing > TN_INDEXING_IJ)
		return tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, "meshgrid",
				       "indexing: expected TN_INDEXING_XY or TN_INDEXING_IJ, "
				       "found %" PRIu32,
				       indexing);
	if (!grids)
		return tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, "meshgrid", "grids is NULL");
	return TN_OK;
}

tn_status tn_meshgrid(int n, const tn_array *const *arrays, uint32_t indexing, tn_array **grids)
{
	int64_t shape[TN_MAX_RANK];
	tn_status status;
	for (int i = 0; grids && i < n; i++)
		grids[i] = NULL;
	if (n < 1 || !arrays)
		return TN_INVALID_ARGUMENT;
	status = tn_begin_into((uint32_t)n, arrays, "meshgrid");
	if (status)
		return status;
	struct tn_runtime *runtime = arrays[0]->runtime;
	status = check_grids(runtime, n, indexing, grids);
	for (int i = 0; i < n && !status; i++)
		shape[grid_axis(i, n, indexing)] = arrays[i]->size;
	for (int i = 0; i < n && !status; i++) {
		int64_t size;
		status = tn_end_into(runtime, tn_shape_check(runtime, "meshgrid", arrays[i]->dtype,
							     n, shape, &size));
		if (status)
			break;
		grids[i] = make_grid(arrays[i], grid_axis(i, n, indexing), n, shape);
		if (!grids[i])
			status = runtime->error.status;
	}
	for (int i = 0; i < n && status && grids; i++) {
		tn_array_discard(grids[i]);
		grids[i] = NULL;
	}
	return status;
}
