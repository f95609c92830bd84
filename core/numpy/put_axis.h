/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Values written where a line of numbers says, along one axis.
 */
#ifndef TN_NUMPY_PUT_AXIS_H
#define TN_NUMPY_PUT_AXIS_H

#include <tenon/index.h>

#include "array/array.h"

struct tn_put {
	const char *operation;
	tn_array *target; /* each element has an address of its own; no tape tracks it */
	int axis;
	/* i32 or i64, one axis, 0 or more; where one is out of range, nothing is written. */
	const tn_array *numbers;
	int is_unique; /* no number is there twice */
	/* Of the target's dtype and shape, but for the axis, which has an element for each number;
	 * apart from the target. */
	const tn_array *values;
	enum tn_index_mode mode;
};

/* target[.., numbers[j], ..] takes up values[.., j, ..].  In the innermost scope, with temporaries;
 * errors are kept. */
tn_status tn_put_run(const struct tn_put *put);

/* Checks that `a` may be written to and that `values`, unless it is NULL, is not tracked. */
tn_status tn_put_check(const char *operation, const tn_array *a, const tn_array *values);
/* The elements of `a` in a line: a view if strides allow it, else a copy, which tn_line_return
 * copies back.  Untracked; NULL with the error kept. */
tn_array *tn_line_borrow(const char *operation, tn_array *a);
tn_status tn_line_return(tn_array *a, tn_array *line);

/* `values`, row-major, converted to a dtype, in a line of n, which begins anew as often as needed;
 * there is one at least. */
tn_array *tn_values_cycle(const char *operation, const tn_array *values, tn_dtype dtype, int64_t n);
/* The argument of that name, converted, as a view of that shape; leading axes of length 1 may be
 * too many. */
tn_array *tn_values_fit(const char *operation, const char *argument, const tn_array *values,
			tn_dtype dtype, int rank, const int64_t *shape);

#endif
