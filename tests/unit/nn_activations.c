/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Modules of activations, and the errors of their functions.  tests/parity/activations.c has their
 * values.
 */
#include <tenon/tenon.h>

#include "check.h"
#include "kept_error.h"
#include "test_context.h"

static int open_context(void **state)
{
	struct tn_context_options options = tn_context_defaults();
	options.backend = "auto";
	(void)state;
	assert_ok(tn_context_open(&options, &context, NULL));
	return 0;
}

static tn_array *numbers(void)
{
	static const float x[] = {-4, -1.5f, -0.25f, 0, 0.75f, 5};
	return tn_from_host(context, TN_F32, 2, (const int64_t[]){2, 3}, x);
}

static void check_equal(const tn_array *found, const tn_array *expected)
{
	double difference = NAN;
	tn_array *d = tn_abs(tn_subtract(found, expected));
	assert_ok(tn_item(tn_max(d, TN_ALL_AXES, NULL, 0), &difference));
	assert_true(difference == 0);
}

static void modules_compute_their_functions(void **state)
{
	tn_array *x = numbers();
	const struct {
		tn_module *module;
		tn_array *expected;
		const char *name;
	} rows[] = {
		{tn_module_leaky_relu(context, 0.2), tn_leaky_relu(x, 0.2), "LeakyReLU"},
		{tn_module_elu(context, 0.7), tn_elu(x, 0.7), "ELU"},
		{tn_module_celu(context, 0.7), tn_celu(x, 0.7), "CELU"},
		{tn_module_selu(context), tn_selu(x), "SELU"},
		{tn_module_softplus(context, 2, 3), tn_softplus(x, 2, 3), "Softplus"},
		{tn_module_mish(context), tn_mish(x), "Mish"},
		{tn_module_softsign(context), tn_softsign(x), "Softsign"},
		{tn_module_log_sigmoid(context), tn_log_sigmoid(x), "LogSigmoid"},
		{tn_module_hardsigmoid(context), tn_hardsigmoid(x), "Hardsigmoid"},
		{tn_module_hardtanh(context, -1, 2), tn_hardtanh(x, -1, 2), "Hardtanh"},
		{tn_module_softmax(context, 0), tn_softmax(x, 0), "Softmax"},
		{tn_module_log_softmax(context, -1), tn_log_softmax(x, -1), "LogSoftmax"},
		{tn_module_prelu(context, 1, 0.25), tn_leaky_relu(x, 0.25), "PReLU"},
		{tn_module_prelu(context, 3, 0.5), tn_leaky_relu(x, 0.5), "PReLU"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_ok(tn_module_build(rows[i].module));
		check_equal(tn_module_forward(rows[i].module, x), rows[i].expected);
		char *summary = tn_module_summary(rows[i].module, NULL);
		assert_contains(summary, rows[i].name);
		tn_string_free(summary);
		tn_module_destroy(rows[i].module);
	}
}

static void slopes_are_parameters(void **state)
{
	float slopes[3];
	tn_module *prelu = tn_module_prelu(context, 3, 0.25);
	(void)state;
	assert_ok(tn_module_build(prelu));
	assert_int_equal(tn_module_size(prelu, 1), 3);
	struct tn_sgd_options sgd = tn_sgd_defaults();
	sgd.lr = 1;
	tn_optimizer *optimizer = tn_sgd(prelu, &sgd);
	tn_tape *tape = tn_tape_begin(context);
	tn_array *y = tn_module_forward(prelu, numbers());
	assert_ok(tn_tape_backward(tape, tn_sum(y, TN_ALL_AXES, NULL, 0), NULL));
	tn_tape_end(tape);
	assert_ok(tn_optimizer_step(optimizer));
	struct tn_parameter_view view = {.struct_size = sizeof(view)};
	assert_ok(tn_module_parameter(prelu, "weight", &view));
	assert_ok(tn_to_host(view.value, slopes, sizeof(slopes)));
	/* The gradient is the sum of a channel's inputs of at most 0: -4, -1.5 and -0.25. */
	assert_close(slopes[0], 4.25, 0);
	assert_close(slopes[1], 1.75, 0);
	assert_close(slopes[2], 0.5, 0);
	tn_optimizer_destroy(optimizer);
	tn_module_destroy(prelu);
}

static void wrong_parameters_are_errors(void **state)
{
	tn_array *x = numbers();
	(void)state;
	assert_refused(context, tn_celu(x, 0), TN_INVALID_ARGUMENT, "celu",
		       "alpha: expected a number other");
	assert_refused(context, tn_softplus(x, 0, 20), TN_INVALID_ARGUMENT, "softplus",
		       "beta: expected");
	assert_refused(context, tn_hardtanh(x, 1, 1), TN_INVALID_ARGUMENT, "hardtanh",
		       "expected a low below high, found 1 and 1");
	assert_refused(context, tn_prelu(x, tn_ones(context, TN_F32, 1, (const int64_t[]){2})),
		       TN_SHAPE, "prelu",
		       "expected 1 element, or one for each channel of (2, 3), found shape (2,)");
	assert_refused(context, tn_module_celu(context, 0), TN_INVALID_ARGUMENT, "celu", "alpha");
	assert_refused(context, tn_module_softplus(context, 0, 20), TN_INVALID_ARGUMENT, "softplus",
		       "beta");
	assert_refused(context, tn_module_hardtanh(context, 2, 1), TN_INVALID_ARGUMENT, "hardtanh",
		       "low");
	assert_refused(context, tn_module_prelu(context, 0, 0.25), TN_INVALID_ARGUMENT, "PReLU",
		       "weight");
	assert_refused(context, tn_mish(tn_astype(x, TN_C64)), TN_DTYPE, "mish", "complex");
}

static void narrow_and_whole_inputs_are_activated(void **state)
{
	static const tn_dtype inputs[] = {TN_F16, TN_BF16, TN_I32, TN_F64};
	static const tn_dtype outputs[] = {TN_F16, TN_BF16, TN_F64, TN_F64};
	(void)state;
	for (int i = 0; i < 4; i++) {
		double value = NAN;
		tn_array *x = tn_full(context, inputs[i], 0, NULL, -2);
		tn_array *y = tn_leaky_relu(x, 0.25);
		assert_int_equal(tn_array_dtype(y), outputs[i]);
		assert_ok(tn_item(y, &value));
		assert_close(value, -0.5, 0);
		assert_ok(tn_item(tn_mish(x), &value));
		assert_close(value, -0.25250148, 2e-3);
	}
}

/* exp(a) - 1 loses a small exp(a), which is the derivative. */
static void elu_has_a_derivative_far_below_0(void **state)
{
	double value = NAN;
	(void)state;
	tn_array *x = tn_full(context, TN_F32, 0, NULL, -20);
	tn_tape *tape = tn_tape_begin(context);
	assert_ok(tn_tape_watch(tape, x));
	assert_ok(tn_tape_backward(tape, tn_elu(x, 1), NULL));
	assert_ok(tn_item(tn_tape_gradient(tape, x), &value));
	assert_close(value / 2.0611536224385579e-9, 1, 1e-5);
	tn_tape_end(tape);
}

/* As in PyTorch, but for hardswish of minus infinity, which is 0 here and NaN there. */
static void infinite_inputs_have_finite_gradients(void **state)
{
	static const float values[] = {INFINITY, -INFINITY};
	float y[2], dx[2], dw[1];
	(void)state;
	tn_array *x = tn_from_host(context, TN_F32, 1, (const int64_t[]){2}, values);
	tn_tape *tape = tn_tape_begin(context);
	assert_ok(tn_tape_watch(tape, x));
	tn_array *result = tn_hardswish(x);
	assert_ok(tn_to_host(result, y, sizeof(y)));
	assert_true(y[0] == INFINITY && y[1] == 0);
	assert_ok(tn_tape_backward(tape, result, tn_ones(context, TN_F32, 1, tn_array_shape(x))));
	assert_ok(tn_to_host(tn_tape_gradient(tape, x), dx, sizeof(dx)));
	assert_true(dx[0] == 1 && dx[1] == 0);
	tn_tape_end(tape);
	/* The slope has nothing to do with an input above 0. */
	tn_array *above = tn_slice(x, 0, 0, 1, 1), *w = tn_ones(context, TN_F32, 1, (int64_t[]){1});
	tape = tn_tape_begin(context);
	assert_ok(tn_tape_watch(tape, w));
	assert_ok(tn_tape_backward(tape, tn_prelu(above, w), NULL));
	assert_ok(tn_to_host(tn_tape_gradient(tape, w), dw, sizeof(dw)));
	assert_true(dw[0] == 0);
	tn_tape_end(tape);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(modules_compute_their_functions),
		cmocka_unit_test(slopes_are_parameters),
		cmocka_unit_test(wrong_parameters_are_errors),
		cmocka_unit_test(narrow_and_whole_inputs_are_activated),
		cmocka_unit_test(elu_has_a_derivative_far_below_0),
		cmocka_unit_test(infinite_inputs_have_finite_gradients),
	};
	return cmocka_run_group_tests(tests, open_context, context_teardown);
}
