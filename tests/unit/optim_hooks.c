/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * What changes gradients before a step: clipping by value, Lasso, noise.
 */
#include <tenon/tenon.h>

#include "check.h"

enum { WIDE = 10000, NARROW = 70 };

struct net {
	tn_context *context;
	tn_module *module;
	float upstream; /* the gradient of every weight */
};

/* upstream (sum of a + sum of b) */
static tn_array *forward(tn_module *module, void *state, const tn_array *x)
{
	const struct net *net = state;
	tn_array *scale = tn_multiply(x, tn_scalar_f32(net->context, net->upstream));
	tn_array *a = tn_sum(tn_module_own_parameter(module, "a"), TN_ALL_AXES, NULL, 0);
	tn_array *b = tn_sum(tn_module_own_parameter(module, "b"), TN_ALL_AXES, NULL, 0);
	return tn_multiply(scale, tn_add(a, b));
}

static void open_net(struct net *net, const char *backend)
{
	static const struct tn_module_class class_ = {
		.struct_size = sizeof(class_), .name = "Sums", .forward = forward};
	struct tn_context_options options = tn_context_defaults();
	options.backend = backend;
	assert_ok(tn_context_open(&options, &net->context, NULL));
	tn_random_set_state(net->context, (struct tn_random_state){.seed = 11, .stream = 5});
	net->module = tn_module_custom(net->context, &class_, net);
	net->upstream = 3;
	assert_ok(tn_module_add_parameter(net->module, "a", 1, (int64_t[]){WIDE}, 0, 1));
	assert_ok(tn_module_add_parameter(net->module, "b", 1, (int64_t[]){NARROW}, 0, -1));
	assert_ok(tn_module_build(net->module));
}

static void close_net(struct net *net)
{
	tn_module_destroy(net->module);
	tn_context_close(net->context);
}

static void give_gradients(const struct net *net)
{
	tn_tape *tape = tn_tape_begin(net->context);
	tn_array *y = tn_module_forward(net->module, tn_ones(net->context, TN_F32, 0, NULL));
	tn_module_zero_gradients(net->module);
	assert_ok(tn_tape_backward(tape, y, NULL));
	tn_tape_end(tape);
}

static void read_values(const struct net *net, const char *name, float *values, size_t n)
{
	struct tn_parameter_view view = {.struct_size = sizeof(view)};
	assert_ok(tn_module_parameter(net->module, name, &view));
	assert_ok(tn_to_host(view.value, values, n * sizeof(*values)));
}

static float gradient_of(const struct net *net, const char *name)
{
	struct tn_parameter_view view = {.struct_size = sizeof(view)};
	float values[WIDE];
	assert_ok(tn_module_parameter(net->module, name, &view));
	size_t n = (size_t)tn_array_size(view.gradient);
	assert_ok(tn_to_host(view.gradient, values, n * sizeof(*values)));
	for (size_t i = 1; i < n; i++)
		assert_memory_equal(&values[i], &values[0], sizeof(values[0]));
	return values[0];
}

/* ---- Cases -----------------------------------------------------------------------------------*/

static void values_are_clipped_and_nan_remains(void **state)
{
	struct net net;
	(void)state;
	open_net(&net, NULL);
	give_gradients(&net);
	assert_ok(tn_clip_grad_value(net.module, 5));
	assert_true(gradient_of(&net, "a") == 3);
	assert_ok(tn_clip_grad_value(net.module, 0.5));
	assert_true(gradient_of(&net, "a") == 0.5f);
	assert_true(gradient_of(&net, "b") == 0.5f);
	net.upstream = -2;
	give_gradients(&net);
	assert_ok(tn_clip_grad_value(net.module, 0.5));
	assert_true(gradient_of(&net, "b") == -0.5f);
	net.upstream = NAN;
	give_gradients(&net);
	assert_ok(tn_clip_grad_value(net.module, 0.5));
	assert_true(isnan(gradient_of(&net, "a")));
	assert_status(tn_clip_grad_value(net.module, 0), TN_INVALID_ARGUMENT);
	assert_contains(tn_error(net.context)->text, "limit 0");
	tn_error_clear(net.context);
	assert_status(tn_clip_grad_value(net.module, NAN), TN_INVALID_ARGUMENT);
	tn_error_clear(net.context);
	assert_status(tn_clip_grad_value(NULL, 1), TN_INVALID_ARGUMENT);
	assert_status(tn_clip_grad_norm(net.module, 0, NULL), TN_INVALID_ARGUMENT);
	assert_contains(tn_error_text(net.context), "clip_grad_norm: expected a built module");
	tn_error_clear(net.context);
	assert_status(tn_clip_grad_norm(net.module, NAN, NULL), TN_INVALID_ARGUMENT);
	tn_error_clear(net.context);
	close_net(&net);
}

static void lasso_adds_the_sign_of_the_weights(void **state)
{
	struct net net;
	float a[WIDE], b[NARROW];
	(void)state;
	open_net(&net, NULL);
	struct tn_sgd_options options = tn_sgd_defaults();
	options.lr = 0.125;
	tn_optimizer *sgd = tn_sgd(net.module, &options);
	assert_ok(tn_optimizer_set_lasso(sgd, 0.5));
	give_gradients(&net);
	assert_ok(tn_optimizer_step(sgd));
	assert_true(gradient_of(&net, "a") == 3.5f);
	assert_true(gradient_of(&net, "b") == 2.5f);
	read_values(&net, "a", a, WIDE);
	read_values(&net, "b", b, NARROW);
	assert_true(a[7] == 1 - 0.125f * 3.5f);
	assert_true(b[7] == -1 - 0.125f * 2.5f);
	assert_ok(tn_optimizer_set_lasso(sgd, 0));
	give_gradients(&net);
	assert_ok(tn_optimizer_step(sgd));
	assert_true(gradient_of(&net, "a") == 3);
	assert_status(tn_optimizer_set_lasso(sgd, -1), TN_INVALID_ARGUMENT);
	assert_contains(tn_error(net.context)->text, "rate");
	tn_error_clear(net.context);
	tn_optimizer_destroy(sgd);
	close_net(&net);
}

/* The noise of a step, of a and then b. */
static void noise_of(struct net *net, tn_optimizer *sgd, float *noise)
{
	struct tn_parameter_view view = {.struct_size = sizeof(view)};
	net->upstream = 0;
	give_gradients(net);
	assert_ok(tn_optimizer_step(sgd));
	assert_ok(tn_module_parameter(net->module, "a", &view));
	assert_ok(tn_to_host(view.gradient, noise, WIDE * sizeof(*noise)));
	assert_ok(tn_module_parameter(net->module, "b", &view));
	assert_ok(tn_to_host(view.gradient, noise + WIDE, NARROW * sizeof(*noise)));
}

static double mean_square(const float *values, size_t n)
{
	double sum = 0;
	for (size_t i = 0; i < n; i++)
		sum += (double)values[i] * (double)values[i];
	return sum / (double)n;
}

/* The mean square of n normal numbers has a deviation of sqrt(2 / n) times their variance: five of
 * them are allowed. */
static void noise_has_its_variance_and_spares_the_gaps(void **state)
{
	const double five = 5 * sqrt(2.0 / WIDE);
	struct net net;
	float noise[WIDE + NARROW];
	double norm;
	(void)state;
	open_net(&net, NULL);
	struct tn_sgd_options options = tn_sgd_defaults();
	options.lr = 0.125;
	tn_optimizer *sgd = tn_sgd(net.module, &options);
	assert_ok(tn_optimizer_set_gradient_noise(sgd, 0.25, 1));
	for (int step = 1; step <= 4; step++) {
		double expected = 0.25 / step;
		noise_of(&net, sgd, noise);
		assert_close(mean_square(noise, WIDE), expected, five * expected);
		/* The norm covers the gaps too. */
		assert_ok(tn_clip_grad_norm(net.module, 1e9, &norm));
		double all = mean_square(noise, WIDE + NARROW) * (WIDE + NARROW);
		assert_close(norm * norm, all, 1e-5 * all);
	}
	assert_status(tn_optimizer_set_gradient_noise(sgd, NAN, 0), TN_INVALID_ARGUMENT);
	assert_contains(tn_error(net.context)->text, "eta");
	tn_error_clear(net.context);
	assert_status(tn_optimizer_set_gradient_noise(sgd, 1, -1), TN_INVALID_ARGUMENT);
	assert_contains(tn_error(net.context)->text, "gamma");
	tn_error_clear(net.context);
	tn_optimizer_destroy(sgd);
	close_net(&net);
}

static void noise_has_the_same_bits_everywhere(void **state)
{
	static float noise[3][WIDE + NARROW];
	(void)state;
	for (int i = 0; i < 3; i++) {
		struct net net;
		open_net(&net, i ? NULL : "reference!");
		/* The noise of b does not depend on the run that it is in. */
		if (i == 2)
			assert_ok(tn_module_set_trainable(net.module, "a", 0));
		struct tn_sgd_options options = tn_sgd_defaults();
		options.lr = 0.125;
		tn_optimizer *sgd = tn_sgd(net.module, &options);
		assert_ok(tn_optimizer_set_gradient_noise(sgd, 0.25, 0.55));
		if (i < 2) {
			noise_of(&net, sgd, noise[i]);
		} else {
			struct tn_parameter_view view = {.struct_size = sizeof(view)};
			net.upstream = 0;
			give_gradients(&net);
			assert_ok(tn_optimizer_step(sgd));
			assert_ok(tn_module_parameter(net.module, "b", &view));
			assert_ok(
				tn_to_host(view.gradient, noise[i] + WIDE, NARROW * sizeof(float)));
		}
		tn_optimizer_destroy(sgd);
		close_net(&net);
	}
	assert_memory_equal(noise[1], noise[0], sizeof(noise[0]));
	assert_memory_equal(noise[2] + WIDE, noise[0] + WIDE, NARROW * sizeof(float));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_are_clipped_and_nan_remains),
		cmocka_unit_test(lasso_adds_the_sign_of_the_weights),
		cmocka_unit_test(noise_has_its_variance_and_spares_the_gaps),
		cmocka_unit_test(noise_has_the_same_bits_everywhere),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
