/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Cases of two contexts that share a device, which hold on every backend.
 */
#ifndef TN_TESTS_SHARED_CASES_H
#define TN_TESTS_SHARED_CASES_H

#include <pthread.h>
#include <tenon/tenon.h>

#include "array/runtime.h"
#include "check.h"
#include "device/device.h"

enum { SHARED_N = 300, SHARED_ROUNDS = 40 };

/* Do both contexts have one instance and one open device, and streams of their own? */
static inline void check_one_device(tn_context *one, tn_context *two)
{
	const struct tn_device *a = tn_device_current(one), *b = tn_device_current(two);
	assert_string_equal(a->name, b->name);
	assert_ptr_equal(a->backend->plugin.shared, b->backend->plugin.shared);
	assert_ptr_equal(a->backend->plugin.instance, b->backend->plugin.instance);
	assert_non_null(a->handle);
	assert_ptr_equal(a->handle, b->handle);
	assert_null(a->stream);
	assert_int_equal(b->stream != NULL, !a->synchronous);
}

/* The sum of 1 + 2 + ... + SHARED_N, again and again, with memory that comes and goes; NULL: it
 * was right each time. */
static inline void *shared_sums(void *argument)
{
	tn_context *context = argument;
	for (int round = 0; round < SHARED_ROUNDS; round++) {
		double sum = 0;
		const int64_t shape[] = {SHARED_N};
		if (tn_scope_begin(context))
			return argument;
		tn_array *line = tn_ones(context, TN_F32, 1, shape);
		tn_array *sums = tn_cumsum(line, 0);
		tn_array *twice = tn_add(sums, sums);
		tn_status status = tn_item(tn_sum(twice, TN_ALL_AXES, NULL, 0), &sum);
		tn_scope_end(context, NULL);
		if (status || sum != SHARED_N * (SHARED_N + 1.0))
			return argument;
	}
	return NULL;
}

/* Both contexts compute at once; returns when they have. */
static inline void check_two_threads(tn_context *one, tn_context *two)
{
	pthread_t thread;
	void *failed;
	assert_int_equal(pthread_create(&thread, NULL, shared_sums, two), 0);
	assert_null(shared_sums(one));
	assert_int_equal(pthread_join(thread, &failed), 0);
	assert_null(failed);
}

/* All of it; closes both, the one given as `first` before the other. */
static inline void check_shared(tn_context *one, tn_context *two, tn_context *first)
{
	check_one_device(one, two);
	check_two_threads(one, two);
	tn_context_close(first);
	assert_null(shared_sums(first == one ? two : one));
	tn_context_close(first == one ? two : one);
}

#endif
