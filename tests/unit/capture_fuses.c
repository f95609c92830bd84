/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Capture on a backend that compiles a step as a whole (tests/plugins/fuses.c): the interface needs
 * nothing more than capture_end for that.
 */
#include <tenon/capture.h>

#include "mock_fixture.h"

enum { N = 300 };

static tn_context *open_fuses(void)
{
	static char path[4096];
	const char *build = getenv("TENON_BUILD"), *paths = path;
	char relative[4096];
	struct tn_context_options options = tn_context_defaults();
	tn_context *context = NULL;
	snprintf(relative, sizeof(relative), "%s/tests/plugins/.libs/backend_fuses.so",
		 build ? build : ".");
	if (!realpath(relative, path))
		fail_msg("%s is not there", relative);
	set_faults("");
	options.backend = "fuses";
	options.plugin_paths = &paths;
	options.n_plugin_paths = 1;
	assert_ok(tn_context_open(&options, &context, NULL));
	return context;
}

static tn_array *numbers(tn_context *context, double value)
{
	return tn_full(context, TN_F32, 1, (int64_t[]){N}, value);
}

static void assert_all(const tn_array *array, float expected)
{
	float values[N];
	assert_ok(tn_to_host(array, values, sizeof(values)));
	for (int i = 0; i < N; i++)
		assert_true(values[i] == expected);
}

static void assert_report(tn_context *context, const char *expected)
{
	struct tn_report_line line = {.struct_size = sizeof(line)};
	assert_ok(tn_device_report_at(tn_device_current(context), 0, &line));
	assert_string_equal(line.text, expected);
}

static void a_step_of_elements_is_one_pass(void **state)
{
	tn_graph *graph = NULL;
	(void)state;
	tn_context *context = open_fuses();
	tn_array *x = numbers(context, 3), *sum = numbers(context, 0);
	assert_ok(tn_capture_begin(context));
	tn_array *twice = tn_add(x, x);
	tn_array *product = tn_multiply(twice, x);
	assert_ok(tn_add_into(sum, sum, product));
	assert_ok(tn_add_into(sum, sum, x));
	assert_ok(tn_capture_end(context, &graph));
	assert_report(context, "4 calls, passes: 1");
	assert_all(sum, 0);
	assert_ok(tn_graph_replay(graph));
	assert_all(sum, 21);
	assert_all(twice, 6);
	assert_all(product, 18);
	assert_ok(tn_fill(x, 1));
	assert_ok(tn_graph_replay(graph));
	assert_all(sum, 24);
	tn_graph_destroy(graph);
	tn_context_close(context);
}

/* Elements that a call needs in another place than they are written are there before its pass. */
static void what_cannot_be_joined_is_a_pass_of_its_own(void **state)
{
	float values[N];
	tn_graph *graph = NULL;
	(void)state;
	tn_context *context = open_fuses();
	tn_array *x = tn_arange(context, TN_F32, 0, N, 1);
	tn_array *late = tn_slice(x, 0, 1, N, 1), *first = tn_slice(x, 0, 0, N - 1, 1);
	assert_non_null(late);
	assert_non_null(first);
	assert_ok(tn_capture_begin(context));
	assert_ok(tn_add_into(late, late, late));
	tn_array *differences = tn_subtract(late, first);
	assert_ok(tn_capture_end(context, &graph));
	assert_report(context, "2 calls, passes: 2");
	assert_ok(tn_graph_replay(graph));
	assert_ok(tn_to_host(differences, values, (N - 1) * sizeof(*values)));
	for (int i = 0; i < N - 1; i++)
		assert_true(values[i] == 2);
	tn_graph_destroy(graph);
	tn_context_close(context);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_step_of_elements_is_one_pass),
		cmocka_unit_test(what_cannot_be_joined_is_a_pass_of_its_own),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
