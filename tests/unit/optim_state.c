/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * What an optimizer keeps for each parameter: settings of groups, steps, and arrays of state.
 */
#include <tenon/tenon.h>

#include "check.h"
#include "test_context.h"

enum { IN = 3, HIDDEN = 5, OUT = 2, ROWS = 4 };

static tn_module *make_net(void)
{
	tn_module *net = tn_module_sequential(context);
	tn_random_set_state(context, (struct tn_random_state){.seed = 3, .stream = 1});
	assert_ok(tn_module_sequential_add(net, "a", tn_module_linear(context, IN, HIDDEN, NULL)));
	assert_ok(tn_module_sequential_add(net, "b", tn_module_tanh(context)));
	assert_ok(tn_module_sequential_add(net, "c", tn_module_linear(context, HIDDEN, OUT, NULL)));
	assert_ok(tn_module_build(net));
	return net;
}

static void step(tn_module *net, tn_optimizer *optimizer)
{
	float values[ROWS * IN];
	for (int i = 0; i < ROWS * IN; i++)
		values[i] = (float)(i % 7) - 3;
	assert_ok(tn_scope_begin(context));
	tn_module_zero_gradients(net);
	tn_tape *tape = tn_tape_begin(context);
	tn_array *x = tn_from_host(context, TN_F32, 2, (int64_t[]){ROWS, IN}, values);
	tn_array *loss = tn_mean(tn_square(tn_module_forward(net, x)), TN_ALL_AXES, NULL, 0);
	assert_ok(tn_tape_backward(tape, loss, NULL));
	tn_tape_end(tape);
	assert_ok(tn_optimizer_step(optimizer));
	tn_scope_end(context, NULL);
}

/* ---- Groups ----------------------------------------------------------------------------------*/

static void settings_add_up(void **state)
{
	static const struct {
		const char *name;
		double lr, decay;
	} expected[] = {{"a.weight", 0.2, 0.3},
			{"a.bias", 0.2, 0},
			{"c.weight", 0.1, 0.5},
			{"c.bias", 0.1, 0}};
	struct tn_optimizer_parameter_view view = {.struct_size = sizeof(view)};
	(void)state;
	tn_module *net = make_net();
	struct tn_adamw_options adamw = tn_adamw_defaults();
	adamw.lr = 0.1;
	adamw.weight_decay = 0.3;
	tn_optimizer *optimizer = tn_adamw(net, &adamw);
	struct tn_group_options group = tn_group_defaults();
	group.names = "a.*";
	group.lr_factor = 2;
	assert_ok(tn_optimizer_set_group(optimizer, &group));
	group = tn_group_defaults();
	group.names = "[cd]*t";
	group.weight_decay = 0.5;
	assert_ok(tn_optimizer_set_group(optimizer, &group));
	group = tn_group_defaults();
	group.max_rank = 1;
	group.weight_decay = 0;
	assert_ok(tn_optimizer_set_group(optimizer, &group));
	step(net, optimizer);
	for (size_t i = 0; i < 4; i++) {
		assert_ok(tn_optimizer_parameter_at(optimizer, i, &view));
		assert_string_equal(view.name, expected[i].name);
		assert_close(view.lr, expected[i].lr, 1e-15);
		assert_close(view.weight_decay, expected[i].decay, 0);
		assert_int_equal(view.steps, 1);
	}
	assert_status(tn_optimizer_parameter_at(optimizer, 4, &view), TN_INVALID_ARGUMENT);
	assert_contains(tn_error(context)->text, "below 4, found 4");
	tn_error_clear(context);
	tn_optimizer_destroy(optimizer);
	tn_module_destroy(net);
}

/* Calls of the operation since the ledger was cleared. */
static uint64_t calls_of(const char *operation)
{
	struct tn_ledger_row row = {.struct_size = sizeof(row)};
	uint64_t n = 0;
	for (size_t i = 0; i < tn_ledger_count(context); i++) {
		assert_ok(tn_ledger_at(context, i, &row));
		if (!strcmp(row.operation, operation))
			n = row.native + row.lent + row.composed + row.host;
	}
	return n;
}

/* Weights lie before biases: with and without decay are two runs. */
static void a_step_runs_one_program_for_all_parameters_with_equal_settings(void **state)
{
	(void)state;
	tn_module *net = make_net();
	struct tn_lion_options lion = tn_lion_defaults();
	lion.lr = 0.1;
	lion.weight_decay = 0.3;
	tn_optimizer *optimizer = tn_lion(net, &lion);
	uint64_t before = calls_of("lion");
	step(net, optimizer);
	assert_int_equal(calls_of("lion") - before, 1);
	struct tn_group_options group = tn_group_defaults();
	group.max_rank = 1;
	group.weight_decay = 0;
	assert_ok(tn_optimizer_set_group(optimizer, &group));
	step(net, optimizer);
	assert_int_equal(calls_of("lion") - before, 3);
	tn_optimizer_destroy(optimizer);
	tn_module_destroy(net);
}

static void refuse_group(tn_optimizer *optimizer, const struct tn_group_options *options,
			 tn_status status, const char *words)
{
	assert_status(tn_optimizer_set_group(optimizer, options), status);
	assert_contains(tn_error(context)->text, words);
	tn_error_clear(context);
}

static void bad_groups_are_refused(void **state)
{
	(void)state;
	tn_module *net = make_net();
	tn_optimizer *optimizer = tn_adam(net, NULL);
	struct tn_group_options group = tn_group_defaults();
	group.names = "d.*";
	group.weight_decay = 0;
	refuse_group(optimizer, &group, TN_NOT_FOUND, "no parameter of 4 has a name like 'd.*'");
	group = tn_group_defaults();
	group.names = "a.*";
	refuse_group(optimizer, &group, TN_INVALID_ARGUMENT,
		     "expected lr_factor or weight_decay, found neither");
	group = tn_group_defaults();
	group.max_rank = -2;
	refuse_group(optimizer, &group, TN_INVALID_ARGUMENT,
		     "max_rank: expected at least 0, found -2");
	group = tn_group_defaults();
	group.lr_factor = -1;
	refuse_group(optimizer, &group, TN_INVALID_ARGUMENT,
		     "lr_factor: expected a number of at least 0, found -1");
	group = tn_group_defaults();
	group.weight_decay = -1;
	refuse_group(optimizer, &group, TN_INVALID_ARGUMENT,
		     "weight_decay: expected a number of at least 0, found -1");
	tn_optimizer_destroy(optimizer);
	tn_module_destroy(net);
}

/* ---- State -----------------------------------------------------------------------------------*/

enum { MOST = 64 };

static tn_optimizer *amsgrad(tn_module *net)
{
	struct tn_adamw_options adamw = tn_adamw_defaults();
	adamw.lr = 0.01;
	adamw.amsgrad = 1;
	return tn_adamw(net, &adamw);
}

static tn_optimizer *nadam(tn_module *net)
{
	struct tn_nadam_options options = tn_nadam_defaults();
	options.lr = 0.01;
	return tn_nadam(net, &options);
}

static tn_optimizer *momentum(tn_module *net)
{
	struct tn_sgd_options sgd = tn_sgd_defaults();
	sgd.lr = 0.01;
	sgd.momentum = 0.9;
	sgd.dampening = 0.5;
	return tn_sgd(net, &sgd);
}

static tn_optimizer *centered(tn_module *net)
{
	struct tn_rmsprop_options rmsprop = tn_rmsprop_defaults();
	rmsprop.lr = 0.01;
	rmsprop.momentum = 0.9;
	rmsprop.centered = 1;
	return tn_rmsprop(net, &rmsprop);
}

static tn_optimizer *lamb(tn_module *net)
{
	struct tn_lamb_options options = tn_lamb_defaults();
	options.lr = 0.01;
	options.adapt_vectors = 1;
	return tn_lamb(net, &options);
}

/* Copies values, states and steps. */
static void restore(tn_module *to_net, tn_optimizer *to, const tn_module *from_net,
		    tn_optimizer *from)
{
	float values[MOST];
	assert_int_equal(tn_optimizer_state_count(to), tn_optimizer_state_count(from));
	for (size_t i = 0; i < tn_module_parameter_count(from_net); i++) {
		struct tn_parameter_view a = {.struct_size = sizeof(a)},
					 b = {.struct_size = sizeof(b)};
		struct tn_optimizer_parameter_view setting = {.struct_size = sizeof(setting)};
		assert_ok(tn_module_parameter_at(from_net, i, &a));
		assert_ok(tn_module_parameter_at(to_net, i, &b));
		size_t size = (size_t)tn_array_size(a.value) * sizeof(float);
		assert_true(size <= sizeof(values));
		assert_ok(tn_to_host(a.value, values, size));
		assert_ok(tn_assign_host(b.value, values, size));
		assert_ok(tn_optimizer_parameter_at(from, i, &setting));
		assert_ok(tn_optimizer_set_steps(to, i, setting.steps));
	}
	for (size_t i = 0; i < tn_optimizer_state_count(from); i++) {
		struct tn_optimizer_state_view a = {.struct_size = sizeof(a)},
					       b = {.struct_size = sizeof(b)};
		assert_ok(tn_optimizer_state_at(from, i, &a));
		assert_ok(tn_optimizer_state_at(to, i, &b));
		assert_string_equal(a.parameter, b.parameter);
		assert_string_equal(a.state, b.state);
		assert_int_equal(tn_array_size(a.value), tn_array_size(b.value));
		size_t size = (size_t)tn_array_size(a.value) * sizeof(float);
		assert_ok(tn_to_host(a.value, values, size));
		assert_ok(tn_assign_host(b.value, values, size));
	}
}

static void a_restored_optimizer_continues_with_the_same_bits(void **state)
{
	tn_optimizer *(*const makers[])(tn_module *) = {amsgrad, nadam, momentum, centered, lamb};
	(void)state;
	for (size_t k = 0; k < sizeof(makers) / sizeof(makers[0]); k++) {
		tn_module *net = make_net(), *other = make_net();
		tn_optimizer *optimizer = makers[k](net), *restored = makers[k](other);
		for (int i = 0; i < 3; i++)
			step(net, optimizer);
		restore(other, restored, net, optimizer);
		for (int i = 0; i < 3; i++) {
			step(net, optimizer);
			step(other, restored);
		}
		for (size_t i = 0; i < tn_module_parameter_count(net); i++) {
			struct tn_parameter_view a = {.struct_size = sizeof(a)},
						 b = {.struct_size = sizeof(b)};
			float x[MOST], y[MOST];
			assert_ok(tn_module_parameter_at(net, i, &a));
			assert_ok(tn_module_parameter_at(other, i, &b));
			size_t size = (size_t)tn_array_size(a.value) * sizeof(float);
			assert_ok(tn_to_host(a.value, x, size));
			assert_ok(tn_to_host(b.value, y, size));
			assert_memory_equal(x, y, size);
		}
		tn_optimizer_destroy(optimizer);
		tn_optimizer_destroy(restored);
		tn_module_destroy(net);
		tn_module_destroy(other);
	}
}

static void states_have_pytorchs_names_and_the_parameters_shapes(void **state)
{
	static const char *const names[] = {"exp_avg", "exp_avg_sq", "max_exp_avg_sq"};
	struct tn_optimizer_state_view view = {.struct_size = sizeof(view)};
	(void)state;
	tn_module *net = make_net();
	tn_optimizer *optimizer = amsgrad(net);
	assert_int_equal(tn_optimizer_state_count(optimizer), 12);
	for (size_t i = 0; i < 3; i++) {
		assert_ok(tn_optimizer_state_at(optimizer, i, &view));
		assert_string_equal(view.parameter, "a.weight");
		assert_string_equal(view.state, names[i]);
		assert_int_equal(tn_array_rank(view.value), 2);
		assert_int_equal(tn_array_shape(view.value)[0], HIDDEN);
	}
	assert_status(tn_optimizer_state_at(optimizer, 12, &view), TN_INVALID_ARGUMENT);
	tn_error_clear(context);
	assert_status(tn_optimizer_set_steps(optimizer, 4, 1), TN_INVALID_ARGUMENT);
	tn_error_clear(context);
	assert_int_equal(tn_optimizer_state_count(NULL), 0);
	tn_optimizer_destroy(optimizer);
	tn_module_destroy(net);
}

/* ---- Options ---------------------------------------------------------------------------------*/

static void refuse(tn_optimizer *made, const char *words)
{
	assert_null(made);
	assert_int_equal(tn_error(context)->status, TN_INVALID_ARGUMENT);
	assert_contains(tn_error(context)->text, words);
	tn_error_clear(context);
}

static void bad_options_are_refused(void **state)
{
	(void)state;
	tn_module *net = make_net();
	struct tn_adam_options adam = tn_adam_defaults();
	adam.beta2 = 1;
	refuse(tn_adam(net, &adam), "beta2: expected a number of at least 0 and below 1, found 1");
	adam = tn_adam_defaults();
	adam.weight_decay = -1;
	refuse(tn_adam(net, &adam), "weight_decay: expected a number of at least 0, found -1");
	struct tn_nadam_options options = tn_nadam_defaults();
	options.momentum_decay = -1;
	refuse(tn_nadam(net, &options),
	       "momentum_decay: expected a number of at least 0, found -1");
	struct tn_rmsprop_options rmsprop = tn_rmsprop_defaults();
	rmsprop.alpha = 1;
	refuse(tn_rmsprop(net, &rmsprop), "alpha: expected");
	struct tn_adagrad_options adagrad = tn_adagrad_defaults();
	adagrad.lr_decay = -1;
	refuse(tn_adagrad(net, &adagrad), "lr_decay: expected a number of at least 0, found -1");
	struct tn_adadelta_options adadelta = tn_adadelta_defaults();
	adadelta.rho = 2;
	refuse(tn_adadelta(net, &adadelta), "rho: expected");
	refuse(tn_lars(net, NULL), "lr: expected a number of at least 0, found nan");
	struct tn_lars_options lars = tn_lars_defaults();
	lars.lr = 1;
	lars.nesterov = 1;
	refuse(tn_lars(net, &lars),
	       "nesterov: expected momentum above 0 and dampening 0, found 0 and 0");
	lars.nesterov = 0;
	lars.dampening = INFINITY;
	refuse(tn_lars(net, &lars), "dampening: expected a finite number, found inf");
	struct tn_sgd_options sgd = tn_sgd_defaults();
	sgd.lr = 1;
	sgd.dampening = NAN;
	refuse(tn_sgd(net, &sgd), "dampening: expected a finite number, found nan");
	struct tn_lamb_options lamb_options = tn_lamb_defaults();
	lamb_options.epsilon = -1;
	refuse(tn_lamb(net, &lamb_options), "epsilon: expected");
	struct tn_lion_options lion = tn_lion_defaults();
	lion.lr = -1;
	refuse(tn_lion(net, &lion), "lr: expected");
	tn_module_destroy(net);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(settings_add_up),
		cmocka_unit_test(a_step_runs_one_program_for_all_parameters_with_equal_settings),
		cmocka_unit_test(bad_groups_are_refused),
		cmocka_unit_test(a_restored_optimizer_continues_with_the_same_bits),
		cmocka_unit_test(states_have_pytorchs_names_and_the_parameters_shapes),
		cmocka_unit_test(bad_options_are_refused),
	};
	return cmocka_run_group_tests(tests, context_setup, context_teardown);
}
