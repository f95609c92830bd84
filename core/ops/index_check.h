/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Are indices and labels in range?
 */
#ifndef TN_OPS_INDEX_CHECK_H
#define TN_OPS_INDEX_CHECK_H

#include "array/array.h"
#include "device/checks.h"

struct tn_index_range {
	uint32_t operation; /* enum tn_operation */
	const struct tn_check *check;
	int64_t lowest;
	int64_t limit;   /* more than the highest */
	int64_t ignored; /* a value that is in range as well */
};

/* Checks indices of i32 or i64.  Where the host can read them now, TN_INVALID_ARGUMENT names the
 * first one out of range and its position.  On other devices this queues work and does not wait:
 * the next synchronising call reports an index that is out of range (device/checks.h).  Fills
 * runtime->report on failure. */
tn_status tn_indices_in_range(struct tn_runtime *runtime, const struct tn_index_range *range,
			      const tn_array *indices);

/* Integers of any dtype as indices of i32 or i64, which may be the array itself.  Those of u64 that
 * i64 does not hold become its largest number.  In the caller's scope.  TN_DTYPE: others; NULL with
 * the error kept. */
const tn_array *tn_indices_signed(const char *operation, const char *argument,
				  const tn_array *indices);

/* The indices as a compact line, which the caller discards. */
tn_status tn_indices_line(struct tn_runtime *runtime, const tn_array *indices, tn_array **line);

#endif
