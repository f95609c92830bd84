/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Arrays of a module are created on its device, whichever is the current one.
 */
#include "capture_step.h"
#include "mock_fixture.h"

static void set_current(tn_context *context, size_t number)
{
	assert_ok(tn_device_set_current(context, tn_context_device(context, number)));
}

/* Two steps with clipped gradients; `elsewhere`: device 1 is current while the optimizer is
 * created, or (2) while it steps. */
static size_t run_steps(tn_context *context, int is_adamw, int elsewhere, float *weights)
{
	struct training t = make_training(context, is_adamw);
	tn_optimizer_destroy(t.optimizer);
	set_current(context, elsewhere == 1);
	t.optimizer = make_optimizer(t.module, is_adamw);
	assert_non_null(t.optimizer);
	for (int i = 0; i < 2; i++) {
		double norm = 0;
		set_batch(&t, i);
		tn_module_zero_gradients(t.module);
		set_current(context, 0);
		assert_ok(give_gradients(&t));
		set_current(context, elsewhere == 2);
		assert_ok(tn_clip_grad_norm(t.module, 0.01, &norm));
		assert_true(norm > 0.01);
		assert_ok(tn_optimizer_step(t.optimizer));
		assert_ptr_equal(tn_device_current(context),
				 tn_context_device(context, elsewhere == 2));
	}
	set_current(context, 0);
	const size_t n = weights_of(&t, weights);
	end_training(&t);
	return n;
}

static void optimizers_and_clipping_work_where_the_module_is(void **state)
{
	float here[STEP_MOST_WEIGHTS], there[STEP_MOST_WEIGHTS];
	(void)state;
	tn_context *context = open_mock("");
	for (int is_adamw = 0; is_adamw < 2; is_adamw++) {
		const size_t n = run_steps(context, is_adamw, 0, here);
		for (int elsewhere = 1; elsewhere < 3; elsewhere++) {
			assert_int_equal(run_steps(context, is_adamw, elsewhere, there), n);
			assert_memory_equal(there, here, n * sizeof(here[0]));
		}
	}
	tn_context_close(context);
}

static void averages_are_where_the_module_is(void **state)
{
	struct tn_weight_average_view view = {.struct_size = sizeof(view)};
	(void)state;
	tn_context *context = open_mock("");
	struct training t = make_training(context, 0);
	set_current(context, 1);
	tn_weight_average *average = tn_weight_average_create(t.module, NULL);
	assert_non_null(average);
	assert_ptr_equal(tn_device_current(context), tn_context_device(context, 1));
	assert_ok(tn_weight_average_at(average, 0, &view));
	assert_ptr_equal(tn_array_device(view.value), tn_context_device(context, 0));
	tn_weight_average_destroy(average);
	set_current(context, 0);
	end_training(&t);
	tn_context_close(context);
}

enum { SIDE = 4, CHANNELS = 3, RESULTS = CHANNELS * SIDE * SIDE };

/* Folds a convolution without a bias, so that a bias is created. */
static tn_module *folding_net(tn_context *context)
{
	struct tn_conv2d_options window = tn_conv2d_defaults();
	window.padding[0] = window.padding[1] = 1;
	struct tn_module_conv2d_options options = tn_module_conv2d_defaults();
	options.window = &window;
	options.no_bias = 1;
	tn_module *net = tn_module_sequential(context);
	assert_ok(tn_module_sequential_add(net, "conv",
					   tn_module_conv2d(context, 2, CHANNELS, 3, 3, &options)));
	assert_ok(tn_module_sequential_add(net, "norm",
					   tn_module_batch_norm2d(context, CHANNELS, NULL)));
	assert_ok(tn_module_build(net));
	tn_module_set_training(net, 0);
	return net;
}

/* Frozen, and again after a weight changed. */
static void run_frozen(tn_context *context, size_t current, float results[2][RESULTS])
{
	struct tn_parameter_view view = {.struct_size = sizeof(view)};
	tn_random_set_state(context, (struct tn_random_state){3, 3});
	tn_module *net = folding_net(context);
	tn_array *x = tn_full(context, TN_F32, 4, (int64_t[]){1, 2, SIDE, SIDE}, 0.5);
	set_current(context, current);
	assert_ok(tn_module_freeze(net));
	for (int i = 0; i < 2; i++) {
		tn_array *y = tn_module_forward(net, x);
		assert_non_null(y);
		assert_ok(tn_to_host(y, results[i], sizeof(results[i])));
		assert_ok(tn_module_parameter(net, "norm.weight", &view));
		assert_ok(tn_fill(view.value, 2));
	}
	set_current(context, 0);
	tn_module_destroy(net);
}

static void networks_freeze_where_they_are(void **state)
{
	float here[2][RESULTS], there[2][RESULTS];
	(void)state;
	tn_context *context = open_mock("");
	run_frozen(context, 0, here);
	run_frozen(context, 1, there);
	assert_memory_equal(there, here, sizeof(here));
	assert_true(here[0][0] != here[1][0]);
	tn_context_close(context);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(optimizers_and_clipping_work_where_the_module_is),
		cmocka_unit_test(averages_are_where_the_module_is),
		cmocka_unit_test(networks_freeze_where_they_are),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
