/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Augmented batches on the CUDA backend, on the simulated CUDA with deferred streams.
 */
#include "cuda_fixture.h"
#include "loader_bits.h"

static void batches_have_the_same_bits_as_without_a_device(void **state)
{
	(void)state;
	check_loader_bits(open_deferred);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(batches_have_the_same_bits_as_without_a_device),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
