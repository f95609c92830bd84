/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Indices of any integer dtype, and the rule for those that are out of range.
 */
#ifndef TN_NUMPY_INDEX_BOUNDS_H
#define TN_NUMPY_INDEX_BOUNDS_H

#include <tenon/index.h>

#include "array/array.h"
#include "ops/index_check.h"

/* i64, in the shape of `indices`: each from 0 to length - 1, by the rule of enum tn_bounds.  In
 * TN_RAISE those from `lowest` (-length or 0) on are in range; one that is not is reported, and out
 * of range in the result.  `argument` is the name of `indices`; check has the other words of
 * errors.  NULL with the error kept. */
tn_array *tn_index_bounded(const struct tn_check *check, const char *argument,
			   const tn_array *indices, int64_t lowest, int64_t length,
			   uint32_t bounds);

#endif
