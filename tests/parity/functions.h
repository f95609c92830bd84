/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Functions of the array layer against recorded PyTorch numbers, forward and backward, in f32 and
 * f64, on the built-in backend, on the preferred one (TENON_BACKEND) and on the mock.
 *
 * Tolerance: inputs are the same f32 numbers on both sides, so that only the functions' own
 * roundings count, up to some 30 of the largest number involved.
 */
#ifndef TN_TESTS_PARITY_FUNCTIONS_H
#define TN_TESTS_PARITY_FUNCTIONS_H

#include <float.h>

#include <tenon/tenon.h>

#include "parity/record.h"
#include "unit/mock_fixture.h"

struct trial {
	tn_context *context;
	const struct record *record;
	tn_dtype dtype;
};

/* The recorded array; NULL: the case has none. */
static inline tn_array *trial_array(const struct trial *t, const char *name, tn_dtype dtype)
{
	const struct record_array *array = record_array(t->record, name);
	if (!array)
		return NULL;
	tn_array *wide =
		tn_from_host(t->context, TN_F64, (int)array->rank, array->shape, array->values);
	return tn_astype(wide, dtype);
}

static inline double trial_number(const struct trial *t)
{
	const struct record_array *array = record_array(t->record, "number");
	assert_non_null(array);
	return array->values[0];
}

/* The case's integer; `absent` if it has none. */
static inline int64_t trial_int(const struct trial *t, const char *name, int64_t absent)
{
	const int64_t *values = record_ints(t->record, name);
	return values ? values[0] : absent;
}

static inline void trial_expect(const struct trial *t, const char *name, const tn_array *found)
{
	const struct record_array *array = record_array(t->record, name);
	double epsilon = t->dtype == TN_F32 ? FLT_EPSILON : DBL_EPSILON, largest = 1;
	double *values = malloc(array->count * sizeof(*values));
	if (tn_error(t->context))
		fail_msg("%s: %s", t->record->layer, tn_error(t->context)->text);
	if (!found)
		fail_msg("%s: %s is NULL", t->record->layer, name);
	assert_int_equal(tn_array_dtype(found), t->dtype);
	assert_int_equal(tn_array_rank(found), array->rank);
	for (uint32_t i = 0; i < array->rank; i++)
		assert_int_equal(tn_array_shape(found)[i], array->shape[i]);
	assert_ok(tn_to_host(tn_astype(found, TN_F64), values, array->count * sizeof(*values)));
	for (size_t i = 0; i < array->count; i++)
		largest = isinf(array->values[i]) ? largest : fmax(largest, fabs(array->values[i]));
	for (size_t i = 0; i < array->count; i++) {
		double expected = array->values[i];
		if ((isnan(expected) && isnan(values[i])) || values[i] == expected ||
		    fabs(values[i] - expected) <= 32 * epsilon * largest)
			continue;
		fail_msg("%s, reduction %d: %s[%zu]: PyTorch has %.17g, found %.17g (%s)",
			 t->record->layer, (int)trial_int(t, "reduction", -1), name, i, expected,
			 values[i], tn_dtype_name(t->dtype));
	}
	free(values);
}

/* Runs `f` on the case in both dtypes. */
static inline void trial_run(tn_context *context, const struct record *record,
			     void (*f)(const struct trial *t))
{
	struct trial t = {.context = context, .record = record, .dtype = TN_F32};
	f(&t);
	t.dtype = TN_F64;
	f(&t);
}

/* NULL: the preferred backend. */
static inline tn_context *trial_open(const char *backend)
{
	struct tn_context_options options = tn_context_defaults();
	options.backend = backend;
	struct tn_error_info error;
	tn_context *context = NULL;
	if (tn_context_open(&options, &context, &error))
		fail_msg("%s", error.text);
	return context;
}

#endif
