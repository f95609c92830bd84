/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Arrays that contexts of the CUDA backend share or hand over, on the simulated CUDA, whose streams
 * are deferred until somebody waits.
 */
#include "cuda_share.h"

static void threads_read_one_memory(void **state)
{
	(void)state;
	share_between_threads(&share_cuda);
}

static void everything_ends_in_any_order(void **state)
{
	(void)state;
	share_ends_in_any_order(&share_cuda, 7);
}

static void memory_is_free_after_the_work(void **state)
{
	(void)state;
	share_ends_after_the_work(&share_cuda);
}

static void a_graph_keeps_what_it_reads(void **state)
{
	(void)state;
	share_is_kept_by_graphs(&share_cuda);
}

static void memory_is_handed_over_and_back(void **state)
{
	(void)state;
	share_hands_over(&share_cuda);
}

static void no_function_writes_what_is_shared(void **state)
{
	(void)state;
	share_refuses_writers(&share_cuda);
}

static void no_kernel_writes_what_is_shared(void **state)
{
	struct tn_kernel_source source = tn_kernel_source_defaults();
	(void)state;
	tn_context *context = share_cuda.open("cuda");
	tn_array *line = share_line(context, 4);
	tn_shared *shared = tn_share(line);
	source.format = "cuda-c";
	source.text = "extern \"C\" __global__ void set(float *x)\n{\n\tx[0] = 1;\n}\n";
	source.name = "set";
	tn_kernel *kernel = tn_kernel_compile(context, &source);
	assert_non_null(kernel);
	const struct tn_kernel_argument argument = {.array = line};
	assert_status(
		tn_kernel_launch(kernel, (struct tn_kernel_grid){.blocks = {1}}, 1, &argument),
		TN_STATE);
	assert_error(context, TN_STATE, "set",
		     "argument 0, which is not read-only: its memory is shared");
	tn_kernel_destroy(kernel);
	tn_shared_destroy(shared);
	share_cuda.close(context);
}

/* Each in a stream of its own; a third context computes meanwhile. */
static void contexts_capture_at_once(void **state)
{
	tn_context *contexts[3];
	tn_array *x[3], *y[3];
	tn_graph *graphs[2] = {NULL, NULL};
	(void)state;
	for (int i = 0; i < 3; i++) {
		contexts[i] = share_open_cuda("cuda");
		x[i] = tn_full(contexts[i], TN_F32, 1, (int64_t[]){4}, i + 1);
		y[i] = tn_zeros(contexts[i], TN_F32, 1, (int64_t[]){4});
		assert_ok(tn_add_into(y[i], x[i], x[i])); /* loads the kernel */
		assert_ok(tn_synchronize(contexts[i]));
	}
	for (int i = 0; i < 2; i++)
		assert_ok(tn_capture_begin(contexts[i]));
	for (int i = 0; i < 3; i++)
		assert_ok(tn_multiply_into(y[i], y[i], x[i]));
	assert_true(share_sum(y[2]) == 4 * 18.0);
	for (int i = 0; i < 2; i++)
		assert_ok(tn_capture_end(contexts[i], &graphs[i]));
	for (int i = 0; i < 2; i++) {
		assert_true(share_sum(y[i]) == 4 * 2.0 * (i + 1)); /* nothing ran */
		assert_ok(tn_graph_replay(graphs[i]));
		assert_ok(tn_graph_replay(graphs[i]));
		assert_true(share_sum(y[i]) == 4 * 2.0 * (i + 1) * (i + 1) * (i + 1));
	}
	for (int i = 0; i < 2; i++)
		tn_graph_destroy(graphs[i]);
	for (int i = 0; i < 3; i++) {
		tn_array_destroy(x[i]);
		tn_array_destroy(y[i]);
		if (i < 2)
			tn_context_close(contexts[i]);
	}
	share_close_cuda(contexts[2]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_read_one_memory),
		cmocka_unit_test(everything_ends_in_any_order),
		cmocka_unit_test(memory_is_free_after_the_work),
		cmocka_unit_test(a_graph_keeps_what_it_reads),
		cmocka_unit_test(memory_is_handed_over_and_back),
		cmocka_unit_test(no_function_writes_what_is_shared),
		cmocka_unit_test(no_kernel_writes_what_is_shared),
		cmocka_unit_test(contexts_capture_at_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
