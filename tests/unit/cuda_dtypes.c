/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * f16 and bf16 on the CUDA backend, in its own kernels or widened, and products of integers.
 */
#include <unistd.h>

#include "cuda_fixture.h"
#include "half_checks.h"
#include "integer_checks.h"

static void operations_on_halves_agree_with_f32(void **state)
{
	(void)state;
	tn_context *context = open_cuda(NULL);
	check_all_halves(context);
	tn_context_close(context);
}

static void products_of_integers_wrap(void **state)
{
	(void)state;
	tn_context *context = open_cuda(NULL);
	check_integer_products(context);
	tn_context_close(context);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(operations_on_halves_agree_with_f32),
		cmocka_unit_test(products_of_integers_wrap),
	};
	if (access(SIMCUDA_REAL "/libnvrtc.so.13", R_OK))
		return TEST_SKIPPED;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
