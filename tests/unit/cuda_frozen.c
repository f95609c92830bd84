/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * One frozen network in many threads on the simulated CUDA, whose streams are deferred until
 * somebody waits.
 */
#include "cuda_share.h"
#include "frozen_cases.h"

static void threads_get_the_same_bits(void **state)
{
	(void)state;
	frozen_in_threads(&share_cuda, FROZEN_THREADS, 1);
}

static void memory_has_one_copy_of_the_weights(void **state)
{
	(void)state;
	frozen_memory(&share_cuda);
}

static void a_run_outlives_the_handle(void **state)
{
	(void)state;
	frozen_ends_during_a_run(&share_cuda);
}

static void a_graph_keeps_the_weights(void **state)
{
	(void)state;
	frozen_is_kept_by_graphs(&share_cuda);
}

static void a_run_is_cancelled(void **state)
{
	(void)state;
	frozen_is_cancelled(&share_cuda);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_get_the_same_bits),
		cmocka_unit_test(memory_has_one_copy_of_the_weights),
		cmocka_unit_test(a_run_outlives_the_handle),
		cmocka_unit_test(a_graph_keeps_the_weights),
		cmocka_unit_test(a_run_is_cancelled),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
