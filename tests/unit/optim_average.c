/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Slow weights and averages of weights; their numbers beside PyTorch's are in tests/parity.
 */
#include <tenon/tenon.h>

#include "check.h"

static tn_context *context;
static tn_module *module;
static tn_optimizer *optimizer;

/* The weight is w x: with x = 1 and a rate of 1, a step decreases w by 1. */
static int setup(void **state)
{
	(void)state;
	assert_ok(tn_context_open(NULL, &context, NULL));
	struct tn_module_linear_options linear = tn_module_linear_defaults();
	linear.no_bias = 1;
	module = tn_module_linear(context, 1, 1, &linear);
	assert_ok(tn_module_build(module));
	assert_ok(tn_assign_host(tn_module_own_parameter(module, "weight"), &(float){8}, 4));
	struct tn_sgd_options sgd = tn_sgd_defaults();
	sgd.lr = 1;
	optimizer = tn_sgd(module, &sgd);
	return !optimizer;
}

static int teardown(void **state)
{
	(void)state;
	tn_optimizer_destroy(optimizer);
	tn_module_destroy(module);
	tn_context_close(context);
	return 0;
}

static double item(const tn_array *array)
{
	double value;
	assert_ok(tn_item(array, &value));
	return value;
}

static double weight(void)
{
	return item(tn_module_own_parameter(module, "weight"));
}

static void step(void)
{
	tn_module_zero_gradients(module);
	tn_tape *tape = tn_tape_begin(context);
	tn_array *x = tn_ones(context, TN_F32, 2, (int64_t[]){1, 1});
	assert_ok(tn_tape_backward(tape, tn_module_forward(module, x), NULL));
	tn_tape_end(tape);
	assert_ok(tn_optimizer_step(optimizer));
}

/* ---- Lookahead -------------------------------------------------------------------------------*/

static void the_first_synchronisation_returns_towards_the_start(void **state)
{
	struct tn_optimizer_state_view slow = {.struct_size = sizeof(slow)};
	(void)state;
	struct tn_lookahead_options lookahead = tn_lookahead_defaults();
	lookahead.k = 2;
	lookahead.alpha = 0.25;
	assert_ok(tn_lookahead(optimizer, &lookahead));
	assert_int_equal(tn_optimizer_state_count(optimizer), 1);
	step();
	assert_true(weight() == 7);
	step(); /* 8 + (6 - 8) / 4 */
	assert_true(weight() == 7.5);
	assert_ok(tn_optimizer_state_at(optimizer, 0, &slow));
	assert_string_equal(slow.state, "slow");
	assert_true(item(slow.value) == 7.5);
	assert_int_equal(tn_lookahead_steps(optimizer), 2);
	/* Rates pass through, and a restored count decides when the next one is due. */
	tn_optimizer_set_lr(optimizer, 2);
	assert_ok(tn_lookahead_set_steps(optimizer, 1));
	step(); /* 7.5 + (5.5 - 7.5) / 4 */
	assert_true(weight() == 7);
	/* Begun anew, from the present weights. */
	lookahead = tn_lookahead_defaults();
	lookahead.k = 1;
	assert_ok(tn_lookahead(optimizer, &lookahead));
	assert_int_equal(tn_lookahead_steps(optimizer), 0);
	step();
	assert_true(weight() == 6);
}

static void bad_lookaheads_are_refused(void **state)
{
	(void)state;
	assert_status(tn_lookahead_set_steps(optimizer, 1), TN_STATE);
	tn_error_clear(context);
	assert_int_equal(tn_lookahead_steps(optimizer), 0);
	struct tn_lookahead_options lookahead = tn_lookahead_defaults();
	lookahead.alpha = 2;
	assert_status(tn_lookahead(optimizer, &lookahead), TN_INVALID_ARGUMENT);
	assert_contains(tn_error(context)->text, "alpha: expected a number from 0 to 1, found 2");
	tn_error_clear(context);
	assert_status(tn_lookahead(NULL, NULL), TN_INVALID_ARGUMENT);
}

/* ---- Averages --------------------------------------------------------------------------------*/

static tn_weight_average *make(double decay)
{
	struct tn_weight_average_options averaging = tn_weight_average_defaults();
	averaging.decay = decay;
	tn_weight_average *average = tn_weight_average_create(module, &averaging);
	assert_non_null(average);
	return average;
}

static double averaged(tn_weight_average *average)
{
	struct tn_weight_average_view view = {.struct_size = sizeof(view)};
	assert_ok(tn_weight_average_at(average, 0, &view));
	assert_string_equal(view.name, "weight");
	return item(view.value);
}

static void averages_are_swapped_in_and_out(void **state)
{
	(void)state;
	tn_weight_average *mean = make(NAN), *moving = make(0.75);
	for (int i = 0; i < 3; i++) {
		step(); /* 7, 6, 5 */
		assert_ok(tn_weight_average_update(mean));
		assert_ok(tn_weight_average_update(moving));
	}
	assert_close(averaged(mean), 6, 1e-6);
	assert_close(averaged(moving), 6.75 + 0.25 * (5 - 6.75), 1e-6);
	assert_int_equal(tn_weight_average_updates(mean), 3);
	assert_ok(tn_weight_average_swap(mean));
	assert_true(tn_weight_average_is_swapped(mean));
	assert_close(weight(), 6, 1e-6);
	assert_true(averaged(mean) == 5);
	assert_status(tn_weight_average_update(mean), TN_STATE);
	assert_contains(tn_error(context)->text, "swapped in");
	tn_error_clear(context);
	assert_status(tn_weight_average_set_updates(mean, 1), TN_STATE);
	tn_error_clear(context);
	assert_ok(tn_weight_average_swap(mean));
	assert_true(weight() == 5);
	tn_weight_average_destroy(mean);
	tn_weight_average_destroy(moving);
}

static void a_decay_of_0_keeps_the_last_weights(void **state)
{
	(void)state;
	tn_weight_average *last = make(0);
	for (int i = 0; i < 3; i++) {
		step();
		assert_ok(tn_weight_average_update(last));
		assert_true(averaged(last) == weight());
	}
	tn_weight_average_destroy(last);
}

static void a_restored_average_continues(void **state)
{
	struct tn_weight_average_view from = {.struct_size = sizeof(from)},
				      to = {.struct_size = sizeof(to)};
	(void)state;
	const double decays[] = {NAN, 0.5};
	for (int i = 0; i < 2; i++) {
		tn_weight_average *average = make(decays[i]), *restored = make(decays[i]);
		step();
		assert_ok(tn_weight_average_update(average));
		step();
		assert_ok(tn_weight_average_update(average));
		assert_ok(tn_weight_average_at(average, 0, &from));
		assert_ok(tn_weight_average_at(restored, 0, &to));
		assert_ok(tn_assign(to.value, from.value));
		assert_ok(tn_weight_average_set_updates(restored,
							tn_weight_average_updates(average)));
		step();
		assert_ok(tn_weight_average_update(average));
		assert_ok(tn_weight_average_update(restored));
		assert_true(averaged(restored) == averaged(average));
		assert_true(averaged(average) != weight());
		tn_weight_average_destroy(average);
		tn_weight_average_destroy(restored);
	}
}

static void bad_averages_are_refused(void **state)
{
	struct tn_weight_average_view view = {.struct_size = sizeof(view)};
	(void)state;
	struct tn_weight_average_options averaging = tn_weight_average_defaults();
	averaging.decay = 1;
	assert_null(tn_weight_average_create(module, &averaging));
	assert_contains(tn_error(context)->text,
			"decay: expected a number of at least 0 and below 1, found 1");
	tn_error_clear(context);
	tn_module *unbuilt = tn_module_relu(context);
	assert_null(tn_weight_average_create(unbuilt, NULL));
	assert_int_equal(tn_error(context)->status, TN_STATE);
	tn_error_clear(context);
	tn_module_destroy(unbuilt);
	tn_weight_average *average = make(NAN);
	assert_status(tn_weight_average_swap(average), TN_STATE);
	assert_contains(tn_error(context)->text, "at least one update");
	tn_error_clear(context);
	assert_status(tn_weight_average_at(average, 1, &view), TN_INVALID_ARGUMENT);
	tn_error_clear(context);
	assert_status(tn_weight_average_update(NULL), TN_INVALID_ARGUMENT);
	assert_status(tn_weight_average_swap(NULL), TN_INVALID_ARGUMENT);
	tn_weight_average_destroy(average);
	tn_weight_average_destroy(NULL);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(the_first_synchronisation_returns_towards_the_start),
		CASE(bad_lookaheads_are_refused),
		CASE(averages_are_swapped_in_and_out),
		CASE(a_decay_of_0_keeps_the_last_weights),
		CASE(a_restored_average_continues),
		CASE(bad_averages_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
