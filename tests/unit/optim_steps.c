/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Optimizers on single parameters; parity with PyTorch over many steps is in tests/parity.
 */
#include <tenon/tenon.h>

#include "check.h"
#include "test_context.h"

/* A module with two parameters, a = 1 and b = 2, whose output is x a + (uses_b ? x b : 0). */
struct pair_state {
	int uses_b;
};

static tn_array *pair_forward(tn_module *module, void *state, const tn_array *x)
{
	struct pair_state *pair = state;
	tn_array *y = tn_multiply(x, tn_module_own_parameter(module, "a"));
	return pair->uses_b ? tn_add(y, tn_multiply(x, tn_module_own_parameter(module, "b"))) : y;
}

static tn_module *make_pair(struct pair_state *state)
{
	static const struct tn_module_class class_ = {
		.struct_size = sizeof(class_), .name = "Pair", .forward = pair_forward};
	tn_module *module = tn_module_custom(context, &class_, state);
	assert_ok(tn_module_add_parameter(module, "a", 1, (int64_t[]){1}, 0, 1.0));
	assert_ok(tn_module_add_parameter(module, "b", 1, (int64_t[]){1}, 0, 2.0));
	assert_ok(tn_module_build(module));
	return module;
}

static void backward(tn_module *module, float x)
{
	tn_tape *tape = tn_tape_begin(context);
	tn_array *y =
		tn_module_forward(module, tn_from_host(context, TN_F32, 2, (int64_t[]){1, 1}, &x));
	assert_ok(tn_tape_backward(tape, y, NULL));
	tn_tape_end(tape);
}

static double value(const tn_module *module, const char *name)
{
	struct tn_parameter_view view = {.struct_size = sizeof(view)};
	double result;
	assert_ok(tn_module_parameter(module, name, &view));
	assert_ok(tn_item(view.value, &result));
	return result;
}

static void sgd_goes_down_the_gradient(void **state)
{
	struct pair_state pair = {1};
	(void)state;
	tn_module *module = make_pair(&pair);
	struct tn_sgd_options options = tn_sgd_defaults();
	options.lr = 0.1;
	tn_optimizer *sgd = tn_sgd(module, &options);
	backward(module, 3);
	assert_ok(tn_optimizer_step(sgd));
	assert_close(value(module, "a"), 1 - 0.1 * 3, 1e-6);
	assert_close(value(module, "b"), 2 - 0.1 * 3, 1e-6);
	backward(module, 3); /* gradients add up until they are dropped */
	assert_ok(tn_optimizer_step(sgd));
	assert_close(value(module, "a"), 0.7 - 0.1 * 6, 1e-6);
	tn_module_zero_gradients(module);
	assert_ok(tn_optimizer_step(sgd)); /* no gradient: nothing moves */
	assert_close(value(module, "a"), 0.1, 1e-6);
	tn_optimizer_destroy(sgd);
	tn_module_destroy(module);
}

static void a_parameter_without_a_gradient_is_not_stepped(void **state)
{
	struct pair_state pair = {0};
	(void)state;
	tn_module *module = make_pair(&pair);
	tn_optimizer *adamw = tn_adamw(module, NULL);
	backward(module, 3);
	assert_ok(tn_optimizer_step(adamw));
	assert_close(value(module, "b"), 2, 0); /* not even decayed */
	assert_true(value(module, "a") < 1);
	pair.uses_b = 1; /* now b takes its first step, a its second */
	tn_module_zero_gradients(module);
	backward(module, 3);
	assert_ok(tn_optimizer_step(adamw));
	/* AdamW's first step is lr (sign of the gradient) after decay, for any gradient. */
	assert_close(value(module, "b"), 2 * (1 - 1e-3 * 0.01) - 1e-3, 1e-6);
	tn_optimizer_destroy(adamw);
	tn_module_destroy(module);
}

static void a_frozen_parameter_is_not_stepped(void **state)
{
	struct pair_state pair = {1};
	(void)state;
	tn_module *module = make_pair(&pair);
	assert_ok(tn_module_set_trainable(module, "a", 0));
	assert_status(tn_module_set_trainable(module, "c", 0), TN_NOT_FOUND);
	tn_error_clear(context);
	assert_int_equal(tn_module_size(module, 1), 1);
	struct tn_sgd_options options = tn_sgd_defaults();
	options.lr = 0.1;
	tn_optimizer *sgd = tn_sgd(module, &options);
	backward(module, 1);
	assert_ok(tn_optimizer_step(sgd));
	assert_close(value(module, "a"), 1, 0);
	assert_close(value(module, "b"), 1.9, 1e-6);
	tn_optimizer_destroy(sgd);
	tn_module_destroy(module);
}

static void a_parameter_frozen_after_its_gradient_is_not_stepped(void **state)
{
	struct pair_state pair = {1};
	(void)state;
	tn_module *module = make_pair(&pair);
	struct tn_sgd_options options = tn_sgd_defaults();
	options.lr = 0.1;
	tn_optimizer *sgd = tn_sgd(module, &options);
	backward(module, 1);
	assert_ok(tn_module_set_trainable(module, "a", 0));
	assert_ok(tn_optimizer_step(sgd));
	assert_close(value(module, "a"), 1, 0);
	assert_close(value(module, "b"), 1.9, 1e-6);
	tn_optimizer_destroy(sgd);
	tn_module_destroy(module);
}

static void clipping_scales_all_gradients_by_their_joint_norm(void **state)
{
	struct pair_state pair = {1};
	struct tn_parameter_view view = {.struct_size = sizeof(view)};
	double norm, g;
	(void)state;
	tn_module *module = make_pair(&pair);
	backward(module, 3);
	assert_ok(tn_clip_grad_norm(module, 1.0, &norm));
	assert_close(norm, 3 * sqrt(2), 1e-5);
	assert_ok(tn_module_parameter(module, "a", &view));
	assert_ok(tn_item(view.gradient, &g));
	assert_close(g, 1 / sqrt(2), 1e-5);
	assert_ok(tn_clip_grad_norm(module, 10.0, &norm)); /* small enough: unchanged */
	assert_ok(tn_item(view.gradient, &g));
	assert_close(g, 1 / sqrt(2), 1e-5);
	tn_module_destroy(module);
}

/* What lies between the gradients of two parameters stays 0: the next norm is not that of it. */
static void clipping_by_nan_spoils_gradients_alone(void **state)
{
	struct pair_state pair = {1};
	double norm;
	(void)state;
	tn_module *module = make_pair(&pair);
	backward(module, NAN);
	assert_ok(tn_clip_grad_norm(module, 1.0, &norm));
	assert_true(isnan(norm));
	tn_module_zero_gradients(module);
	backward(module, 3);
	assert_ok(tn_clip_grad_norm(module, 1.0, &norm));
	assert_close(norm, 3 * sqrt(2), 1e-5);
	tn_module_destroy(module);
}

/* A parameter between them has no gradient: two runs of the arena. */
static void the_norm_is_that_of_all_runs(void **state)
{
	struct tn_parameter_view view = {.struct_size = sizeof(view)};
	double norm, g;
	(void)state;
	tn_module *net = tn_module_sequential(context);
	for (int i = 0; i < 3; i++) {
		struct tn_module_linear_options linear = tn_module_linear_defaults();
		linear.no_bias = 1;
		assert_ok(tn_module_sequential_add(net, NULL,
						   tn_module_linear(context, 1, 1, &linear)));
	}
	assert_ok(tn_module_build(net));
	assert_ok(tn_module_set_trainable(net, "1", 0));
	backward(net, 1);
	for (size_t i = 0; i < 3; i += 2) {
		assert_ok(tn_module_parameter_at(net, i, &view));
		assert_ok(tn_fill(view.gradient, i ? 4 : 3));
	}
	assert_ok(tn_clip_grad_norm(net, 1, &norm));
	assert_close(norm, 5, 1e-6);
	for (size_t i = 0; i < 3; i += 2) {
		assert_ok(tn_module_parameter_at(net, i, &view));
		assert_ok(tn_item(view.gradient, &g));
		assert_close(g, i ? 0.8 : 0.6, 1e-6);
	}
	tn_module_destroy(net);
}

/* Without an average the second step follows the second gradient alone, and nothing decays. */
static void a_setting_of_0_is_0(void **state)
{
	struct pair_state pair = {1};
	(void)state;
	tn_module *module = make_pair(&pair);
	struct tn_adamw_options options = tn_adamw_defaults();
	options.beta1 = 0;
	options.weight_decay = 0;
	tn_optimizer *adamw = tn_adamw(module, &options);
	backward(module, 3);
	assert_ok(tn_optimizer_step(adamw));
	assert_close(value(module, "a"), 1 - 1e-3, 1e-6);
	assert_close(value(module, "b"), 2 - 1e-3, 1e-6);
	tn_module_zero_gradients(module);
	backward(module, -1);
	assert_ok(tn_optimizer_step(adamw));
	assert_true(value(module, "a") > 1 - 1e-3);
	tn_optimizer_destroy(adamw);
	tn_module_destroy(module);
}

static void bad_settings_are_refused(void **state)
{
	struct pair_state pair = {1};
	(void)state;
	tn_module *module = make_pair(&pair);
	assert_null(tn_sgd(module, NULL));
	assert_contains(tn_error(context)->text, "lr: expected a number of at least 0, found nan");
	tn_error_clear(context);
	struct tn_adamw_options adamw = tn_adamw_defaults();
	adamw.beta1 = 1.5;
	assert_null(tn_adamw(module, &adamw));
	assert_contains(tn_error(context)->text,
			"beta1: expected a number of at least 0 and below 1, found 1.5");
	tn_error_clear(context);
	tn_optimizer *optimizer = tn_adamw(module, NULL);
	tn_optimizer_set_lr(optimizer, NAN);
	assert_string_equal(tn_error_text(context),
			    "optimizer_set_lr: lr: expected a number of at least 0, found nan");
	tn_error_clear(context);
	assert_true(tn_optimizer_lr(optimizer) == 1e-3);
	tn_optimizer_set_lr(optimizer, 0);
	assert_null(tn_error(context));
	tn_optimizer_destroy(optimizer);
	tn_module_destroy(module);
	module = tn_module_relu(context);
	assert_null(tn_adamw(module, NULL));
	assert_contains(tn_error(context)->text, "not been built");
	tn_error_clear(context);
	tn_module_destroy(module);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sgd_goes_down_the_gradient),
		cmocka_unit_test(a_parameter_without_a_gradient_is_not_stepped),
		cmocka_unit_test(a_frozen_parameter_is_not_stepped),
		cmocka_unit_test(a_parameter_frozen_after_its_gradient_is_not_stepped),
		cmocka_unit_test(clipping_scales_all_gradients_by_their_joint_norm),
		cmocka_unit_test(clipping_by_nan_spoils_gradients_alone),
		cmocka_unit_test(the_norm_is_that_of_all_runs),
		cmocka_unit_test(a_setting_of_0_is_0),
		cmocka_unit_test(bad_settings_are_refused),
	};
	return cmocka_run_group_tests(tests, context_setup, context_teardown);
}
