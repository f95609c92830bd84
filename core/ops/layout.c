/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Chooses the order of a new array's axes in memory, and makes the array with these strides.
 */
#include "ops/layout.h"

#include "array/shape.h"

/* ---- Asking ----------------------------------------------------------------------------------*/

int tn_layout_has_channels_last(const tn_array *a)
{
	static const int last_to_first[] = {1, 3, 2, 0}; /* C, W, H, N */
	int64_t expected = 1;
	if (a->rank != 4)
		return 0;
	for (int i = 0; i < 4; i++) {
		int axis = last_to_first[i];
		if (a->shape[axis] != 1 && a->strides[axis] != expected)
			return 0;
		expected *= a->shape[axis];
	}
	return 1;
}

/* ---- The common order ------------------------------------------------------------------------*/

static int64_t step_of(const tn_array *a, int axis)
{
	if (a->shape[axis] == 1)
		return 0;
	return a->strides[axis] < 0 ? -a->strides[axis] : a->strides[axis];
}

/* Does axis `inner` lie outside `outer` in all arrays that order the two? */
static int is_swapped(int outer, int inner, uint32_t n, const tn_array *const *arrays)
{
	int swapped = 0;
	for (uint32_t k = 0; k < n; k++) {
		int64_t a = step_of(arrays[k], outer), b = step_of(arrays[k], inner);
		if (!a || !b || a == b)
			continue;
		if (a > b)
			return 0;
		swapped = 1;
	}
	return swapped;
}

/* order[i]: the i-th axis, outermost first.  Axes keep their order where arrays disagree. */
static void common_order(int rank, uint32_t n, const tn_array *const *arrays, int *order)
{
	for (int i = 0; i < rank; i++) {
		int at = i;
		for (; at > 0 && is_swapped(order[at - 1], i, n, arrays); at--)
			order[at] = order[at - 1];
		order[at] = i;
	}
}

static void set_order(tn_array *array, const int *order)
{
	int64_t stride = 1;
	for (int i = array->rank - 1; i >= 0; i--) {
		array->strides[order[i]] = stride;
		stride *= array->shape[order[i]] ? array->shape[order[i]] : 1;
	}
	array->contiguous = tn_shape_is_compact(array->rank, array->shape, array->strides);
}

static int are_contiguous(uint32_t n, const tn_array *const *arrays)
{
	for (uint32_t k = 0; k < n; k++) {
		if (!arrays[k]->contiguous)
			return 0;
	}
	return 1;
}

/* ---- Making ----------------------------------------------------------------------------------*/

tn_array *tn_array_make_common(struct tn_runtime *runtime, tn_dtype dtype, int rank,
			       const int64_t *shape, uint32_t n, const tn_array *const *arrays)
{
	tn_array *made = tn_array_make(runtime, tn_array_home(arrays[0]), dtype, rank, shape);
	int order[TN_MAX_RANK];
	if (!made || are_contiguous(n, arrays))
		return made;
	common_order(rank, n, arrays, order);
	set_order(made, order);
	return made;
}

tn_array *tn_array_make_broadcast(struct tn_runtime *runtime, const char *operation, tn_dtype dtype,
				  uint32_t n, const tn_array *const *arrays)
{
	const tn_array *whole[TN_PROGRAM_MAX_INPUTS];
	int64_t shape[TN_MAX_RANK], size;
	uint32_t n_whole = 0;
	int rank = arrays[0]->rank;
	char so_far[TN_SHAPE_TEXT], next[TN_SHAPE_TEXT];
	memcpy(shape, arrays[0]->shape, (size_t)rank * sizeof(*shape));
	for (uint32_t i = 1; i < n; i++) {
		int64_t before[TN_MAX_RANK];
		int before_rank = rank;
		memcpy(before, shape, (size_t)rank * sizeof(*shape));
		if (!tn_shape_broadcast(&rank, shape, arrays[i]->rank, arrays[i]->shape)) {
			tn_fail(&runtime->report, TN_SHAPE, operation,
				"shapes %s and %s do not broadcast",
				tn_shape_print(before_rank, before, so_far),
				tn_array_text(arrays[i], next));
			return NULL;
		}
	}
	if (tn_shape_check(runtime, operation, dtype, rank, shape, &size))
		return NULL;
	for (uint32_t i = 0; i < n; i++) {
		if (tn_shape_equal(arrays[i]->rank, arrays[i]->shape, rank, shape))
			whole[n_whole++] = arrays[i];
	}
	if (!n_whole)
		return tn_array_make(runtime, tn_array_home(arrays[0]), dtype, rank, shape);
	return tn_array_make_common(runtime, dtype, rank, shape, n_whole, whole);
}

tn_array *tn_array_make_like(const tn_array *a, tn_dtype dtype)
{
	return tn_array_make_common(a->runtime, dtype, a->rank, a->shape, 1, &a);
}

tn_array *tn_array_make_on(struct tn_device *device, const tn_array *a)
{
	tn_array *made = tn_array_make(a->runtime, device, a->dtype, a->rank, a->shape);
	int order[TN_MAX_RANK];
	if (made && !a->contiguous) {
		common_order(a->rank, 1, &a, order);
		set_order(made, order);
	}
	return made;
}

tn_array *tn_array_make_images(struct tn_runtime *runtime, struct tn_device *device, tn_dtype dtype,
			       const int64_t shape[4], int channels_last)
{
	static const int order[] = {0, 2, 3, 1};
	tn_array *made = tn_array_make(runtime, device, dtype, 4, shape);
	if (made && channels_last)
		set_order(made, order);
	return made;
}
