/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Operands and results of recorded NumPy calls, in any dtype: compact operands and strided ones.
 */
#ifndef TN_TESTS_PARITY_NUMPY_H
#define TN_TESTS_PARITY_NUMPY_H

#include <float.h>

#include <tenon/tenon.h>

#include "check.h"
#include "parity/layouts.h"

/* ---- Operands --------------------------------------------------------------------------------*/

/* The same elements elsewhere in memory; an array of rank 0 as it is. */
static inline tn_array *numpy_strided(const tn_array *a)
{
	const int last = tn_array_rank(a) - 1;
	if (last < 0 || !tn_array_size(a))
		return tn_copy(a);
	tn_array *turned = tn_copy(tn_transpose(tn_slice(a, last, INT64_MIN, INT64_MIN, -1), NULL));
	tn_array *twice = tn_expand_dims(turned, last + 1);
	const tn_array *both[] = {twice, twice};
	tn_array *gaps = tn_slice(tn_concatenate(2, both, last + 1), last + 1, 0, 1, 1);
	return tn_slice(tn_transpose(tn_squeeze(gaps, last + 1), NULL), last, INT64_MIN, INT64_MIN,
			-1);
}

/* An operand of the case; NULL: it has none of that name. */
static inline tn_array *numpy_array(tn_context *context, const struct record *record,
				    const char *name, tn_dtype dtype, int is_strided)
{
	const struct record_array *array = record_array(record, name);
	if (!array)
		return NULL;
	tn_array *made = recorded(context, array, dtype, ROW_MAJOR);
	return is_strided ? numpy_strided(made) : made;
}

/* ---- Results ---------------------------------------------------------------------------------*/

/* What the functions' own roundings may add up to, of the largest number involved. */
static inline double numpy_tolerance(tn_dtype dtype)
{
	switch (dtype) {
	case TN_F16:
		return 1e-3;
	case TN_F32:
	case TN_C64:
		return 16 * FLT_EPSILON;
	case TN_F64:
	case TN_C128:
		return 16 * DBL_EPSILON;
	default:
		return 0;
	}
}

/* Is number i NaN, or of a complex number one of its parts?  Division by a real number makes both
 * NaN in NumPy, and one here. */
static inline int numpy_is_nan(const double *values, size_t i, tn_dtype dtype)
{
	if (is_complex_dtype(dtype))
		return isnan(values[i & ~(size_t)1]) || isnan(values[i | 1]);
	return isnan(values[i]);
}

static inline void numpy_expect(tn_context *context, const struct record *record, const char *name,
				const tn_array *found, tn_dtype dtype)
{
	const struct record_array *array = record_array(record, name);
	const char *layer = record->layer;
	double largest = 1, *values = malloc((array->count + 1) * sizeof(*values));
	if (tn_error(context))
		fail_msg("%s: %s: %s", layer, tn_error(context)->operation,
			 tn_error(context)->text);
	if (tn_array_dtype(found) != dtype)
		fail_msg("%s: expected %s, found %s", layer, tn_dtype_name(dtype),
			 tn_dtype_name(tn_array_dtype(found)));
	const tn_array *wide = as_doubles(found);
	assert_int_equal(tn_array_rank(wide), array->rank);
	for (uint32_t i = 0; i < array->rank; i++)
		assert_int_equal(tn_array_shape(wide)[i], array->shape[i]);
	assert_ok(tn_to_host(wide, values, array->count * sizeof(*values)));
	for (size_t i = 0; i < array->count; i++)
		largest = isfinite(array->values[i]) ? fmax(largest, fabs(array->values[i]))
						     : largest;
	for (size_t i = 0; i < array->count; i++) {
		double expected = array->values[i];
		const int is_number = !numpy_is_nan(array->values, i, dtype);
		if (is_number == !numpy_is_nan(values, i, dtype) &&
		    (!is_number || values[i] == expected ||
		     fabs(values[i] - expected) <= numpy_tolerance(dtype) * largest))
			continue;
		fail_msg("%s: %s[%zu]: NumPy has %.17g, found %.17g (%s)", layer, name, i, expected,
			 values[i], tn_dtype_name(dtype));
	}
	free(values);
}

#endif
