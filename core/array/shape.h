/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Arithmetic of shapes and strides.
 */
#ifndef TN_ARRAY_SHAPE_H
#define TN_ARRAY_SHAPE_H

#include "array/array.h"

/* Room for any shape as text: "(3, 4)". */
#define TN_SHAPE_TEXT 192

/* Writes a shape as text, cut where it does not fit; returns `text`. */
const char *tn_shape_print(int rank, const int64_t *shape, char text[TN_SHAPE_TEXT]);
static inline const char *tn_array_text(const tn_array *a, char text[TN_SHAPE_TEXT])
{
	return tn_shape_print(a->rank, a->shape, text);
}

/* Is this a shape that an array can have?  TN_INVALID_ARGUMENT: rank or a length out of range;
 * TN_LIMIT: more bytes than fit 63 bits.  *size: elements. */
tn_status tn_shape_check(struct tn_runtime *runtime, const char *operation, tn_dtype dtype,
			 int rank, const int64_t *shape, int64_t *size);

/* The strides of a compact row-major array; returns the number of elements. */
int64_t tn_shape_compact(int rank, const int64_t *shape, int64_t *strides);
int tn_shape_is_compact(int rank, const int64_t *shape, const int64_t *strides);
/* Do the elements fill one contiguous range of memory, with positive strides in some order of
 * axes? */
int tn_shape_is_dense(int rank, const int64_t *shape, const int64_t *strides);
int tn_shape_equal(int rank_a, const int64_t *a, int rank_b, const int64_t *b);

/* Widens {rank, shape} by another shape by NumPy's rule; 0 when they are incompatible. */
int tn_shape_broadcast(int *rank, int64_t shape[TN_MAX_RANK], int with_rank, const int64_t *with);
/* The strides of `a` broadcast to a compatible shape. */
void tn_shape_broadcast_strides(const tn_array *a, int rank, const int64_t *shape,
				int64_t *strides);

/* The lowest and highest element offsets that a view of at least one element touches, relative to
 * its first element. */
void tn_shape_extent(int rank, const int64_t *shape, const int64_t *strides, int64_t *low,
		     int64_t *high);
/* Does every element have an address of its own?  May be 0 although it does, when axes interleave
 * in an unusual way. */
int tn_shape_is_injective(int rank, const int64_t *shape, const int64_t *strides);

/* Maps -rank <= *axis < rank to 0 <= *axis < rank; 0 when it is out of range. */
static inline int tn_axis_normal(int *axis, int rank)
{
	if (*axis < -rank || *axis >= rank)
		return 0;
	if (*axis < 0)
		*axis += rank;
	return 1;
}

#endif
