/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Copies, conversions and fills.  Nothing is recorded, and errors are left in runtime->report, but
 * for tn_array_copied and tn_array_filled.
 */
#ifndef TN_OPS_COPY_H
#define TN_OPS_COPY_H

#include "array/array.h"
#include "ops/number.h"

/* out[...] = a, broadcast and converted; counted as `operation`. */
tn_status tn_copy_run(struct tn_runtime *runtime, uint32_t operation, tn_array *out,
		      const tn_array *a);
tn_status tn_fill_run(struct tn_runtime *runtime, uint32_t operation, tn_array *out, double value);
/* The same with the bits of a value of out's dtype. */
tn_status tn_fill_bits(struct tn_runtime *runtime, uint32_t operation, tn_array *out,
		       const struct tn_value_bits *bits);

/* A new array of one value, on the device of `a`, or NULL with the error kept. */
tn_array *tn_array_filled(const tn_array *a, tn_dtype dtype, int rank, const int64_t *shape,
			  double value);

/* The same of a number, which an error calls `argument` (number.h). */
tn_array *tn_array_filled_number(const tn_array *a, const char *operation, const char *argument,
				 tn_dtype dtype, int rank, const int64_t *shape, tn_number number);

/* Copies `a` into `out`, which the caller has just made (NULL: the report has the cause), converted
 * and recorded.  Returns out, or NULL with the error kept. */
tn_array *tn_array_copied(const tn_array *a, tn_array *out, const char *operation);

/* A compact copy of `a` in the innermost scope, or NULL with runtime->report filled. */
tn_array *tn_array_compact(struct tn_runtime *runtime, const tn_array *a);

#endif
