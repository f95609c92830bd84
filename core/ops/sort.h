/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Orders by several keys, of which complex numbers have two.
 */
#ifndef TN_OPS_SORT_H
#define TN_OPS_SORT_H

#include "array/array.h"

/* i64: the indices that sort the lines of `key`, complex too, along an axis; equal elements stay in
 * the order that `earlier`, NULL or another key's indices of that shape, has them in.  Nothing
 * is recorded.  In the caller's scope, with temporaries; NULL: key is NULL, or the error is
 * kept. */
tn_array *tn_order_by(const char *operation, const tn_array *earlier, const tn_array *key, int axis,
		      int descending);

#endif
