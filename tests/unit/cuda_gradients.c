/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Second derivatives on the CUDA backend.
 */
#include <unistd.h>

#include "cuda_fixture.h"
#include "second_checks.h"

static void second_derivatives_agree_with_the_reference(void **state)
{
	(void)state;
	tn_context *context = open_cuda(NULL);
	/* Each row has some ten kernels of its own. */
	check_second_rows(context, getenv("TENON_TEST_WHOLE") ? 1 : 4);
	tn_context_close(context);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(second_derivatives_agree_with_the_reference),
	};
	if (access(SIMCUDA_REAL "/libnvrtc.so.13", R_OK))
		return TEST_SKIPPED;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
