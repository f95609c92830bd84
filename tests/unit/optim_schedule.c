/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Schedules of learning rates; their numbers beside PyTorch's are in tests/parity.
 */
#include <tenon/tenon.h>

#include "check.h"

static tn_context *context;
static tn_module *module;
static tn_optimizer *optimizer;

static int setup(void **state)
{
	struct tn_context_options options = tn_context_defaults();
	options.backend = "reference!";
	(void)state;
	assert_ok(tn_context_open(&options, &context, NULL));
	module = tn_module_linear(context, 1, 1, NULL);
	assert_ok(tn_module_build(module));
	struct tn_sgd_options sgd = tn_sgd_defaults();
	sgd.lr = 0.4;
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

static tn_schedule *make(const struct tn_schedule_options *options)
{
	tn_optimizer_set_lr(optimizer, 0.4);
	tn_schedule *schedule = tn_schedule_create(optimizer, options);
	assert_non_null(schedule);
	return schedule;
}

/* The half from epoch max(2, E / 2), the tenth from max(that + 1, 3 E / 4), epochs from 1. */
static void two_drops_halve_and_then_take_a_tenth(void **state)
{
	static const struct {
		uint64_t epochs, half, tenth; /* 0: never */
	} cases[] = {{1, 0, 0}, {3, 0, 0}, {4, 2, 3}, {5, 2, 3}, {8, 4, 6}, {11, 5, 8}};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tn_schedule_options options = tn_schedule_defaults();
		options.kind = TN_SCHEDULE_TWO_DROPS;
		options.period = cases[i].epochs;
		tn_schedule *schedule = make(&options);
		for (uint64_t epoch = 1; epoch <= cases[i].epochs + 2; epoch++) {
			double expected = 0.4;
			if (cases[i].half && epoch >= cases[i].half)
				expected = 0.2;
			if (cases[i].tenth && epoch >= cases[i].tenth)
				expected = 0.04;
			assert_close(tn_optimizer_lr(optimizer), expected, 1e-15);
			assert_ok(tn_schedule_advance(schedule));
		}
		tn_schedule_destroy(schedule);
	}
}

static void a_warm_up_precedes_a_plateau(void **state)
{
	(void)state;
	struct tn_schedule_options options = tn_schedule_defaults();
	options.kind = TN_SCHEDULE_PLATEAU;
	options.warmup = 2;
	options.warmup_start = 0.5;
	options.patience = 0;
	options.factor = 0.5;
	tn_schedule *schedule = make(&options);
	assert_close(tn_optimizer_lr(optimizer), 0.2, 1e-15);
	assert_ok(tn_schedule_advance(schedule));
	assert_close(tn_optimizer_lr(optimizer), 0.3, 1e-15);
	assert_ok(tn_schedule_advance(schedule));
	assert_ok(tn_schedule_measure(schedule, 1));
	assert_close(tn_optimizer_lr(optimizer), 0.4, 1e-15);
	assert_ok(tn_schedule_measure(schedule, NAN)); /* no improvement */
	assert_close(tn_optimizer_lr(optimizer), 0.2, 1e-15);
	tn_schedule_destroy(schedule);
}

static void one_cycle_keeps_its_last_rate(void **state)
{
	(void)state;
	for (uint64_t period = 1; period < 5; period++) {
		struct tn_schedule_options options = tn_schedule_defaults();
		options.kind = TN_SCHEDULE_ONE_CYCLE;
		options.period = period;
		tn_schedule *schedule = make(&options);
		for (int t = 0; t < 8; t++)
			assert_ok(tn_schedule_advance(schedule));
		assert_close(tn_optimizer_lr(optimizer), 0.4 / 25 / 1e4, 1e-18);
		tn_schedule_destroy(schedule);
	}
}

static void restarts_may_grow_beyond_all_counts(void **state)
{
	struct tn_schedule_state last = {.struct_size = sizeof(last)};
	(void)state;
	struct tn_schedule_options options = tn_schedule_defaults();
	options.kind = TN_SCHEDULE_COSINE_RESTARTS;
	options.period = 1;
	options.multiplier = UINT64_MAX / 2;
	tn_schedule *schedule = make(&options);
	assert_ok(tn_schedule_get_state(schedule, &last));
	last.t = UINT64_MAX;
	assert_ok(tn_schedule_set_state(schedule, &last));
	assert_true(isfinite(tn_optimizer_lr(optimizer)));
	tn_schedule_destroy(schedule);
}

/* No schedule for these options; the error has these words. */
static void refuse(const struct tn_schedule_options *options, const char *words)
{
	tn_optimizer_set_lr(optimizer, 0.4);
	assert_null(tn_schedule_create(optimizer, options));
	assert_int_equal(tn_error(context)->status, TN_INVALID_ARGUMENT);
	assert_contains(tn_error(context)->text, words);
	tn_error_clear(context);
	assert_true(tn_optimizer_lr(optimizer) == 0.4);
}

static void bad_options_are_refused(void **state)
{
	static const uint64_t falling[] = {4, 3};
	(void)state;
	struct tn_schedule_options options = tn_schedule_defaults();
	options.kind = 10;
	refuse(&options, "found 10");
	options.kind = TN_SCHEDULE_COSINE;
	refuse(&options, "period: expected 1 or more, found 0");
	options.period = 3;
	options.gamma = 0.5;
	refuse(&options, "gamma");
	options = tn_schedule_defaults();
	options.kind = TN_SCHEDULE_COSINE;
	options.period = 3;
	options.min_lr = -1;
	refuse(&options, "min_lr");
	options = tn_schedule_defaults();
	options.kind = TN_SCHEDULE_ONE_CYCLE;
	options.period = 3;
	options.pct_start = 2;
	refuse(&options, "pct_start");
	options = tn_schedule_defaults();
	options.kind = TN_SCHEDULE_CONSTANT;
	options.warmup = 1;
	options.warmup_start = 2;
	refuse(&options, "warmup_start: expected a number from 0 to 1, found 2");
	options = tn_schedule_defaults();
	options.kind = TN_SCHEDULE_EXPONENTIAL;
	refuse(&options, "gamma: expected a number of at least 0, found nan");
	options.kind = TN_SCHEDULE_MULTISTEP;
	refuse(&options, "at least one milestone");
	options.n_milestones = 2;
	options.milestones = falling;
	refuse(&options, "found 3 after 4");
	options = tn_schedule_defaults();
	options.kind = TN_SCHEDULE_PLATEAU;
	options.factor = 1;
	refuse(&options, "factor: expected a number of at least 0 and below 1, found 1");
	options = tn_schedule_defaults();
	options.kind = TN_SCHEDULE_STEP;
	options.period = 1;
	options.patience = 3;
	refuse(&options, "plateau");
}

static void only_a_plateau_takes_metrics(void **state)
{
	(void)state;
	struct tn_schedule_options options = tn_schedule_defaults();
	options.kind = TN_SCHEDULE_STEP;
	options.period = 1;
	tn_schedule *schedule = make(&options);
	assert_status(tn_schedule_measure(schedule, 1), TN_STATE);
	assert_contains(tn_error(context)->text, "found step");
	tn_error_clear(context);
	tn_schedule_destroy(schedule);
}

static void a_bad_state_is_refused(void **state)
{
	struct tn_schedule_state now = {.struct_size = sizeof(now)};
	(void)state;
	struct tn_schedule_options options = tn_schedule_defaults();
	options.kind = TN_SCHEDULE_STEP;
	options.period = 1;
	tn_schedule *schedule = make(&options);
	assert_ok(tn_schedule_get_state(schedule, &now));
	assert_close(now.base_lr, 0.4, 0);
	for (int i = 0; i < 6; i++) {
		struct tn_schedule_state bad = now;
		*(i % 2 ? &bad.base_lr : &bad.reduced_lr) = (double[]){NAN, INFINITY, -1}[i / 2];
		assert_status(tn_schedule_set_state(schedule, &bad), TN_INVALID_ARGUMENT);
		assert_contains(tn_error(context)->text, "base_lr");
		tn_error_clear(context);
	}
	now.struct_size = 0;
	assert_status(tn_schedule_get_state(schedule, &now), TN_INVALID_ARGUMENT);
	assert_status(tn_schedule_advance(NULL), TN_INVALID_ARGUMENT);
	tn_schedule_destroy(schedule);
	tn_schedule_destroy(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_drops_halve_and_then_take_a_tenth),
		cmocka_unit_test(a_warm_up_precedes_a_plateau),
		cmocka_unit_test(one_cycle_keeps_its_last_rate),
		cmocka_unit_test(restarts_may_grow_beyond_all_counts),
		cmocka_unit_test(bad_options_are_refused),
		cmocka_unit_test(only_a_plateau_takes_metrics),
		cmocka_unit_test(a_bad_state_is_refused),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
