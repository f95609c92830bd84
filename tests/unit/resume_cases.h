/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Trainings that are stopped, and continue from their checkpoints, on the backend of the program.
 */
#ifndef TN_TESTS_RESUME_CASES_H
#define TN_TESTS_RESUME_CASES_H

#include "trainer_run.h"

/* What the program tests: bit k of the masks is optimizer k of checkpoint_run.h. */
struct resume_subject {
	tn_context *(*open)(void);
	uint32_t eager, captured;
};

static const struct resume_subject subject;

static void check_kinds(uint32_t kinds, int is_captured)
{
	for (int kind = 0; kind < RUN_KINDS; kind++) {
		if (kinds >> kind & 1)
			check_resume(subject.open, kind, is_captured);
	}
}

static void a_resumed_training_ends_with_the_same_bits(void **state)
{
	(void)state;
	check_kinds(subject.eager, 0);
}

static void a_resumed_training_of_captured_steps_ends_with_the_same_bits(void **state)
{
	(void)state;
	check_kinds(subject.captured, 1);
}

static void a_resumed_trainer_ends_with_the_same_bits(void **state)
{
	(void)state;
	check_resumed_trainer(subject.open, TN_CAPTURE_OFF);
	check_resumed_trainer(subject.open, TN_CAPTURE_ON);
}

static int run_resume_cases(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_resumed_training_ends_with_the_same_bits),
		cmocka_unit_test(a_resumed_training_of_captured_steps_ends_with_the_same_bits),
		cmocka_unit_test(a_resumed_trainer_ends_with_the_same_bits),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
