/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Recorded arrays in several layouts, and exact comparisons with them.
 */
#ifndef TN_TESTS_PARITY_LAYOUTS_H
#define TN_TESTS_PARITY_LAYOUTS_H

#include <tenon/tenon.h>

#include "parity/record.h"
#include "unit/mock_fixture.h"

/* Row-major; column-major; every second element of memory, the first axis backwards. */
enum layout { ROW_MAJOR, COLUMN_MAJOR, GAPS, LAYOUTS };

static inline int is_complex_dtype(tn_dtype dtype)
{
	return dtype == TN_C64 || dtype == TN_C128;
}

static inline tn_array *laid_out(tn_array *a, enum layout layout)
{
	const int rank = tn_array_rank(a);
	int64_t both[TN_MAX_RANK + 1];
	if (layout == COLUMN_MAJOR)
		return tn_transpose(tn_copy(tn_transpose(a, NULL)), NULL);
	if (layout != GAPS || !rank || rank == TN_MAX_RANK)
		return a;
	a = tn_copy(tn_slice(a, 0, INT64_MIN, INT64_MIN, -1));
	memcpy(both, tn_array_shape(a), (size_t)rank * sizeof(*both));
	both[rank] = 2;
	a = tn_copy(tn_broadcast_to(tn_expand_dims(a, rank), rank + 1, both));
	a = tn_squeeze(tn_slice(a, rank, 0, 1, 1), rank);
	return tn_slice(a, 0, INT64_MIN, INT64_MIN, -1);
}

/* A recorded array of that dtype; of a complex one the last axis has the parts. */
static inline tn_array *recorded(tn_context *context, const struct record_array *array,
				 tn_dtype dtype, enum layout layout)
{
	tn_array *a = tn_from_host(context, TN_F64, (int)array->rank, array->shape, array->values);
	if (is_complex_dtype(dtype)) {
		const int last = (int)array->rank - 1;
		a = tn_complex(tn_squeeze(tn_slice(a, last, 0, 1, 1), last),
			       tn_squeeze(tn_slice(a, last, 1, 2, 1), last));
	}
	return laid_out(tn_astype(a, dtype), layout);
}

/* Real numbers, with a last axis of two parts for complex ones. */
static inline tn_array *as_doubles(const tn_array *a)
{
	if (!is_complex_dtype(tn_array_dtype(a)))
		return tn_astype(a, TN_F64);
	const int last = tn_array_rank(a);
	const tn_array *parts[] = {tn_expand_dims(tn_real(a), last),
				   tn_expand_dims(tn_imag(a), last)};
	return tn_astype(tn_concatenate(2, parts, last), TN_F64);
}

/* a's elements, their parts for complex ones, are exactly the recorded numbers. */
static inline void expect_recorded(tn_context *context, const char *words,
				   const struct record_array *array, const tn_array *a)
{
	const tn_array *found = a ? as_doubles(a) : NULL;
	double *values = malloc((array->count + 1) * sizeof(*values));
	if (!found || tn_error(context))
		fail_msg("%s: %s", words, tn_error(context) ? tn_error(context)->text : "NULL");
	if (tn_array_rank(found) != (int)array->rank ||
	    (array->rank &&
	     memcmp(tn_array_shape(found), array->shape, array->rank * sizeof(*array->shape)) != 0))
		fail_msg("%s: another shape", words);
	if (tn_to_host(found, values, array->count * sizeof(*values)))
		fail_msg("%s: %s", words, tn_error(context)->text);
	for (size_t i = 0; i < array->count; i++) {
		if (values[i] != array->values[i])
			fail_msg("%s: y[%zu]: NumPy has %.17g, found %.17g", words, i,
				 array->values[i], values[i]);
	}
	free(values);
}

#endif
