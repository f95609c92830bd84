/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Elements removed and inserted at indices along an axis.
 */
#include <tenon/manipulate.h>

#include <inttypes.h>
#include <string.h>

#include "array/make.h"
#include "array/shape.h"
#include "base/memory.h"
#include "numpy/host_indices.h"
#include "ops/axes.h"

/* ---- Delete ----------------------------------------------------------------------------------*/

static tn_status check_places(const tn_array *a, const char *operation, int64_t n,
			      const int64_t *indices, int axis, int64_t most)
{
	const int64_t length = a->shape[axis];
	if (n < 0 || (n && !indices))
		return tn_runtime_fail(a->runtime, TN_INVALID_ARGUMENT, operation,
				       "n: expected 0 or more indices, found %" PRId64, n);
	for (int64_t i = 0; i < n; i++)
		if (indices[i] < -length || indices[i] > most)
			return tn_runtime_fail(a->runtime, TN_INVALID_ARGUMENT, operation,
					       "indices[%" PRId64 "]: expected %" PRId64
					       " to %" PRId64 " along axis %d, found %" PRId64,
					       i, -length, most, axis, indices[i]);
	return TN_OK;
}

static tn_array *delete_places(const tn_array *a, int64_t n, const int64_t *indices, int axis)
{
	const int64_t length = a->shape[axis];
	int64_t *places = tn_host_indices_make(a->runtime, "delete", length), left = 0;
	if (!places)
		return NULL;
	for (int64_t i = 0; i < length; i++)
		places[i] = i;
	for (int64_t i = 0; i < n; i++)
		places[indices[i] < 0 ? indices[i] + length : indices[i]] = -1;
	for (int64_t i = 0; i < length; i++)
		if (places[i] >= 0)
			places[left++] = i;
	return tn_host_indices_take(a, "delete", axis, left, places);
}

tn_array *tn_delete(const tn_array *a, int64_t n, const int64_t *indices, int axis)
{
	tn_array *rest = NULL, *view;
	if (!tn_begin(1, &a, "delete"))
		return NULL;
	view = tn_axis_or_flat(a, "delete", &axis);
	if (view && !check_places(view, "delete", n, indices, axis, view->shape[axis] - 1))
		rest = delete_places(view, n, indices, axis);
	tn_array_discard(view);
	return rest;
}

/* ---- Insert ----------------------------------------------------------------------------------*/

/* Value k goes before element indices[k] of a, equal indices in their order; `joined` is a with the
 * values behind it. */
static tn_array *insert_places(const tn_array *a, const tn_array *joined, int64_t n,
			       const int64_t *indices, int axis)
{
	const int64_t length = a->shape[axis], whole = joined->shape[axis];
	const int64_t n_values = whole - length;
	int64_t *places = tn_host_indices_make(a->runtime, "insert", whole);
	int64_t *next = tn_mem_zeroed((size_t)length + 2, sizeof(*next));
	if (!places || !next) {
		if (places)
			tn_runtime_fail(a->runtime, TN_OUT_OF_MEMORY, "insert",
					"no host memory for %" PRId64 " indices", length);
		tn_mem_free(places);
		tn_mem_free(next);
		return NULL;
	}
	/* next[i]: the place of the next value before element i, which is behind all of them. */
	for (int64_t k = 0; k < n_values; k++) {
		int64_t index = indices[n == 1 ? 0 : k];
		next[(index < 0 ? index + length : index) + 1]++;
	}
	for (int64_t i = 1; i <= length; i++)
		next[i] += next[i - 1] + 1;
	for (int64_t k = 0; k < n_values; k++) {
		int64_t index = indices[n == 1 ? 0 : k];
		places[next[index < 0 ? index + length : index]++] = length + k;
	}
	for (int64_t i = 0; i < length; i++)
		places[next[i]] = i;
	tn_mem_free(next);
	return tn_host_indices_take(joined, "insert", axis, whole, places);
}

/* The values as a's dtype and of a's shape, except along the axis. */
static tn_array *fit_values(const tn_array *a, const tn_array *values, int64_t n, int axis)
{
	const int before = a->rank - values->rank;
	const int64_t own = axis < before || before < 0 ? 1 : values->shape[axis - before];
	int64_t shape[TN_MAX_RANK];
	char expected[TN_SHAPE_TEXT], found[TN_SHAPE_TEXT];
	memcpy(shape, a->shape, sizeof(shape));
	shape[axis] = n == 1 ? own : n;
	int rank = a->rank;
	int64_t fitted[TN_MAX_RANK];
	memcpy(fitted, shape, sizeof(shape));
	if (before < 0 || !tn_shape_broadcast(&rank, fitted, values->rank, values->shape) ||
	    !tn_shape_equal(rank, fitted, a->rank, shape)) {
		tn_runtime_fail(a->runtime, TN_SHAPE, "insert",
				"values: expected a shape that broadcasts to %s, found %s",
				tn_shape_print(a->rank, shape, expected),
				tn_array_text(values, found));
		return NULL;
	}
	tn_array *converted = tn_astype(values, a->dtype);
	tn_array *whole = tn_broadcast_to(converted, a->rank, shape);
	tn_array_discard(converted);
	return whole;
}

tn_array *tn_insert(const tn_array *a, int64_t n, const int64_t *indices, const tn_array *values,
		    int axis)
{
	tn_array *inserted = NULL, *view, *fitted = NULL, *joined = NULL;
	if (!tn_begin(2, (const tn_array *[]){a, values}, "insert"))
		return NULL;
	view = tn_axis_or_flat(a, "insert", &axis);
	if (view && !check_places(view, "insert", n, indices, axis, view->shape[axis]))
		fitted = fit_values(view, values, n, axis);
	if (fitted)
		joined = tn_concatenate(2, (const tn_array *[]){view, fitted}, axis);
	if (joined)
		inserted = insert_places(view, joined, n, indices, axis);
	tn_array_discard(joined);
	tn_array_discard(fitted);
	tn_array_discard(view);
	return inserted;
}
