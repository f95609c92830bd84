/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The tests of stream_cases.h, on contexts of the program's choice.
 */
#ifndef TN_TESTS_STREAM_TESTS_H
#define TN_TESTS_STREAM_TESTS_H

#include "stream_cases.h"

typedef void stream_case(tn_context *context);

/* The program's: runs the case on each of its contexts. */
static void check_streams(stream_case *check);

static void events_order_a_producer_and_a_consumer(void **state)
{
	(void)state;
	check_streams(check_producer_and_consumer);
}

static void memory_is_not_used_again_before_another_stream_has_read_it(void **state)
{
	(void)state;
	check_streams(check_memory_that_another_stream_reads);
	check_streams(check_memory_of_other_calls);
}

static void pushed_streams_are_a_stack(void **state)
{
	(void)state;
	check_streams(check_the_stack);
}

static void events_are_reached_in_order(void **state)
{
	(void)state;
	check_streams(check_events);
}

#endif
