/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Orders by several keys, of complex numbers, and at a few places only.
 */
#include <inttypes.h>
#include <tenon/manipulate.h>
#include <tenon/order.h>

#include "array/make.h"
#include "array/shape.h"
#include "base/dtype.h"
#include "base/memory.h"
#include "numpy/host_indices.h"
#include "numpy/select_kth.h"
#include "ops/axes.h"
#include "ops/sort.h"

/* ---- Several keys ----------------------------------------------------------------------------*/

static tn_status check_keys(int n, const tn_array *const *keys, int *axis)
{
	const tn_array *first = keys[0];
	char expected[TN_SHAPE_TEXT], found[TN_SHAPE_TEXT];
	for (int i = 1; i < n; i++) {
		if (!tn_shape_equal(keys[i]->rank, keys[i]->shape, first->rank, first->shape))
			return tn_runtime_fail(first->runtime, TN_SHAPE, "lexsort",
					       "keys[%d]: expected shape %s of keys[0], found %s",
					       i, tn_array_text(first, expected),
					       tn_array_text(keys[i], found));
	}
	return tn_axis_check(first, "lexsort", "axis", axis);
}

tn_array *tn_lexsort(int n, const tn_array *const *keys, int axis)
{
	tn_array *order = NULL;
	if (n < 1 || !keys)
		return NULL;
	struct tn_runtime *runtime = tn_begin((uint32_t)n, keys, "lexsort");
	if (!runtime || check_keys(n, keys, &axis) || tn_scope_begin(runtime->context))
		return NULL;
	for (int i = 0; i < n; i++) {
		order = tn_order_by("lexsort", order, keys[i], axis, 0);
		if (!order)
			break;
	}
	return tn_scope_end(runtime->context, order);
}

static tn_dtype complex_of(tn_dtype dtype)
{
	const int is_wide = tn_dtype_size(dtype) > 2 && dtype != TN_F32 && dtype != TN_C64;
	return is_wide ? TN_C128 : TN_C64;
}

tn_array *tn_sort_complex(const tn_array *a)
{
	int axis = -1;
	struct tn_runtime *runtime = tn_begin(1, &a, "sort_complex");
	if (!runtime || tn_axis_check(a, "sort_complex", "a", &axis) ||
	    tn_scope_begin(runtime->context))
		return NULL;
	const tn_array *sorted = tn_sort(a, axis, 0);
	return tn_scope_end(runtime->context, tn_astype(sorted, complex_of(a->dtype)));
}

/* ---- A few places ----------------------------------------------------------------------------*/

/* The n places, counted from 0; NULL with the error kept. */
static int64_t *check_places(const tn_array *a, const char *operation, int n, const int64_t *kth,
			     int axis)
{
	const int64_t length = a->shape[axis];
	if (n < 1 || !kth) {
		tn_runtime_fail(a->runtime, TN_INVALID_ARGUMENT, operation,
				"kth: expected a list of n >= 1 places, found n %d%s", n,
				kth ? "" : " and NULL");
		return NULL;
	}
	int64_t *places = tn_host_indices_make(a->runtime, operation, n);
	if (!places)
		return NULL;
	for (int i = 0; i < n; i++) {
		places[i] = kth[i] < 0 ? kth[i] + length : kth[i];
		if (places[i] >= 0 && places[i] < length)
			continue;
		tn_runtime_fail(a->runtime, TN_INVALID_ARGUMENT, operation,
				"kth[%d]: expected %" PRId64 " to %" PRId64
				" along axis %d, found %" PRId64,
				i, -length, length - 1, axis, kth[i]);
		tn_mem_free(places);
		return NULL;
	}
	return places;
}

static tn_array *partitioned(const tn_array *a, int n, const int64_t *places, int axis)
{
	const int last = -1;
	if (tn_is_complex(a->dtype))
		return tn_sort(a, axis, 0);
	const tn_array *chosen =
		tn_select_kth("partition", tn_moveaxis(a, 1, &axis, &last), n, places);
	return tn_contiguous(tn_moveaxis(chosen, 1, &last, &axis));
}

tn_array *tn_partition(const tn_array *a, int n, const int64_t *kth, int axis)
{
	tn_array *out = NULL;
	struct tn_runtime *runtime = tn_begin(1, &a, "partition");
	if (!runtime || tn_scope_begin(runtime->context))
		return NULL;
	const tn_array *view = tn_axis_or_flat(a, "partition", &axis);
	int64_t *places = view ? check_places(view, "partition", n, kth, axis) : NULL;
	if (places)
		out = partitioned(view, n, places, axis);
	tn_mem_free(places);
	return tn_scope_end(runtime->context, out);
}

tn_array *tn_argpartition(const tn_array *a, int n, const int64_t *kth, int axis)
{
	struct tn_runtime *runtime = tn_begin(1, &a, "argpartition");
	if (!runtime || tn_scope_begin(runtime->context))
		return NULL;
	const tn_array *view = tn_axis_or_flat(a, "argpartition", &axis);
	int64_t *places = view ? check_places(view, "argpartition", n, kth, axis) : NULL;
	tn_array *order = places ? tn_argsort(view, axis, 0) : NULL;
	tn_mem_free(places);
	return tn_scope_end(runtime->context, order);
}
