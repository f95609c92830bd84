/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Checkpoints on the mock backend: memory that the host cannot read, deferred work, captured steps.
 */
#include "mock_fixture.h"
#include "trainer_run.h"

static tn_context *open_deferred(void)
{
	setenv("TENON_DETERMINISTIC", "1", 1);
	return open_mock("");
}

static void a_resumed_training_ends_with_the_same_bits(void **state)
{
	(void)state;
	for (int kind = 0; kind < RUN_KINDS; kind++)
		check_resume(open_deferred, kind, 0);
}

static void a_resumed_training_of_captured_steps_ends_with_the_same_bits(void **state)
{
	(void)state;
	for (int kind = 0; kind < RUN_LAMB; kind++)
		check_resume(open_deferred, kind, 1);
}

static void a_resumed_trainer_ends_with_the_same_bits(void **state)
{
	(void)state;
	check_resumed_trainer(open_deferred, TN_CAPTURE_OFF);
	check_resumed_trainer(open_deferred, TN_CAPTURE_ON);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_resumed_training_ends_with_the_same_bits),
		cmocka_unit_test(a_resumed_training_of_captured_steps_ends_with_the_same_bits),
		cmocka_unit_test(a_resumed_trainer_ends_with_the_same_bits),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
