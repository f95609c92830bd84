/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Axes in another order, and elements in another order along them.
 */
#include <tenon/manipulate.h>

#include <inttypes.h>

#include "array/make.h"
#include "array/shape.h"
#include "ops/axes.h"

/* ---- Axes ------------------------------------------------------------------------------------*/

tn_array *tn_swapaxes(const tn_array *a, int axis1, int axis2)
{
	struct tn_runtime *runtime = tn_begin(1, &a, "swapaxes");
	int axes[TN_MAX_RANK];
	if (!runtime || tn_axis_check(a, "swapaxes", "axis1", &axis1) ||
	    tn_axis_check(a, "swapaxes", "axis2", &axis2))
		return NULL;
	for (int i = 0; i < a->rank; i++)
		axes[i] = i == axis1 ? axis2 : i == axis2 ? axis1 : i;
	return tn_transpose(a, axes);
}

tn_array *tn_moveaxis(const tn_array *a, int n, const int *source, const int *destination)
{
	struct tn_runtime *runtime = tn_begin(1, &a, "moveaxis");
	int from[TN_MAX_RANK], to[TN_MAX_RANK], axes[TN_MAX_RANK], n_to = n;
	uint32_t moved = 0, taken = 0;
	if (!runtime || tn_axes_check(a, "moveaxis", "source", &n, source, from) ||
	    tn_axes_check(a, "moveaxis", "destination", &n_to, destination, to))
		return NULL;
	for (int i = 0; i < n; i++) {
		axes[to[i]] = from[i];
		moved |= 1u << from[i];
		taken |= 1u << to[i];
	}
	for (int at = 0, next = 0; at < a->rank; at++) {
		if (taken >> at & 1)
			continue;
		while (moved >> next & 1)
			next++;
		axes[at] = next++;
	}
	return tn_transpose(a, axes);
}

/* A view with axes of length 1 before and after those of a. */
static tn_array *add_axes(const tn_array *a, const char *operation, int before, int after)
{
	int64_t shape[TN_MAX_RANK];
	int rank = 0;
	if (!tn_begin(1, &a, operation))
		return NULL;
	while (rank < before)
		shape[rank++] = 1;
	for (int i = 0; i < a->rank; i++)
		shape[rank++] = a->shape[i];
	while (after--)
		shape[rank++] = 1;
	return tn_reshape(a, rank, shape);
}

tn_array *tn_atleast_1d(const tn_array *a)
{
	return a ? add_axes(a, "atleast_1d", a->rank < 1, 0) : NULL;
}

tn_array *tn_atleast_2d(const tn_array *a)
{
	return a ? add_axes(a, "atleast_2d", a->rank < 2 ? 2 - a->rank : 0, 0) : NULL;
}

tn_array *tn_atleast_3d(const tn_array *a)
{
	if (!a)
		return NULL;
	if (!a->rank)
		return add_axes(a, "atleast_3d", 3, 0);
	return add_axes(a, "atleast_3d", a->rank == 1, a->rank < 3);
}

/* ---- Flip and rotate -------------------------------------------------------------------------*/

/* A view of a, reversed along the axes. */
static tn_array *reverse(const tn_array *a, int n, const int *axes)
{
	tn_array *view = tn_reshape(a, a->rank, a->shape);
	for (int i = 0; i < n; i++) {
		tn_array *next = tn_slice(view, axes[i], INT64_MIN, INT64_MIN, -1);
		tn_array_discard(view);
		view = next;
	}
	return view;
}

tn_array *tn_flip(const tn_array *a, int n, const int *axes)
{
	int checked[TN_MAX_RANK] = {0};
	if (!tn_begin(1, &a, "flip") || tn_axes_check(a, "flip", "axes", &n, axes, checked))
		return NULL;
	return reverse(a, n, checked);
}

tn_array *tn_rot90(const tn_array *a, int k, int axis1, int axis2)
{
	int axes[TN_MAX_RANK] = {0}, n = 2;
	if (!tn_begin(1, &a, "rot90"))
		return NULL;
	if (a->rank < 2) {
		tn_runtime_fail(a->runtime, TN_SHAPE, "rot90",
				"a: expected at least two axes, found %d", a->rank);
		return NULL;
	}
	if (tn_axes_check(a, "rot90", "axis1, axis2", &n, (const int[]){axis1, axis2}, axes))
		return NULL;
	k &= 3;
	if (k % 2 == 0)
		return reverse(a, k, axes);
	tn_array *turned = k == 1 ? reverse(a, 1, &axes[1]) : tn_swapaxes(a, axes[0], axes[1]);
	tn_array *result = NULL;
	if (turned)
		result = k == 1 ? tn_swapaxes(turned, axes[0], axes[1])
				: reverse(turned, 1, &axes[1]);
	tn_array_discard(turned);
	return result;
}

/* ---- Roll ------------------------------------------------------------------------------------*/

/* Element i becomes element i + shift, modulo the length. */
static tn_array *roll_axis(const tn_array *a, int64_t shift, int axis)
{
	const int64_t length = a->shape[axis];
	int64_t first = length ? shift % length : 0;
	if (first < 0)
		first += length;
	if (!first)
		return tn_copy(a);
	tn_array *end = tn_slice(a, axis, length - first, INT64_MIN, 1);
	tn_array *start = tn_slice(a, axis, 0, length - first, 1);
	tn_array *rolled =
		end && start ? tn_concatenate(2, (const tn_array *[]){end, start}, axis) : NULL;
	tn_array_discard(start);
	tn_array_discard(end);
	return rolled;
}

static tn_array *roll_flat(const tn_array *a, int64_t shift)
{
	tn_array *flat = tn_reshape(a, 1, &a->size);
	tn_array *rolled = flat ? roll_axis(flat, shift, 0) : NULL;
	tn_array *shaped = tn_reshape(rolled, a->rank, a->shape);
	tn_array_discard(rolled);
	tn_array_discard(flat);
	return shaped;
}

tn_array *tn_roll(const tn_array *a, int n, const int64_t *shifts, const int *axes)
{
	if (!tn_begin(1, &a, "roll"))
		return NULL;
	if (n < 0 || (n && !shifts) || (!axes && n != 1)) {
		tn_runtime_fail(a->runtime, TN_INVALID_ARGUMENT, "roll",
				"n: expected shifts and axes, or 1 shift without axes, found %d",
				n);
		return NULL;
	}
	if (!axes)
		return roll_flat(a, shifts[0]);
	tn_array *rolled = n ? NULL : tn_copy(a);
	for (int i = 0; i < n; i++) {
		int axis = axes[i];
		tn_array *next = tn_axis_check(a, "roll", "axes", &axis)
					 ? NULL
					 : roll_axis(rolled ? rolled : a, shifts[i], axis);
		tn_array_discard(rolled);
		rolled = next;
		if (!next)
			break;
	}
	return rolled;
}
