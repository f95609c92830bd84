/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Scans in either direction, which gradients are made of.
 */
#ifndef TN_OPS_SCAN_H
#define TN_OPS_SCAN_H

#include "array/array.h"

/* The scan of <tenon/backend.h> with a TN_REDUCE_ combiner, in the type that tn_cumsum or tn_cummax
 * has; not recorded.  Errors are kept. */
tn_array *tn_scan(const tn_array *a, int axis, uint32_t combiner, int is_reverse, int is_exclusive);

#endif
