/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * One frozen network in many threads: the same bits, one copy of the weights, in what order all
 * ends, cancelled runs, shapes, refused calls, and host memory that runs out.
 */
#include <sys/wait.h>
#include <unistd.h>

#include "failing_memory.h"
#include "frozen_cases.h"
#include "share_backends.h"

#define N_OF(list) (sizeof(list) / sizeof((list)[0]))

static void run_in_threads(const struct share_backend *backend)
{
	frozen_in_threads(backend, FROZEN_THREADS, 1);
	frozen_in_threads(backend, FROZEN_THREADS, 0);
}

static void threads_get_the_same_bits(void **state)
{
	(void)state;
	share_on_each(run_in_threads);
}

static void memory_has_one_copy_of_the_weights(void **state)
{
	(void)state;
	share_on_each(frozen_memory);
}

static void a_run_outlives_the_handle(void **state)
{
	(void)state;
	share_on_each(frozen_ends_during_a_run);
}

static void a_graph_keeps_the_weights(void **state)
{
	(void)state;
	frozen_is_kept_by_graphs(&(struct share_backend){"mock", open_backend, tn_context_close});
}

static void a_run_is_cancelled(void **state)
{
	(void)state;
	share_on_each(frozen_is_cancelled);
}

static tn_frozen *make_frozen(tn_context *context, int is_repeatable)
{
	tn_module *net = frozen_net(context, frozen_plain, is_repeatable);
	tn_frozen *frozen = tn_frozen_create(net);
	assert_non_null(frozen);
	tn_module_destroy(net);
	return frozen;
}

/* ---- Results ---------------------------------------------------------------------------------*/

static void read_result(const tn_array *y, float values[2 * FROZEN_CLASSES])
{
	assert_ok(tn_to_host(y, values, 2 * FROZEN_CLASSES * sizeof(*values)));
}

/* Into arrays, views of larger ones, and views with other strides; what lies around stays. */
static void a_result_goes_where_it_is_wanted(void **state)
{
	static const int64_t wide[] = {4, FROZEN_CLASSES}, turned[] = {FROZEN_CLASSES, 2};
	float expected[2 * FROZEN_CLASSES], found[2 * FROZEN_CLASSES], around[4 * FROZEN_CLASSES];
	(void)state;
	for (const char *const *name = share_names(); *name; name++) {
		tn_context *context = open_backend(*name);
		tn_module *net = frozen_net(context, frozen_plain, 1);
		tn_array *x = frozen_pictures(context, 2);
		read_result(tn_module_forward(net, x), expected);
		tn_frozen *frozen = tn_frozen_create(net);
		tn_module_destroy(net);
		tn_array *rows = tn_full(context, TN_F32, 2, wide, 7);
		tn_array *results[] = {frozen_result(context, 2), tn_slice(rows, 0, 1, 3, 1),
				       tn_transpose(tn_zeros(context, TN_F32, 2, turned), NULL)};
		for (int round = 0; round < 3; round++) {
			for (size_t k = 0; k < N_OF(results); k++) {
				assert_ok(tn_frozen_run(frozen, x, results[k], NULL));
				read_result(results[k], found);
				assert_memory_equal(found, expected, sizeof(found));
				assert_ok(tn_fill(results[k], 0));
			}
		}
		assert_ok(tn_to_host(rows, around, sizeof(around)));
		for (int k = 0; k < FROZEN_CLASSES; k++)
			assert_true(around[k] == 7 && around[3 * FROZEN_CLASSES + k] == 7);
		tn_frozen_destroy(frozen);
		tn_context_close(context);
	}
}

/* y in the place of x, and beside it. */
static void a_result_may_overlap_its_input(void **state)
{
	float found[4];
	(void)state;
	tn_context *context = open_backend("cpu");
	tn_module *net = tn_module_sequential(context);
	frozen_add(net, tn_module_linear(context, 2, 2, NULL));
	assert_ok(tn_module_build(net));
	struct tn_parameter_view view = {.struct_size = sizeof(view)};
	assert_ok(tn_module_parameter(net, "0.weight", &view));
	assert_ok(tn_assign_host(view.value, (float[]){0, 1, 1, 0}, 4 * sizeof(float)));
	assert_ok(tn_module_parameter(net, "0.bias", &view));
	assert_ok(tn_fill(view.value, 0));
	assert_ok(tn_module_freeze(net));
	tn_frozen *frozen = tn_frozen_create(net);
	tn_module_destroy(net);
	const float values[] = {1, 2, 3, 4};
	for (int i = 0; i < 3; i++) {
		tn_array *x = tn_from_host(context, TN_F32, 2, (int64_t[]){2, 2}, values);
		assert_ok(tn_frozen_run(frozen, x, x, NULL));
		assert_ok(tn_to_host(x, found, sizeof(found)));
		assert_true(found[0] == 2 && found[1] == 1 && found[2] == 4 && found[3] == 3);
	}
	tn_frozen_destroy(frozen);
	tn_context_close(context);
}

/* More than are remembered, again and again. */
static void shapes_come_and_go(void **state)
{
	float expected[12][2 * FROZEN_CLASSES], found[2 * FROZEN_CLASSES];
	(void)state;
	tn_context *context = open_backend("cpu"), *other = open_backend("cpu");
	tn_module *net = frozen_net(context, frozen_plain, 1);
	for (int n = 2; n < 12; n++) {
		tn_array *y = tn_module_forward(net, frozen_pictures(context, n));
		read_result(tn_slice(y, 0, 0, 2, 1), expected[n]);
	}
	tn_frozen *frozen = tn_frozen_create(net);
	tn_module_destroy(net);
	for (int round = 0; round < 3; round++) {
		for (int n = 2; n < 12; n++) {
			tn_context *user = (n + round) % 2 ? context : other;
			tn_array *x = frozen_pictures(user, n), *y = frozen_result(user, n);
			assert_ok(tn_frozen_run(frozen, x, y, NULL));
			read_result(tn_slice(y, 0, 0, 2, 1), found);
			assert_memory_equal(found, expected[n], sizeof(found));
		}
	}
	tn_frozen_destroy(frozen);
	tn_context_close(context);
	tn_context_close(other);
}

/* Two networks in one context; one ends, and its view goes with the next run of the other. */
static void networks_come_and_go(void **state)
{
	(void)state;
	tn_context *context = open_backend("mock");
	tn_frozen *one = make_frozen(context, 1);
	tn_frozen *two = make_frozen(context, 1);
	const tn_array *x = frozen_pictures(context, 2);
	assert_non_null(tn_frozen_forward(one, x));
	assert_non_null(tn_frozen_forward(two, x));
	assert_non_null(tn_runtime_of(context)->replicas);
	tn_frozen_destroy(one);
	assert_non_null(tn_frozen_forward(two, x));
	tn_frozen_destroy(two);
	tn_frozen *three = make_frozen(context, 1);
	assert_non_null(tn_frozen_forward(three, x));
	tn_frozen_destroy(three);
	tn_context_close(context);
}

/* ---- What is refused -------------------------------------------------------------------------*/

static void the_network_is_constant(void **state)
{
	(void)state;
	for (const char *const *name = share_names(); *name; name++) {
		tn_context *context = open_backend(*name);
		tn_module *net = frozen_net(context, frozen_plain, 1);
		tn_frozen *frozen = tn_frozen_create(net);
		for (size_t k = 0; k < tn_module_parameter_count(net); k++) {
			struct tn_parameter_view view = {.struct_size = sizeof(view)};
			assert_ok(tn_module_parameter_at(net, k, &view));
			assert_status(tn_fill(view.value, 0), TN_STATE);
			assert_kept(context, TN_STATE, "constant");
		}
		for (size_t k = 0; k < tn_module_buffer_count(net); k++) {
			struct tn_buffer_view view = {.struct_size = sizeof(view)};
			assert_ok(tn_module_buffer_at(net, k, &view));
			assert_status(tn_fill(view.value, 0), TN_STATE);
			assert_kept(context, TN_STATE, "constant");
		}
		struct tn_parameter_view view = {.struct_size = sizeof(view)};
		assert_ok(tn_module_parameter_at(net, 0, &view));
		tn_array *x = frozen_pictures(context, 2);
		assert_status(tn_frozen_run(frozen, x, view.value, NULL), TN_STATE);
		assert_kept(context, TN_STATE, "constant");
		tn_frozen_destroy(frozen);
		tn_module_destroy(net);
		tn_context_close(context);
	}
}

static void a_network_must_be_frozen_and_copied(void **state)
{
	(void)state;
	tn_context *context = open_backend("reference");
	tn_module *net = frozen_net(context, frozen_plain, 1);
	tn_module_set_training(net, 1);
	assert_refused(context, tn_frozen_create(net), TN_STATE, "frozen_create", "training");
	tn_module_set_training(net, 0);
	tn_module_unfreeze(net);
	assert_refused(context, tn_frozen_create(net), TN_STATE, "frozen_create", "not frozen");
	tn_module_destroy(net);
	net = frozen_chain(context, frozen_layer(context, frozen_plain, 1, 0));
	assert_ok(tn_module_build(net));
	assert_ok(tn_module_freeze(net));
	assert_refused(context, tn_frozen_create(net), TN_UNSUPPORTED, "module_copy",
		       "5: the class Scale has a state");
	/* Nothing was made constant. */
	struct tn_parameter_view view = {.struct_size = sizeof(view)};
	assert_ok(tn_module_parameter_at(net, 0, &view));
	assert_ok(tn_fill(view.value, 0));
	tn_module_destroy(net);
	tn_context_close(context);
}

static void results_and_inputs_are_checked(void **state)
{
	static const int64_t wrong[] = {3, FROZEN_CLASSES}, right[] = {2, FROZEN_CLASSES};
	(void)state;
	for (int is_repeatable = 0; is_repeatable < 2; is_repeatable++) {
		tn_context *context = open_backend("cpu"), *other = open_backend("cpu");
		tn_frozen *frozen = make_frozen(context, is_repeatable);
		tn_array *x = frozen_pictures(context, 2), *y = frozen_result(context, 2);
		const struct {
			const tn_array *x;
			tn_array *y;
			tn_status status;
			const char *words;
		} rows[] = {
			{x, tn_zeros(context, TN_F32, 2, wrong), TN_SHAPE,
			 "y: expected shape (2, 3), found (3, 3)"},
			{x, tn_zeros(context, TN_F64, 2, right), TN_DTYPE,
			 "y: expected f32, found f64"},
			{frozen_result(context, 2), y, TN_SHAPE, ""},
			{x, frozen_result(other, 2), TN_DEVICE, "another context"},
			{x, tn_broadcast_to(tn_zeros(context, TN_F32, 0, NULL), 2, right),
			 TN_INVALID_ARGUMENT, "share memory"},
			{NULL, y, TN_INVALID_ARGUMENT, "x is NULL"},
			{x, NULL, TN_INVALID_ARGUMENT, "y is NULL"},
		};
		for (int round = 0; round < 2; round++) {
			for (size_t i = 0; i < N_OF(rows); i++) {
				assert_status(tn_frozen_run(frozen, rows[i].x, rows[i].y, NULL),
					      rows[i].status);
				assert_kept(context, rows[i].status, rows[i].words);
			}
			assert_ok(tn_frozen_run(frozen, x, y, NULL));
		}
		tn_frozen_destroy(frozen);
		tn_context_close(other);
		tn_context_close(context);
	}
}

/* A child has none of the parent's networks, not even locked ones. */
static void a_forked_child_runs_nothing(void **state)
{
	(void)state;
	tn_context *context = open_backend("mock");
	tn_frozen *frozen = make_frozen(context, 1);
	pid_t child = fork();
	if (!child) {
		tn_context *own = NULL;
		int is_right = !tn_context_open(NULL, &own, NULL) &&
			       !tn_frozen_forward(frozen, frozen_pictures(own, 2)) &&
			       tn_error(own)->status == TN_FORKED;
		tn_context_close(own);
		_exit(!is_right);
	}
	int status;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	tn_frozen_destroy(frozen);
	tn_context_close(context);
}

/* ---- Without memory --------------------------------------------------------------------------*/

static tn_status run_once(tn_module *net, const tn_array *x, tn_array *y)
{
	tn_frozen *frozen = tn_frozen_create(net);
	tn_status status = frozen ? tn_frozen_run(frozen, x, y, NULL) : TN_OUT_OF_MEMORY;
	tn_frozen_destroy(frozen);
	return status;
}

static void without_memory_there_is_an_error(void **state)
{
	(void)state;
	tn_context *context = open_backend("mock"), *other = open_backend("mock");
	tn_module *net = frozen_net(context, frozen_plain, 1);
	tn_array *x = frozen_pictures(other, 2), *y = frozen_result(other, 2);
	assert_ok(run_once(net, x, y));
	int n = 0;
	for (int failed = 1; failed; n++) {
		memory_fails_at(n, 0);
		tn_status status = run_once(net, x, y);
		failed = memory_works() != 0;
		if (status) {
			assert_true(failed);
			assert_status(status, TN_OUT_OF_MEMORY);
		}
		tn_error_clear(context);
		tn_error_clear(other);
	}
	assert_true(n > 100);
	tn_module_destroy(net);
	tn_context_close(context);
	tn_context_close(other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_get_the_same_bits),
		cmocka_unit_test(memory_has_one_copy_of_the_weights),
		cmocka_unit_test(a_run_outlives_the_handle),
		cmocka_unit_test(a_graph_keeps_the_weights),
		cmocka_unit_test(a_run_is_cancelled),
		cmocka_unit_test(a_result_goes_where_it_is_wanted),
		cmocka_unit_test(a_result_may_overlap_its_input),
		cmocka_unit_test(shapes_come_and_go),
		cmocka_unit_test(networks_come_and_go),
		cmocka_unit_test(the_network_is_constant),
		cmocka_unit_test(a_network_must_be_frozen_and_copied),
		cmocka_unit_test(results_and_inputs_are_checked),
		cmocka_unit_test(a_forked_child_runs_nothing),
		cmocka_unit_test(without_memory_there_is_an_error),
	};
	keep_plugin_path();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
