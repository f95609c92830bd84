/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Scatter with a mode, on backends that have it.
 */
#ifndef TN_OPS_SCATTER_H
#define TN_OPS_SCATTER_H

#include "array/array.h"

/* Has the device's backend the slot? */
int tn_can_scatter(const tn_array *out);

/* out[i, indices[j], k] combined with a[i, j, k] by mode (TN_SCATTER_...), with i over the axes
 * before `axis` and k over those after, in one call of the device's own backend.  indices, i32 or
 * i64, have one axis; out of range they change nothing.  `a` has the dtype of `out`, and shares no
 * memory with it.  TN_UNSUPPORTED: the backend does not do it; nothing is changed, and no error is
 * kept.  Other errors are kept. */
tn_status tn_scatter(tn_array *out, const tn_array *indices, int axis, const tn_array *a,
		     uint32_t mode);

#endif
