/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Trainings that are killed by SIGKILL at random moments, on the CUDA backend, on the simulated
 * CUDA with deferred streams, with captured steps and without.
 */
#include "cuda_fixture.h"
#include "killed_run.h"

static tn_context *open_backend(const char *backend)
{
	(void)backend;
	return open_deferred();
}

static void it_ends_with_the_same_bytes(void **state)
{
	(void)state;
	for (int recipe = 0; recipe < KILLED_RECIPES; recipe++)
		check_killed("cuda", recipe, TN_CAPTURE_ON, 3);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_ends_with_the_same_bytes),
	};
	setenv("TENON_DETERMINISTIC", "1", 1);
	return argc > 1 ? killed_main(argv, open_backend)
			: cmocka_run_group_tests(tests, NULL, NULL);
}
