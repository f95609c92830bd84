/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Augmented batches have the same bits on every backend and with any number of threads.
 */
#include "loader_bits.h"
#include "nn_backends.h"

static const char *backend;

static tn_context *open_it(void)
{
	return open_backend(backend);
}

static void batches_have_the_same_bits_on_every_backend(void **state)
{
	static const char *const backends[] = {"reference!", "auto", "mock"};
	(void)state;
	for (int i = 0; i < 3; i++) {
		backend = backends[i];
		check_loader_bits(open_it);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(batches_have_the_same_bits_on_every_backend),
	};
	keep_plugin_path();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
