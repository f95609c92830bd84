/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Elements and arrays several times over: copies of broadcast views.
 */
#include <tenon/manipulate.h>

#include <inttypes.h>
#include <string.h>

#include "array/make.h"
#include "array/shape.h"
#include "base/memory.h"
#include "numpy/host_indices.h"
#include "ops/axes.h"

/* a, seen as (before, rest), with `times` copies of each rest, as that shape. */
static tn_array *repeat_parts(const tn_array *a, int64_t before, int64_t rest, int64_t times,
			      int rank, const int64_t *shape)
{
	tn_array *parts = tn_reshape(a, 3, (const int64_t[]){before, 1, rest});
	tn_array *several = tn_broadcast_to(parts, 3, (const int64_t[]){before, times, rest});
	tn_array *copy = tn_copy(several);
	tn_array *made = tn_reshape(copy, rank, shape);
	tn_array_discard(copy);
	tn_array_discard(several);
	tn_array_discard(parts);
	return made;
}

/* The shape with an axis `times` as long. */
static tn_status longer_shape(const tn_array *a, const char *operation, int axis, int64_t times,
			      int64_t shape[TN_MAX_RANK])
{
	int64_t size;
	memcpy(shape, a->shape, sizeof(a->shape));
	if (__builtin_mul_overflow(shape[axis], times, &shape[axis]))
		return tn_runtime_fail(a->runtime, TN_LIMIT, operation,
				       "axis %d: %" PRId64 " times the length %" PRId64
				       " is more than an i64 holds",
				       axis, times, a->shape[axis]);
	tn_status status = tn_shape_check(a->runtime, operation, a->dtype, a->rank, shape, &size);
	return tn_end_into(a->runtime, status);
}

/* ---- Tile ------------------------------------------------------------------------------------*/

static tn_array *tile_axis(const tn_array *a, int axis, int64_t times)
{
	int64_t shape[TN_MAX_RANK];
	if (longer_shape(a, "tile", axis, times, shape))
		return NULL;
	return repeat_parts(a, tn_axes_size(a, 0, axis), tn_axes_size(a, axis, a->rank), times,
			    a->rank, shape);
}

static tn_status check_tile(const tn_array *a, int n, const int64_t *repetitions)
{
	if (n < 0 || n > TN_MAX_RANK || (n && !repetitions))
		return tn_runtime_fail(a->runtime, TN_INVALID_ARGUMENT, "tile",
				       "n: expected 0 to %d repetitions, found %d", TN_MAX_RANK, n);
	for (int i = 0; i < n; i++)
		if (repetitions[i] < 0)
			return tn_runtime_fail(a->runtime, TN_INVALID_ARGUMENT, "tile",
					       "repetitions[%d]: expected 0 or more, found "
					       "%" PRId64,
					       i, repetitions[i]);
	return TN_OK;
}

tn_array *tn_tile(const tn_array *a, int n, const int64_t *repetitions)
{
	int64_t shape[TN_MAX_RANK];
	if (!tn_begin(1, &a, "tile") || check_tile(a, n, repetitions))
		return NULL;
	const int rank = n > a->rank ? n : a->rank;
	for (int i = 0; i < rank; i++)
		shape[i] = i < rank - a->rank ? 1 : a->shape[i - (rank - a->rank)];
	tn_array *tiled = tn_reshape(a, rank, shape);
	int is_copy = 0;
	for (int i = 0; i < n && tiled; i++) {
		if (repetitions[i] == 1)
			continue;
		tn_array *next = tile_axis(tiled, rank - n + i, repetitions[i]);
		tn_array_discard(tiled);
		tiled = next;
		is_copy = 1;
	}
	if (is_copy)
		return tiled;
	tn_array *copy = tn_copy(tiled);
	tn_array_discard(tiled);
	return copy;
}

/* ---- Repeat ----------------------------------------------------------------------------------*/

static tn_array *repeat_evenly(const tn_array *a, int64_t times, int axis)
{
	int64_t shape[TN_MAX_RANK];
	if (longer_shape(a, "repeat", axis, times, shape))
		return NULL;
	return repeat_parts(a, tn_axes_size(a, 0, axis + 1), tn_axes_size(a, axis + 1, a->rank),
			    times, a->rank, shape);
}

static tn_array *repeat_each(const tn_array *a, const int64_t *repeats, int axis)
{
	int64_t n = 0;
	for (int64_t i = 0; i < a->shape[axis]; i++)
		if (__builtin_add_overflow(n, repeats[i], &n) || n > INT64_MAX / 8) {
			tn_runtime_fail(a->runtime, TN_LIMIT, "repeat",
					"repeats: axis %d becomes too long", axis);
			return NULL;
		}
	int64_t *places = tn_host_indices_make(a->runtime, "repeat", n);
	if (!places)
		return NULL;
	for (int64_t i = 0, to = 0; i < a->shape[axis]; i++)
		for (int64_t k = 0; k < repeats[i]; k++)
			places[to++] = i;
	return tn_host_indices_take(a, "repeat", axis, n, places);
}

tn_array *tn_repeat(const tn_array *a, int64_t n, const int64_t *repeats, int axis)
{
	tn_array *repeated = NULL, *view;
	if (!tn_begin(1, &a, "repeat"))
		return NULL;
	view = tn_axis_or_flat(a, "repeat", &axis);
	if (!view)
		return NULL;
	tn_status status = TN_OK;
	if (!repeats || (n != 1 && n != view->shape[axis]))
		status = tn_runtime_fail(a->runtime, TN_INVALID_ARGUMENT, "repeat",
					 "n: expected 1 or %" PRId64
					 " repeats, the length of axis %d, found %" PRId64,
					 view->shape[axis], axis, n);
	for (int64_t i = 0; i < n && !status; i++)
		if (repeats[i] < 0)
			status = tn_runtime_fail(a->runtime, TN_INVALID_ARGUMENT, "repeat",
						 "repeats[%" PRId64
						 "]: expected 0 or more, found %" PRId64,
						 i, repeats[i]);
	if (!status)
		repeated = n == 1 ? repeat_evenly(view, repeats[0], axis)
				  : repeat_each(view, repeats, axis);
	tn_array_discard(view);
	return repeated;
}
