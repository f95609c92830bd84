/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The order of a new array's axes in memory.  Logical shapes never change, only strides:
 *
 *   element by element   the order common to the full-shape inputs, else row-major (NumPy's
 *                        order 'K'); for norms and softmax the order of their input
 *   convolution, its     the layout that the device prefers
 *   input gradient
 *   pooling              that of its input; for its gradient that of the index, if any
 *   all others           row-major
 */
#ifndef TN_OPS_LAYOUT_H
#define TN_OPS_LAYOUT_H

#include <string.h>

#include "array/array.h"

/* Images (N, C, H, W) with adjacent channels and no gaps.  Where C, or H and W, are 1, an array may
 * have channels last and be row-major as well. */
int tn_layout_has_channels_last(const tn_array *a);
static inline int tn_layout_is_channels_last(const tn_array *a)
{
	return !a->contiguous && tn_layout_has_channels_last(a);
}

/* Do both have no gaps and one order of elements?  Their shapes are equal. */
static inline int tn_array_lie_alike(const tn_array *a, const tn_array *b)
{
	if (a->contiguous || b->contiguous)
		return a->contiguous && b->contiguous;
	return a->dense &&
	       memcmp(a->strides, b->strides, (size_t)a->rank * sizeof(*a->strides)) == 0;
}

/* Does the device prefer images with channels last? */
static inline int tn_layout_prefers_channels_last(const struct tn_device *device)
{
	return device->description.preferred_layout == TN_LAYOUT_NHWC;
}

/* New arrays, like tn_array_make.  In the order that n arrays, each of the given rank,
 * have in common: */
tn_array *tn_array_make_common(struct tn_runtime *runtime, tn_dtype dtype, int rank,
			       const int64_t *shape, uint32_t n, const tn_array *const *arrays);
/* The same, of the shape that the arrays broadcast to, in the order of those that are not
 * broadcast; NULL with runtime->report filled. */
tn_array *tn_array_make_broadcast(struct tn_runtime *runtime, const char *operation, tn_dtype dtype,
				  uint32_t n, const tn_array *const *arrays);
/* of a's shape and order: */
tn_array *tn_array_make_like(const tn_array *a, tn_dtype dtype);
/* the same on another device: */
tn_array *tn_array_make_on(struct tn_device *device, const tn_array *a);
/* images, channels last or row-major: */
tn_array *tn_array_make_images(struct tn_runtime *runtime, struct tn_device *device, tn_dtype dtype,
			       const int64_t shape[4], int channels_last);

#endif
