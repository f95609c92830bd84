/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Views with any strides, as long as they stay inside the storage.
 */
#include <tenon/manipulate.h>

#include <inttypes.h>

#include "array/make.h"
#include "array/shape.h"

/* Do all elements lie in the storage?  Lengths of 1 have no step. */
static tn_status check_extent(const tn_array *a, int rank, const int64_t *shape,
			      const int64_t *strides)
{
	const struct tn_storage *storage = a->storage;
	const int64_t n = (int64_t)(storage->block.size / tn_dtype_size(a->dtype));
	int64_t low = a->offset, high = low;
	char of[TN_SHAPE_TEXT], by[TN_SHAPE_TEXT];
	int fits = 1;
	for (int i = 0; i < rank && fits; i++) {
		int64_t reach;
		if (shape[i] == 1)
			continue;
		fits = !__builtin_mul_overflow(shape[i] - 1, strides[i], &reach) &&
		       !__builtin_add_overflow(reach < 0 ? low : high, reach,
					       reach < 0 ? &low : &high);
	}
	if (fits && low >= 0 && high < n)
		return TN_OK;
	return tn_fail(&a->runtime->report, TN_INVALID_ARGUMENT, "as_strided",
		       "strides: shape %s with strides %s from element %" PRId64
		       " on leaves the storage of %" PRId64 " elements",
		       tn_shape_print(rank, shape, of), tn_shape_print(rank, strides, by),
		       a->offset, n);
}

tn_array *tn_as_strided(const tn_array *a, int rank, const int64_t *shape, const int64_t *strides)
{
	struct tn_runtime *runtime = tn_begin(1, &a, "as_strided");
	int64_t own[TN_MAX_RANK], size;
	if (!runtime)
		return NULL;
	tn_status status = tn_shape_check(runtime, "as_strided", a->dtype, rank, shape, &size);
	if (!status && rank && !strides)
		status = tn_fail(&runtime->report, TN_INVALID_ARGUMENT, "as_strided",
				 "strides is NULL");
	if (!status && tn_wants_record(runtime, 1, &a))
		status = tn_fail(&runtime->report, TN_STATE, "as_strided",
				 "a: a tape is recording and this array has a gradient, which "
				 "as_strided does not have: use tn_slice, tn_diagonal or "
				 "tn_sliding_window_view");
	if (!status && size)
		status = check_extent(a, rank, shape, strides);
	if (status)
		return tn_end(runtime, status, NULL);
	/* Strides that are not read are those of a compact array. */
	tn_shape_compact(rank, shape, own);
	for (int i = 0; i < rank && size; i++)
		if (shape[i] > 1)
			own[i] = strides[i];
	return tn_end(runtime, TN_OK, tn_array_view(a, rank, shape, own, a->offset));
}
