/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Checkpoints on the mock backend: memory that the host cannot read, deferred work, captured steps.
 */
#include "checkpoint_run.h"
#include "mock_fixture.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_resumed_training_ends_with_the_same_bits),
		cmocka_unit_test(a_resumed_training_of_captured_steps_ends_with_the_same_bits),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
