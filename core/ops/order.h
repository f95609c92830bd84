/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Orders by several keys, of which complex numbers have two.
 */
#ifndef TN_OPS_ORDER_H
#define TN_OPS_ORDER_H

#include "array/array.h"

/* i64: the indices that sort the lines of `key` along an axis, counted from 0; equal elements stay
 * in the order that `earlier`, NULL or another key's indices of that shape, has them in.  Nothing
 * is recorded.  In the caller's scope, with temporaries; NULL: key is NULL, or the error is
 * kept. */
tn_array *tn_order_by(const char *operation, const tn_array *earlier, const tn_array *key,
		      int axis);

#endif
