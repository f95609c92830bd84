/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Shapes and strides.  Nothing here overflows once tn_shape_check has accepted a shape.
 */
#include "array/shape.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char *tn_shape_print(int rank, const int64_t *shape, char text[TN_SHAPE_TEXT])
{
	size_t length = 1;
	strcpy(text, "(");
	for (int i = 0; i < rank; i++) {
		char number[32];
		int n = snprintf(number, sizeof(number), "%" PRId64 "%s", shape[i],
				 i + 1 < rank ? ", "
				 : rank == 1  ? ","
					      : "");
		if (length + (size_t)n + 5 > TN_SHAPE_TEXT) {
			strcpy(text + length, "...");
			length += 3;
			break;
		}
		memcpy(text + length, number, (size_t)n + 1);
		length += (size_t)n;
	}
	strcpy(text + length, ")");
	return text;
}

tn_status tn_shape_check(struct tn_runtime *runtime, const char *operation, tn_dtype dtype,
			 int rank, const int64_t *shape, int64_t *size)
{
	struct tn_error_info *error = &runtime->report;
	int64_t most = INT64_MAX / 2, count = 1;
	char text[TN_SHAPE_TEXT];
	if (!tn_dtype_size(dtype))
		return tn_fail(error, TN_DTYPE, operation, "dtype: %d is not an element type",
			       dtype);
	if (rank < 0 || rank > TN_MAX_RANK || (rank > 0 && !shape))
		return tn_fail(error, TN_INVALID_ARGUMENT, operation,
			       "rank: expected 0 to %d with a shape, found %d", TN_MAX_RANK, rank);
	for (int i = 0; i < rank; i++) {
		if (shape[i] < 0)
			return tn_fail(error, TN_INVALID_ARGUMENT, operation,
				       "shape[%d]: expected 0 or more, found %" PRId64, i,
				       shape[i]);
	}
	/* The strides of an empty array are bounded as well: count its empty axes as 1. */
	most /= (int64_t)tn_dtype_size(dtype);
	for (int i = 0; i < rank; i++) {
		int64_t length = shape[i] ? shape[i] : 1;
		if (count > most / length)
			return tn_fail(error, TN_LIMIT, operation,
				       "shape: %s has more bytes than can be addressed",
				       tn_shape_print(rank, shape, text));
		count *= length;
	}
	for (int i = 0; i < rank; i++) {
		if (!shape[i])
			count = 0;
	}
	*size = count;
	return TN_OK;
}

int64_t tn_shape_compact(int rank, const int64_t *shape, int64_t *strides)
{
	int64_t stride = 1, size = 1;
	for (int i = rank - 1; i >= 0; i--) {
		strides[i] = stride;
		stride *= shape[i] ? shape[i] : 1;
		size *= shape[i];
	}
	return size;
}

int tn_shape_is_compact(int rank, const int64_t *shape, const int64_t *strides)
{
	int64_t expected = 1;
	for (int i = 0; i < rank; i++) {
		if (!shape[i])
			return 1;
	}
	for (int i = rank - 1; i >= 0; i--) {
		if (shape[i] == 1)
			continue;
		if (strides[i] != expected)
			return 0;
		expected *= shape[i];
	}
	return 1;
}

int tn_shape_is_dense(int rank, const int64_t *shape, const int64_t *strides)
{
	int64_t step = 1, size = 1;
	for (int i = 0; i < rank; i++)
		size *= shape[i];
	/* Each round finds the axis whose stride spans the axes found so far. */
	while (step < size) {
		int axis = 0;
		while (axis < rank && (shape[axis] == 1 || strides[axis] != step))
			axis++;
		if (axis == rank)
			return 0;
		step *= shape[axis];
	}
	return 1;
}

int tn_shape_equal(int rank_a, const int64_t *a, int rank_b, const int64_t *b)
{
	if (rank_a != rank_b)
		return 0;
	for (int i = 0; i < rank_a; i++) {
		if (a[i] != b[i])
			return 0;
	}
	return 1;
}

int tn_shape_broadcast(int *rank, int64_t shape[TN_MAX_RANK], int with_rank, const int64_t *with)
{
	if (with_rank > *rank) {
		int more = with_rank - *rank;
		memmove(shape + more, shape, (size_t)*rank * sizeof(*shape));
		for (int i = 0; i < more; i++)
			shape[i] = 1;
		*rank = with_rank;
	}
	shape += *rank - with_rank;
	for (int i = 0; i < with_rank; i++) {
		if (shape[i] == 1)
			shape[i] = with[i];
		else if (with[i] != 1 && with[i] != shape[i])
			return 0;
	}
	return 1;
}

void tn_shape_broadcast_strides(const tn_array *a, int rank, const int64_t *shape, int64_t *strides)
{
	int more = rank - a->rank;
	for (int i = 0; i < more; i++)
		strides[i] = 0;
	for (int i = 0; i < a->rank; i++)
		strides[more + i] = a->shape[i] == shape[more + i] ? a->strides[i] : 0;
}

void tn_shape_extent(int rank, const int64_t *shape, const int64_t *strides, int64_t *low,
		     int64_t *high)
{
	*low = *high = 0;
	for (int i = 0; i < rank; i++) {
		int64_t reach = (shape[i] - 1) * strides[i];
		if (reach < 0)
			*low += reach;
		else
			*high += reach;
	}
}

/* Sorted by size of stride, each axis must step past the extent of the smaller ones. */
int tn_shape_is_injective(int rank, const int64_t *shape, const int64_t *strides)
{
	int64_t step[TN_MAX_RANK], length[TN_MAX_RANK], reach = 0;
	int n = 0;
	for (int i = 0; i < rank; i++) {
		int64_t stride = strides[i] < 0 ? -strides[i] : strides[i];
		int at = n;
		if (shape[i] == 0)
			return 1;
		if (shape[i] == 1)
			continue;
		for (; at > 0 && step[at - 1] > stride; at--) {
			step[at] = step[at - 1];
			length[at] = length[at - 1];
		}
		step[at] = stride;
		length[at] = shape[i];
		n++;
	}
	for (int i = 0; i < n; i++) {
		if (step[i] <= reach)
			return 0;
		reach += step[i] * (length[i] - 1);
	}
	return 1;
}
