/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Norms of whole parameters, of many rows of the arena each; steps beside recorded numbers are in
 * tests/parity.
 */
#include "nn_backends.h"

#include "optim/row_sums.h"
#include "test_context.h"

enum { IN = 37, OUT = 11, ROWS = 4, MOST = 4096 };

/* n layers of IN features, and one of OUT. */
static tn_module *make_net(int n)
{
	tn_module *net = tn_module_sequential(context);
	for (int i = 0; i < n; i++)
		assert_ok(tn_module_sequential_add(net, NULL,
						   tn_module_linear(context, IN, IN, NULL)));
	assert_ok(tn_module_sequential_add(net, NULL, tn_module_linear(context, IN, OUT, NULL)));
	assert_ok(tn_module_build(net));
	return net;
}

static void give_gradients(tn_module *net)
{
	float values[ROWS * IN];
	for (int i = 0; i < ROWS * IN; i++)
		values[i] = (float)(i % 9) - 3;
	tn_module_zero_gradients(net);
	tn_tape *tape = tn_tape_begin(context);
	tn_array *x = tn_from_host(context, TN_F32, 2, (int64_t[]){ROWS, IN}, values);
	tn_array *loss = tn_mean(tn_square(tn_module_forward(net, x)), TN_ALL_AXES, NULL, 0);
	assert_ok(tn_tape_backward(tape, loss, NULL));
	tn_tape_end(tape);
}

static size_t read_array(const tn_array *array, float *values)
{
	size_t n = (size_t)tn_array_size(array);
	assert_true(n <= MOST);
	assert_ok(tn_to_host(array, values, n * sizeof(*values)));
	return n;
}

static double norm(const float *values, size_t n)
{
	double sum = 0;
	for (size_t i = 0; i < n; i++)
		sum += (double)values[i] * (double)values[i];
	return sqrt(sum);
}

/* w - lr trust |w| / |dw| dw.  The norms are sums of up to 1400 squares in f32, whose roundings are
 * independent: their error is far below 1e-5 of a step. */
static void a_step_has_a_part_of_the_norm_of_its_parameter(void **state)
{
	static float before[6][MOST], gradients[6][MOST], after[MOST];
	const double lr = 0.5, trust = 0.25;
	struct tn_parameter_view view = {.struct_size = sizeof(view)};
	(void)state;
	tn_module *net = make_net(2);
	struct tn_lars_options options = tn_lars_defaults();
	options.lr = lr;
	options.trust_coefficient = trust;
	tn_optimizer *lars = tn_lars(net, &options);
	give_gradients(net);
	for (size_t k = 0; k < 6; k++) {
		assert_ok(tn_module_parameter_at(net, k, &view));
		read_array(view.value, before[k]);
		read_array(view.gradient, gradients[k]);
	}
	assert_ok(tn_optimizer_step(lars));
	for (size_t k = 0; k < 6; k++) {
		assert_ok(tn_module_parameter_at(net, k, &view));
		size_t n = read_array(view.value, after);
		double w = norm(before[k], n), d = norm(gradients[k], n);
		double rate = view.rank > 1 ? lr * trust * w / d : lr;
		for (size_t i = 0; i < n; i++) {
			double step = rate * (double)gradients[k][i];
			assert_close(after[i], (double)before[k][i] - step,
				     1e-5 * fabs(step) + 1e-6 * fabs((double)before[k][i]));
		}
	}
	tn_optimizer_destroy(lars);
	tn_module_destroy(net);
}

/* All calls of all operations so far. */
static uint64_t calls(void)
{
	struct tn_ledger_row row = {.struct_size = sizeof(row)};
	uint64_t n = 0;
	for (size_t i = 0; i < tn_ledger_count(context); i++) {
		assert_ok(tn_ledger_at(context, i, &row));
		n += row.native + row.lent + row.composed + row.host;
	}
	return n;
}

static void the_number_of_operations_does_not_depend_on_the_network(void **state)
{
	uint64_t n[2];
	(void)state;
	for (int i = 0; i < 2; i++) {
		tn_module *net = make_net(1 + 6 * i);
		tn_optimizer *lamb = tn_lamb(net, NULL);
		give_gradients(net);
		uint64_t before = calls();
		assert_ok(tn_optimizer_step(lamb));
		n[i] = calls() - before;
		tn_optimizer_destroy(lamb);
		tn_module_destroy(net);
	}
	assert_int_equal(n[1], n[0]);
	/* Three for each of two runs, matrices and vectors; four for the norms. */
	assert_int_equal(n[0], 10);
}

/* LAMB's update needs memory of its own. */
static void a_step_leaves_the_gradients(void **state)
{
	static float before[MOST], after[MOST];
	struct tn_parameter_view view = {.struct_size = sizeof(view)};
	(void)state;
	tn_module *net = make_net(1);
	tn_optimizer *lamb = tn_lamb(net, NULL);
	give_gradients(net);
	assert_ok(tn_module_parameter_at(net, 0, &view));
	size_t n = read_array(view.gradient, before);
	assert_ok(tn_optimizer_step(lamb));
	assert_int_equal(read_array(view.gradient, after), n);
	assert_memory_equal(after, before, n * sizeof(*before));
	tn_optimizer_destroy(lamb);
	tn_module_destroy(net);
}

/* Zero weights, or gradients, have no norm to follow. */
static void a_norm_of_zero_adapts_nothing(void **state)
{
	static float values[MOST], zeros[MOST];
	struct tn_parameter_view view = {.struct_size = sizeof(view)};
	(void)state;
	tn_module *net = make_net(0);
	struct tn_lamb_options options = tn_lamb_defaults();
	options.lr = 0.125;
	tn_optimizer *lamb = tn_lamb(net, &options);
	assert_ok(tn_module_parameter_at(net, 0, &view));
	assert_ok(tn_assign_host(view.value, zeros, IN * OUT * sizeof(float)));
	give_gradients(net);
	assert_ok(tn_optimizer_step(lamb));
	read_array(view.value, values);
	/* Adam's first step is lr, in the direction of the gradient. */
	for (int i = 0; i < IN * OUT; i++)
		assert_true(fabs(fabs((double)values[i]) - 0.125) < 1e-3 || values[i] == 0);
	assert_true(norm(values, IN * OUT) > 0.125);
	tn_optimizer_destroy(lamb);
	tn_module_destroy(net);
}

/* Numbers of three bits, whose sums are exact: weights of one row, of a group and of one more, and
 * of groups of groups. */
static void check_row_sums(tn_context *on)
{
	static const int64_t lengths[] = {1, 256, 257, 70000, 3};
	enum { WEIGHTS = 5, ROWS_OF_ALL = 70517 };
	static float values[2][ROWS_OF_ALL], expected[2][WEIGHTS], found[2][WEIGHTS];
	struct tn_row_sums sums = {0};
	int64_t n_rows[WEIGHTS], at = 0;
	memset(expected, 0, sizeof(expected));
	memcpy(n_rows, lengths, sizeof(lengths));
	for (int w = 0; w < WEIGHTS; w++) {
		for (int64_t i = 0; i < lengths[w]; i++, at++) {
			for (int k = 0; k < 2; k++) {
				values[k][at] = (float)((at * (3 + 2 * k) + w) % 8);
				expected[k][w] += values[k][at];
			}
		}
	}
	assert_int_equal(at, ROWS_OF_ALL);
	assert_ok(tn_scope_begin(on));
	assert_ok(tn_row_sums_open(&sums, on, TN_F32, WEIGHTS, n_rows));
	assert_int_equal(sums.n_levels, 3);
	const int64_t shape[] = {2, ROWS_OF_ALL};
	for (int turn = 0; turn < 2; turn++) {
		tn_array *given = tn_from_host(on, TN_F32, 2, shape, values);
		assert_ok(tn_assign(tn_row_sums_input(&sums), given));
		assert_ok(tn_row_sums_run(&sums, 0));
		tn_array *result = tn_copy(tn_row_sums_result(&sums));
		assert_ok(tn_to_host(result, found, sizeof(found)));
		assert_memory_equal(found, expected, sizeof(expected));
	}
	tn_row_sums_close(&sums);
	tn_scope_end(on, NULL);
}

static void rows_are_summed_by_weight_at_every_depth(void **state)
{
	static const char *const backends[] = {"reference!", "auto", "mock"};
	(void)state;
	for (int i = 0; i < 3; i++) {
		tn_context *on = open_backend(backends[i]);
		check_row_sums(on);
		tn_context_close(on);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_step_has_a_part_of_the_norm_of_its_parameter),
		cmocka_unit_test(the_number_of_operations_does_not_depend_on_the_network),
		cmocka_unit_test(a_step_leaves_the_gradients),
		cmocka_unit_test(a_norm_of_zero_adapts_nothing),
		cmocka_unit_test(rows_are_summed_by_weight_at_every_depth),
	};
	keep_plugin_path();
	return cmocka_run_group_tests(tests, context_setup, context_teardown);
}
