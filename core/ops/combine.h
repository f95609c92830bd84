/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Reductions and scans by any function of two arrays, composed of recorded functions: gradients
 * follow from its own.  Arrays are made in the caller's scope, with temporaries; NULL in gives NULL
 * out, and errors are kept.
 */
#ifndef TN_OPS_COMBINE_H
#define TN_OPS_COMBINE_H

#include "array/array.h"

/* x and y of one shape, in that shape and their dtype. */
typedef tn_array *(*tn_combiner)(const void *user, const tn_array *x, const tn_array *y);

/* All elements along the last axis, at least one, which stays with length 1.  In pairs: the
 * function is associative and commutative.  One element is a itself. */
tn_array *tn_combine_all(tn_array *a, tn_combiner combine, const void *user);

/* y[0] = a[0], y[j] = f(y[j - 1], a[j]) along an axis, counted from 0.  In pairs: the function is
 * associative.  At most one element, or none: a view of a. */
tn_array *tn_combine_scan(tn_array *a, int axis, tn_combiner combine, const void *user);
/* The same from first to last. */
tn_array *tn_combine_scan_in_order(tn_array *a, int axis, tn_combiner combine, const void *user);

#endif
