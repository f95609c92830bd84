/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Axes as arguments.
 */
#ifndef TN_OPS_AXES_H
#define TN_OPS_AXES_H

#include "array/array.h"

/* An axis of a, counted from 0: the error is kept, and names the argument. */
tn_status tn_axis_check(const tn_array *a, const char *operation, const char *argument, int *axis);

/* n different axes, counted from 0, or all of them for TN_ALL_AXES: *n becomes their number. */
tn_status tn_axes_check(const tn_array *a, const char *operation, const char *argument, int *n,
			const int *axes, int checked[TN_MAX_RANK]);

/* The product of lengths of the axes from `first` to `end` - 1. */
int64_t tn_axes_size(const tn_array *a, int first, int end);

/* TN_AXIS_NONE: *axis becomes 0, and the result is a view or copy of one axis; else it is an axis
 * of a, counted from 0, and the result a view of a.  NULL with the error kept. */
tn_array *tn_axis_or_flat(const tn_array *a, const char *operation, int *axis);

#endif
