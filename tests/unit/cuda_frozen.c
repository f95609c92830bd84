/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * One frozen network in many threads on the simulated CUDA, whose streams are deferred until
 * somebody waits.
 */
#include "cuda_fixture.h"
#include "frozen_cases.h"

static int has_begun; /* the simulation is the process's: later contexts do not begin it anew */

static tn_context *open_next(const char *name)
{
	const char *path = cuda_file();
	struct tn_context_options options = tn_context_defaults();
	tn_context *context = NULL;
	if (!has_begun) {
		has_begun = 1;
		return open_deferred();
	}
	options.backend = name;
	options.plugin_paths = &path;
	options.n_plugin_paths = 1;
	options.log = drop_message;
	assert_ok(tn_context_open(&options, &context, NULL));
	return context;
}

static void close_last(tn_context *context)
{
	has_begun = 0;
	close_cuda(context);
}

static const struct share_backend cuda = {"cuda", open_next, close_last};

static void threads_get_the_same_bits(void **state)
{
	(void)state;
	frozen_in_threads(&cuda, FROZEN_THREADS, 1);
}

static void memory_has_one_copy_of_the_weights(void **state)
{
	(void)state;
	frozen_memory(&cuda);
}

static void a_run_outlives_the_handle(void **state)
{
	(void)state;
	frozen_ends_during_a_run(&cuda);
}

static void a_run_is_cancelled(void **state)
{
	(void)state;
	frozen_is_cancelled(&cuda);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_get_the_same_bits),
		cmocka_unit_test(memory_has_one_copy_of_the_weights),
		cmocka_unit_test(a_run_outlives_the_handle),
		cmocka_unit_test(a_run_is_cancelled),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
