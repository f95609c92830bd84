/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * NumPy's results of calls that are easily wrong in the last digit, on the simulated CUDA with
 * deferred streams.
 */
#include "cuda_fixture.h"
#include "numpy_cases.h"

static void cuda_gives_the_results_of_numpy(void **state)
{
	(void)state;
	tn_context *context = open_deferred();
	check_numpy_cases(context);
	tn_context_close(context);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cuda_gives_the_results_of_numpy),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
