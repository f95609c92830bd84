/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fifty learning rates of each schedule against recorded PyTorch numbers, in one go and restored
 * half-way into another schedule.
 *
 * PyTorch multiplies most of its rates up from step to step, in f64: fifty roundings and more of a
 * number below 1; a cosine's numerator is a difference, of 1e-16 beside rates of 1e-6.
 */
#include "record.h"

#include <math.h>
#include <tenon/tenon.h>

#include "check.h"

enum { STEPS = 50, MOST_MILESTONES = 8 };
static const double base = 0.2;

static tn_context *context;
static tn_module *module;

static int setup(void **state)
{
	struct tn_context_options options = tn_context_defaults();
	options.backend = "reference!";
	(void)state;
	assert_ok(tn_context_open(&options, &context, NULL));
	module = tn_module_linear(context, 1, 1, NULL);
	return tn_module_build(module);
}

static int teardown(void **state)
{
	(void)state;
	tn_module_destroy(module);
	tn_context_close(context);
	return 0;
}

/* Sets a member that the case has; others keep their defaults. */
static void take(const struct record *record, const char *name, double *member)
{
	const struct record_array *array = record_array(record, name);
	if (array)
		*member = array->values[0];
}

static void take_count(const struct record *record, const char *name, uint64_t *member)
{
	const struct record_array *array = record_array(record, name);
	if (array)
		*member = (uint64_t)array->values[0];
}

static void take_flag(const struct record *record, const char *name, int *member)
{
	const struct record_array *array = record_array(record, name);
	if (array)
		*member = (int)array->values[0];
}

static uint32_t kind_named(const char *name)
{
	static const struct {
		const char *name;
		uint32_t kind;
	} kinds[] = {
		{"constant", TN_SCHEDULE_CONSTANT},
		{"cosine", TN_SCHEDULE_COSINE},
		{"step", TN_SCHEDULE_STEP},
		{"multistep", TN_SCHEDULE_MULTISTEP},
		{"exponential", TN_SCHEDULE_EXPONENTIAL},
		{"restarts", TN_SCHEDULE_COSINE_RESTARTS},
		{"polynomial", TN_SCHEDULE_POLYNOMIAL},
		{"one_cycle", TN_SCHEDULE_ONE_CYCLE},
		{"plateau", TN_SCHEDULE_PLATEAU},
	};
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (!strcmp(kinds[i].name, name))
			return kinds[i].kind;
	}
	fail_msg("schedule %s is not known", name);
	return 0;
}

static struct tn_schedule_options options_of(const struct record *r)
{
	struct tn_schedule_options o = tn_schedule_defaults();
	o.kind = kind_named(r->layer);
	take_count(r, "warmup", &o.warmup);
	take(r, "warmup_start", &o.warmup_start);
	take_count(r, "period", &o.period);
	take_count(r, "multiplier", &o.multiplier);
	take(r, "gamma", &o.gamma);
	take(r, "min_lr", &o.min_lr);
	take(r, "power", &o.power);
	take(r, "pct_start", &o.pct_start);
	take(r, "div_factor", &o.div_factor);
	take(r, "final_div_factor", &o.final_div_factor);
	take(r, "factor", &o.factor);
	take_count(r, "patience", &o.patience);
	take(r, "threshold", &o.threshold);
	take_flag(r, "is_absolute", &o.is_absolute);
	take_flag(r, "is_rising", &o.is_rising);
	take_count(r, "cooldown", &o.cooldown);
	take(r, "epsilon", &o.epsilon);
	return o;
}

static tn_schedule *make_schedule(tn_optimizer *optimizer, const struct record *r)
{
	const struct record_array *recorded = record_array(r, "milestones");
	struct tn_schedule_options o = options_of(r);
	uint64_t milestones[MOST_MILESTONES];
	if (recorded) {
		assert_true(recorded->count <= MOST_MILESTONES);
		for (size_t i = 0; i < recorded->count; i++)
			milestones[i] = (uint64_t)recorded->values[i];
		o.n_milestones = recorded->count;
		o.milestones = milestones;
	}
	tn_schedule *schedule = tn_schedule_create(optimizer, &o);
	if (!schedule)
		fail_msg("%s: %s", r->layer, tn_error(context)->text);
	return schedule;
}

static tn_optimizer *make_optimizer(void)
{
	struct tn_sgd_options o = tn_sgd_defaults();
	o.lr = base;
	return tn_sgd(module, &o);
}

/* The schedule's values from number `from` up to `to`, against those recorded. */
static void follow(tn_schedule *schedule, const tn_optimizer *optimizer, const struct record *r,
		   int from, int to)
{
	const struct record_array *rates = record_array(r, "rate");
	const struct record_array *metrics = record_array(r, "metrics");
	assert_non_null(rates);
	for (int t = from; t < to; t++) {
		double found = tn_optimizer_lr(optimizer), expected = rates->values[t];
		if (fabs(found - expected) > 1e-12 * expected + 1e-15)
			fail_msg("%s, t = %d: PyTorch has %.17g, found %.17g", r->layer, t,
				 expected, found);
		assert_ok(metrics ? tn_schedule_measure(schedule, metrics->values[t])
				  : tn_schedule_advance(schedule));
	}
}

static void check_case(const struct record *r)
{
	struct tn_schedule_state saved = {.struct_size = sizeof(saved)};
	tn_optimizer *optimizer = make_optimizer(), *other = make_optimizer();
	tn_schedule *schedule = make_schedule(optimizer, r);
	follow(schedule, optimizer, r, 0, STEPS / 2);
	assert_ok(tn_schedule_get_state(schedule, &saved));
	follow(schedule, optimizer, r, STEPS / 2, STEPS);
	tn_schedule_destroy(schedule);
	tn_optimizer_set_lr(other, 7);
	schedule = make_schedule(other, r);
	assert_ok(tn_schedule_set_state(schedule, &saved));
	follow(schedule, other, r, STEPS / 2, STEPS);
	assert_true(tn_optimizer_lr(other) == tn_optimizer_lr(optimizer));
	tn_schedule_destroy(schedule);
	tn_optimizer_destroy(optimizer);
	tn_optimizer_destroy(other);
}

static void check_file(const char *name, int expected)
{
	FILE *file = record_open(name);
	struct record record;
	int n_cases = 0;
	for (; record_read(file, &record); n_cases++) {
		check_case(&record);
		record_free(&record);
	}
	fclose(file);
	assert_true(record_is_complete(n_cases, expected));
}

static void schedules_agree_with_pytorch(void **state)
{
	(void)state;
	check_file("schedules.txt", 32);
}

static void drawn_schedules_agree_with_pytorch(void **state)
{
	(void)state;
	check_file("drawn_schedules.txt", 36);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(schedules_agree_with_pytorch),
					   cmocka_unit_test(drawn_schedules_agree_with_pytorch)};
	return cmocka_run_group_tests(tests, setup, teardown);
}
