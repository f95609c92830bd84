/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Copies of arrays between two devices, on any backend.
 */
#ifndef TN_TESTS_PEER_CASES_H
#define TN_TESTS_PEER_CASES_H

#include <tenon/tenon.h>

#include "device/transfer.h"
#include "stream_cases.h"

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

/* An array of the current device, of the memory that was given back last. */
static inline tn_array *numbers_again(tn_context *context, const struct tn_block *block,
				      double value)
{
	tn_array *again = numbers(context, value);
	assert_non_null(again);
	assert_int_equal(again->storage->block.buffer, block->buffer);
	assert_int_equal(again->storage->block.offset, block->offset);
	return again;
}

/* The source is freed in its own stream, and its memory used again, before the copy out of it in
 * another stream has run. */
static inline void check_source_in_another_stream(tn_context *context)
{
	tn_device *first = tn_context_device(context, 0);
	tn_stream *side = tn_stream_create(first);
	for (int i = 0; i < 4; i++) {
		tn_array *x = numbers(context, 7 + i);
		const struct tn_block block = x->storage->block;
		order_streams(first, NULL, side);
		assert_ok(tn_stream_push(side));
		tn_array *there = tn_to(x, tn_context_device(context, 1));
		assert_ok(tn_stream_pop(first));
		tn_array_destroy(x);
		tn_array *again = numbers_again(context, &block, -1);
		assert_true(first_of(again) == -1);
		assert_true(first_of(there) == (float)(7 + i));
		tn_array_destroy(again);
	}
	tn_stream_destroy(side);
}

/* The same for the destination, which another stream fills. */
static inline void check_destination_in_another_stream(tn_context *context)
{
	tn_device *first = tn_context_device(context, 0), *second = tn_context_device(context, 1);
	tn_array *x = numbers(context, 7);
	assert_ok(tn_device_set_current(context, second));
	tn_stream *side = tn_stream_create(second);
	for (int i = 0; i < 4; i++) {
		tn_array *there = numbers(context, i);
		const struct tn_block block = there->storage->block;
		order_streams(second, NULL, side);
		assert_ok(tn_stream_push(side));
		assert_ok(tn_device_copy_peer(second, &block, first, &x->storage->block, 0,
					      PEER_N * sizeof(float), NULL));
		assert_ok(tn_stream_pop(second));
		tn_array_destroy(there);
		tn_array *again = numbers_again(context, &block, -1);
		assert_true(first_of(again) == -1);
		assert_ok(tn_stream_synchronize(side));
		assert_true(first_of(again) == -1);
		tn_array_destroy(again);
	}
	tn_stream_destroy(side);
}

/* ---- The tests -------------------------------------------------------------------------------*/

typedef void peer_case(tn_context *context);

/* The program's: runs the case on each of its contexts, which have two devices. */
static void check_peers(peer_case *check);

static void memory_is_given_back_while_the_copy_waits(void **state)
{
	(void)state;
	check_peers(check_memory_given_back);
}

static void memory_is_not_used_again_before_another_stream_has_copied(void **state)
{
	(void)state;
	check_peers(check_source_in_another_stream);
	check_peers(check_destination_in_another_stream);
}

#endif
