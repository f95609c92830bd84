/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Trainings that are killed by SIGKILL at random moments, on the CPU backend, the built-in one and
 * the mock device, with captured steps and without.
 */
#include "killed_run.h"
#include "mock_fixture.h"

static tn_context *open_backend(const char *backend)
{
	tn_context *context = NULL;
	if (!strcmp(backend, "mock"))
		return open_mock("");
	struct tn_context_options options = tn_context_defaults();
	options.backend = *backend ? backend : NULL;
	assert_ok(tn_context_open(&options, &context, NULL));
	return context;
}

static void on_the_best_backend_it_ends_with_the_same_bytes(void **state)
{
	(void)state;
	for (int recipe = 0; recipe < KILLED_RECIPES; recipe++)
		check_killed("", recipe, TN_CAPTURE_AUTO, 20);
}

static void on_the_reference_backend_it_ends_with_the_same_bytes(void **state)
{
	(void)state;
	for (int recipe = 0; recipe < KILLED_RECIPES; recipe++)
		check_killed("reference!", recipe, TN_CAPTURE_AUTO, 7);
}

static void on_a_device_that_captures_it_ends_with_the_same_bytes(void **state)
{
	(void)state;
	for (int recipe = 0; recipe < KILLED_RECIPES; recipe++)
		check_killed("mock", recipe, TN_CAPTURE_ON, 7);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(on_the_best_backend_it_ends_with_the_same_bytes),
		cmocka_unit_test(on_the_reference_backend_it_ends_with_the_same_bytes),
		cmocka_unit_test(on_a_device_that_captures_it_ends_with_the_same_bytes),
	};
	setenv("TENON_DETERMINISTIC", "1", 1);
	return argc > 1 ? killed_main(argv, open_backend)
			: cmocka_run_group_tests(tests, NULL, NULL);
}
