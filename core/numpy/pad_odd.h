/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Odd reflections: what is reflected is turned around the edge too.
 */
#ifndef TN_NUMPY_PAD_ODD_H
#define TN_NUMPY_PAD_ODD_H

#include "array/array.h"

/* `even` is a, extended along an axis by even reflections, `before` elements at the front; `period`
 * is the distance between the edges at which it is reflected.  A new array, recorded; NULL: an
 * array is NULL, or the error is kept. */
tn_array *tn_pad_odd(const tn_array *a, const tn_array *even, int axis, int64_t before,
		     int64_t period);

#endif
