/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The operations of a step; cuda_launches.c counts those of the simulated device.
 */
#include "launch_checks.h"
#include "nn_backends.h"

static void on(const char *backend)
{
	tn_context *context = open_backend(backend);
	check_launches(context, NULL);
	tn_context_close(context);
}

static void the_reference_runs_one_program_for_all_parameters(void **state)
{
	(void)state;
	on("reference!");
}

static void the_preferred_backend_runs_one_program_for_all_parameters(void **state)
{
	(void)state;
	on("auto");
}

static void the_mock_runs_one_program_for_all_parameters(void **state)
{
	(void)state;
	on("mock");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_reference_runs_one_program_for_all_parameters),
		cmocka_unit_test(the_preferred_backend_runs_one_program_for_all_parameters),
		cmocka_unit_test(the_mock_runs_one_program_for_all_parameters),
	};
	keep_plugin_path();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
