/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The axes of a reduction: the list of a caller, and the shapes that follow from it.
 */
#ifndef TN_OPS_REDUCE_AXES_H
#define TN_OPS_REDUCE_AXES_H

#include "array/array.h"

/* The axes of a reduction as tn_axes_check gives them, and a bit for each in *mask.  The list
 * may be NULL only for TN_ALL_AXES.  TN_INVALID_ARGUMENT, kept. */
tn_status tn_axes_mask(const tn_array *a, const char *operation, int *n, const int *axes,
		       int checked[TN_MAX_RANK], uint32_t *mask);

/* The result's rank and shape; returns the number of elements that are reduced to one. */
int64_t tn_axes_shape(const tn_array *a, uint32_t mask, int keepdims, int *rank,
		      int64_t shape[TN_MAX_RANK]);
/* The array with its reduced axes, `count` elements, as one, the last; recorded. */
tn_array *tn_axes_last(const tn_array *a, uint32_t mask, int64_t count);

#endif
