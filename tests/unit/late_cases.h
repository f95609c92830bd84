/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Indices and labels out of range, reported when the host waits, on the backend of the program.
 */
#ifndef TN_TESTS_LATE_CASES_H
#define TN_TESTS_LATE_CASES_H

#include "index_checks.h"

/* What the program tests. */
struct late_subject {
	tn_context *(*open)(void);
	void (*close)(tn_context *context);
	enum report takes; /* when tn_take reports */
};

static const struct late_subject subject;

static void indices_out_of_range_are_reported(void **state)
{
	(void)state;
	tn_context *context = subject.open();
	check_index_errors(context, subject.takes, LATER);
	check_label_in_training(context, LATER);
	subject.close(context);
}

static void a_label_of_a_later_replay_is_reported(void **state)
{
	(void)state;
	tn_context *context = subject.open();
	check_label_in_replay(context);
	subject.close(context);
}

/* Replays wait for the device now and then; the error is theirs then. */
static void replays_alone_report_it_in_the_end(void **state)
{
	(void)state;
	const int32_t bad = 3;
	tn_graph *graph = NULL;
	tn_status status = TN_OK;
	int n = 0;
	tn_context *context = subject.open();
	tn_array *x = tn_ones(context, TN_F32, 2, (int64_t[]){1, 3});
	tn_array *label = tn_from_host(context, TN_I32, 1, (int64_t[]){1}, &bad);
	assert_ok(tn_capture_begin(context));
	tn_array *y = tn_multiply(x, tn_random_uniform(context, 2, (int64_t[]){1, 3}, 1, 2));
	assert_non_null(tn_cross_entropy(y, label, NULL));
	assert_ok(tn_capture_end(context, &graph));
	while (!status && n++ < 100)
		status = tn_graph_replay(graph);
	assert_status(status, TN_INVALID_ARGUMENT);
	assert_true(n > 1);
	check_index_error(context, "cross_entropy", "label 3");
	tn_graph_destroy(graph);
	subject.close(context);
}

static int run_late_cases(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(indices_out_of_range_are_reported),
		cmocka_unit_test(a_label_of_a_later_replay_is_reported),
		cmocka_unit_test(replays_alone_report_it_in_the_end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
