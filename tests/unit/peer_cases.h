/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Copies of arrays between two devices, on any backend.
 */
#ifndef TN_TESTS_PEER_CASES_H
#define TN_TESTS_PEER_CASES_H

#include <tenon/tenon.h>

#include "check.h"

enum { PEER_N = 5000 };

static inline tn_array *numbers(tn_context *context, double value)
{
	return tn_full(context, TN_F32, 1, (int64_t[]){PEER_N}, value);
}

/* The value of all elements. */
static inline float first_of(const tn_array *array)
{
	static float values[PEER_N];
	assert_ok(tn_to_host(array, values, sizeof(values)));
	for (int i = 1; i < PEER_N; i++)
		assert_true(values[i] == values[0]);
	return values[0];
}

/* Memory freed immediately is reused on both sides, before anything has run. */
static inline void check_memory_given_back(tn_context *context)
{
	enum { TIMES = 20 };
	tn_array *there[TIMES];
	tn_device *first = tn_context_device(context, 0), *second = tn_context_device(context, 1);
	for (int i = 0; i < TIMES; i++) {
		tn_array *x = numbers(context, i);
		/* The destination's memory was used for something else before. */
		assert_ok(tn_device_set_current(context, second));
		tn_array_destroy(numbers(context, -1));
		assert_ok(tn_device_set_current(context, first));
		there[i] = tn_to(x, second);
		tn_array_destroy(x);
		tn_array_destroy(tn_to(there[i], first));
		tn_array_destroy(numbers(context, -2));
	}
	for (int i = 0; i < TIMES; i++)
		assert_true(first_of(there[i]) == (float)i);
}

#endif
