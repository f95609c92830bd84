/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The launches of a step on the CUDA backend.
 */
#include <unistd.h>

#include "cuda_fixture.h"
#include "launch_checks.h"
#include "simcuda.h"

static uint64_t launches(tn_context *context)
{
	assert_ok(tn_synchronize(context));
	return simcudaCounts().launches;
}

static void a_step_launches_as_much_for_many_parameters_as_for_few(void **state)
{
	(void)state;
	tn_context *context = open_cuda(NULL);
	check_launches(context, launches);
	tn_context_close(context);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_step_launches_as_much_for_many_parameters_as_for_few),
	};
	if (access(SIMCUDA_REAL "/libnvrtc.so.13", R_OK))
		return TEST_SKIPPED;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
