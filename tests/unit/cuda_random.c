/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Random numbers on the CUDA backend, on the simulated CUDA with deferred streams.
 */
#include "cuda_fixture.h"
#include "random_bits.h"

static void numbers_have_the_bits_of_other_backends(void **state)
{
	(void)state;
	check_random_bits(open_deferred);
}

static void replays_draw_what_the_steps_would(void **state)
{
	(void)state;
	tn_context *context = open_deferred();
	check_random_capture(context, 1);
	check_random_not_captured(context);
	tn_context_close(context);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_have_the_bits_of_other_backends),
		cmocka_unit_test(replays_draw_what_the_steps_would),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
