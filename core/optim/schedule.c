/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Schedules, in closed form: the rate depends only on t and, for a plateau, on the metrics.
 */
#include "optim/schedule.h"

#include <math.h>
#include <string.h>

#include "array/handle.h"
#include "base/memory.h"
#include "base/options.h"
#include "capture/capture.h"
#include "optim/optimizer.h"

struct tn_schedule {
	tn_optimizer *optimizer;
	struct tn_runtime *runtime;   /* the optimizer may end before */
	struct tn_schedule_options o; /* with the defaults; milestones are the schedule's own */
	struct tn_schedule_state state;
};

/* ---- Options ---------------------------------------------------------------------------------*/

/* Members that only some kinds use. */
enum { PERIOD = 1, MULTIPLIER = 2, GAMMA = 4, MIN_LR = 8, POWER = 16 };
enum { MILESTONES = 32, CYCLE = 64, PLATEAU = 128 };

static const struct {
	const char *name;
	uint32_t uses;
} kinds[] = {
	[TN_SCHEDULE_CONSTANT] = {"constant", 0},
	[TN_SCHEDULE_COSINE] = {"cosine", PERIOD | MIN_LR},
	[TN_SCHEDULE_STEP] = {"step", PERIOD | GAMMA},
	[TN_SCHEDULE_MULTISTEP] = {"multistep", MILESTONES | GAMMA},
	[TN_SCHEDULE_EXPONENTIAL] = {"exponential", GAMMA},
	[TN_SCHEDULE_COSINE_RESTARTS] = {"cosine restarts", PERIOD | MULTIPLIER | MIN_LR},
	[TN_SCHEDULE_POLYNOMIAL] = {"polynomial", PERIOD | POWER},
	[TN_SCHEDULE_ONE_CYCLE] = {"one cycle", PERIOD | CYCLE},
	[TN_SCHEDULE_PLATEAU] = {"plateau", MIN_LR | PLATEAU},
	[TN_SCHEDULE_TWO_DROPS] = {"two drops", PERIOD},
};
enum { N_KINDS = sizeof(kinds) / sizeof(kinds[0]) };

/* Those that do not have their defaults. */
static uint32_t members_given(const struct tn_schedule_options *o)
{
	const struct tn_schedule_options d = tn_schedule_defaults();
	int is_cycle = o->pct_start != d.pct_start || o->div_factor != d.div_factor ||
		       o->final_div_factor != d.final_div_factor;
	int is_plateau = o->factor != d.factor || o->patience != d.patience ||
			 o->threshold != d.threshold || o->is_absolute || o->is_rising ||
			 o->cooldown || o->epsilon != d.epsilon;
	return (o->period ? PERIOD : 0u) | (o->multiplier != d.multiplier ? MULTIPLIER : 0u) |
	       (!isnan(o->gamma) ? GAMMA : 0u) | (o->min_lr != d.min_lr ? MIN_LR : 0u) |
	       (o->power != d.power ? POWER : 0u) |
	       (o->n_milestones || o->milestones ? MILESTONES : 0u) | (is_cycle ? CYCLE : 0u) |
	       (is_plateau ? PLATEAU : 0u);
}

/* The first of those members. */
static const char *member_name(uint32_t members)
{
	return members & PERIOD       ? "period"
	       : members & MULTIPLIER ? "multiplier"
	       : members & GAMMA      ? "gamma"
	       : members & MIN_LR     ? "min_lr"
	       : members & POWER      ? "power"
	       : members & MILESTONES ? "milestones"
	       : members & CYCLE      ? "pct_start, div_factor and final_div_factor"
				      : "the members of a plateau";
}

static const struct tn_option numbers[] = {
	{TN_MEMBER(struct tn_schedule_options, warmup_start), .most = 1},
	{TN_MEMBER(struct tn_schedule_options, gamma), .most = INFINITY},
	{TN_MEMBER(struct tn_schedule_options, min_lr), .most = INFINITY},
	{TN_MEMBER(struct tn_schedule_options, power), .most = INFINITY},
	{TN_MEMBER(struct tn_schedule_options, pct_start), .most = 1},
	{TN_MEMBER(struct tn_schedule_options, div_factor), TN_LEAST, .most = INFINITY},
	{TN_MEMBER(struct tn_schedule_options, final_div_factor), TN_LEAST, .most = INFINITY},
	{TN_MEMBER(struct tn_schedule_options, factor), TN_MOST, .most = 1},
	{TN_MEMBER(struct tn_schedule_options, threshold), .most = INFINITY},
	{TN_MEMBER(struct tn_schedule_options, epsilon), .most = INFINITY},
	{0},
};

static tn_status check_milestones(struct tn_runtime *rt, const struct tn_schedule_options *o)
{
	if (!o->n_milestones || !o->milestones)
		return tn_runtime_fail(rt, TN_INVALID_ARGUMENT, "schedule",
				       "multistep: expected at least one milestone, found %zu%s",
				       o->n_milestones, o->milestones ? "" : " and no array");
	for (size_t i = 1; i < o->n_milestones; i++) {
		if (o->milestones[i] < o->milestones[i - 1])
			return tn_runtime_fail(
				rt, TN_INVALID_ARGUMENT, "schedule",
				"multistep: expected milestones in order, found %llu after %llu",
				(unsigned long long)o->milestones[i],
				(unsigned long long)o->milestones[i - 1]);
	}
	return TN_OK;
}

/* The options that the kind uses; puts a gamma in. */
static tn_status check_values(struct tn_runtime *rt, struct tn_schedule_options *o)
{
	const uint32_t uses = kinds[o->kind].uses;
	if (uses & PERIOD && !o->period)
		return tn_runtime_fail(rt, TN_INVALID_ARGUMENT, "schedule",
				       "period: expected 1 or more, found 0");
	if (!o->multiplier)
		return tn_runtime_fail(rt, TN_INVALID_ARGUMENT, "schedule",
				       "multiplier: expected 1 or more, found 0");
	if (isnan(o->gamma) && o->kind != TN_SCHEDULE_EXPONENTIAL)
		o->gamma = 0.1;
	tn_status status = uses & MILESTONES ? check_milestones(rt, o) : TN_OK;
	return status ? status : tn_runtime_check(rt, o, numbers, "schedule");
}

/* ---- Rates -----------------------------------------------------------------------------------*/

/* From `from` at 0 to `to` at 1. */
static double cosine(double from, double to, double at)
{
	return to + (from - to) * 0.5 * (1.0 + cos(M_PI * at));
}

static double restarts(const struct tn_schedule_options *o, double base, uint64_t t)
{
	uint64_t cycle = o->period;
	if (o->multiplier == 1)
		t %= cycle;
	while (t >= cycle) {
		t -= cycle;
		cycle = cycle > UINT64_MAX / o->multiplier ? UINT64_MAX : cycle * o->multiplier;
	}
	return cosine(base, o->min_lr, (double)t / (double)cycle);
}

static double one_cycle(const struct tn_schedule_options *o, double base, uint64_t t)
{
	double first = base / o->div_factor, last = first / o->final_div_factor;
	double top = o->pct_start * (double)o->period - 1.0, end = (double)o->period - 1.0;
	double at = fmin((double)t, end);
	if (at <= top)
		return top > 0.0 ? cosine(first, base, at / top) : base;
	return cosine(base, last, end > fmax(top, 0.0) ? (at - top) / (end - top) : 1.0);
}

static double two_drops(const struct tn_schedule_options *o, double base, uint64_t t)
{
	uint64_t half = o->period / 2 > 2 ? o->period / 2 : 2;
	uint64_t late = o->period - (o->period + 3) / 4;
	if (o->period < 4 || t + 1 < half)
		return base;
	return t + 1 < (late > half + 1 ? late : half + 1) ? 0.5 * base : 0.1 * base;
}

/* The rate of the kind, without warm-up. */
static double kind_rate(const struct tn_schedule *schedule, uint64_t t)
{
	const struct tn_schedule_options *o = &schedule->o;
	double base = schedule->state.base_lr, at = (double)t;
	uint64_t n = 0;
	switch (o->kind) {
	case TN_SCHEDULE_COSINE:
		return cosine(base, o->min_lr, at / (double)o->period);
	case TN_SCHEDULE_STEP:
		n = t / o->period;
		return base * pow(o->gamma, (double)n);
	case TN_SCHEDULE_MULTISTEP:
		while (n < o->n_milestones && o->milestones[n] <= t)
			n++;
		return base * pow(o->gamma, (double)n);
	case TN_SCHEDULE_EXPONENTIAL:
		return base * pow(o->gamma, at);
	case TN_SCHEDULE_COSINE_RESTARTS:
		return restarts(o, base, t);
	case TN_SCHEDULE_POLYNOMIAL:
		return base * pow(1.0 - fmin(at / (double)o->period, 1.0), o->power);
	case TN_SCHEDULE_ONE_CYCLE:
		return one_cycle(o, base, t);
	case TN_SCHEDULE_PLATEAU:
		return schedule->state.reduced_lr;
	case TN_SCHEDULE_TWO_DROPS:
		return two_drops(o, base, t);
	default:
		return base;
	}
}

static void set_rate(const struct tn_schedule *schedule)
{
	const struct tn_schedule_options *o = &schedule->o;
	uint64_t t = schedule->state.t;
	double rate = kind_rate(schedule, t < o->warmup ? 0 : t - o->warmup);
	if (t < o->warmup)
		rate *= o->warmup_start + (1.0 - o->warmup_start) * (double)t / (double)o->warmup;
	tn_optimizer_set_lr(schedule->optimizer, rate);
}

/* ---- Schedules -------------------------------------------------------------------------------*/

static tn_status refuse_capture(const tn_optimizer *optimizer, const char *operation)
{
	struct tn_runtime *rt = optimizer->module->runtime;
	tn_status status = tn_runtime_ready(rt);
	return status ? status : tn_capture_refuse(rt, operation, "the learning rate");
}

static tn_status begin_change(const tn_schedule *schedule, const char *operation)
{
	tn_status status = tn_runtime_ready(schedule->runtime);
	return status ? status : refuse_capture(schedule->optimizer, operation);
}

static tn_status check_options(struct tn_runtime *rt, struct tn_schedule_options *o)
{
	if (o->kind >= N_KINDS)
		return tn_runtime_fail(rt, TN_INVALID_ARGUMENT, "schedule",
				       "expected a kind of TN_SCHEDULE_..., found %u", o->kind);
	uint32_t others = members_given(o) & ~kinds[o->kind].uses;
	if (others)
		return tn_runtime_fail(
			rt, TN_INVALID_ARGUMENT, "schedule",
			"%s: expected the default of %s, which this kind does not use",
			kinds[o->kind].name, member_name(others));
	return check_values(rt, o);
}

tn_schedule *tn_schedule_create(tn_optimizer *optimizer, const struct tn_schedule_options *options)
{
	struct tn_schedule_options o = tn_schedule_defaults();
	if (!optimizer)
		return NULL;
	struct tn_runtime *rt = optimizer->module->runtime;
	if (refuse_capture(optimizer, "schedule") ||
	    tn_runtime_take(rt, &o, sizeof(o), options, "struct tn_schedule_options", "schedule") ||
	    check_options(rt, &o))
		return NULL;
	tn_schedule *schedule = tn_mem_zeroed(1, sizeof(*schedule));
	uint64_t *milestones = tn_mem_zeroed(o.n_milestones + 1, sizeof(*milestones));
	if (!schedule || !milestones) {
		tn_mem_free(schedule);
		tn_mem_free(milestones);
		tn_runtime_no_memory(rt, "schedule", "the schedule");
		return NULL;
	}
	if (o.n_milestones)
		memcpy(milestones, o.milestones, o.n_milestones * sizeof(*milestones));
	o.milestones = milestones;
	schedule->optimizer = optimizer;
	schedule->runtime = rt;
	schedule->o = o;
	schedule->state = (struct tn_schedule_state){
		.struct_size = sizeof(schedule->state),
		.base_lr = tn_optimizer_lr(optimizer),
		.reduced_lr = tn_optimizer_lr(optimizer),
		.best = o.is_rising ? -HUGE_VAL : HUGE_VAL,
	};
	set_rate(schedule);
	return schedule;
}

void tn_schedule_destroy(tn_schedule *schedule)
{
	if (!schedule || tn_handle_has_ended(schedule->runtime, schedule, "schedule_destroy"))
		return;
	tn_mem_free((void *)(uintptr_t)schedule->o.milestones);
	tn_handle_end(&schedule->runtime, schedule, "the schedule");
}

tn_status tn_schedule_advance(tn_schedule *schedule)
{
	if (!schedule)
		return TN_INVALID_ARGUMENT;
	tn_status status = begin_change(schedule, "schedule_advance");
	if (status)
		return status;
	schedule->state.t++;
	set_rate(schedule);
	return TN_OK;
}

static int is_better(const struct tn_schedule_options *o, double metric, double best)
{
	double by = o->is_absolute ? o->threshold : best * o->threshold;
	if (isinf(best))
		return o->is_rising ? metric > best : metric < best;
	return o->is_rising ? metric > best + by : metric < best - by;
}

tn_status tn_schedule_measure(tn_schedule *schedule, double metric)
{
	if (!schedule)
		return TN_INVALID_ARGUMENT;
	const struct tn_schedule_options *o = &schedule->o;
	struct tn_schedule_state *state = &schedule->state;
	tn_status status = begin_change(schedule, "schedule_measure");
	if (status)
		return status;
	if (o->kind != TN_SCHEDULE_PLATEAU)
		return tn_runtime_fail(schedule->runtime, TN_STATE, "schedule_measure",
				       "expected a schedule of the kind plateau, found %s",
				       kinds[o->kind].name);
	if (is_better(o, metric, state->best)) {
		state->best = metric;
		state->n_bad = 0;
	} else {
		state->n_bad++;
	}
	if (state->cooldown) {
		state->cooldown--;
		state->n_bad = 0;
	}
	if (state->n_bad > o->patience) {
		double reduced = fmax(state->reduced_lr * o->factor, o->min_lr);
		if (state->reduced_lr - reduced > o->epsilon)
			state->reduced_lr = reduced;
		state->cooldown = o->cooldown;
		state->n_bad = 0;
	}
	set_rate(schedule);
	return TN_OK;
}

/* ---- State -----------------------------------------------------------------------------------*/

tn_status tn_schedule_get_state(const tn_schedule *schedule, struct tn_schedule_state *state)
{
	if (!schedule)
		return TN_INVALID_ARGUMENT;
	return tn_runtime_answer(schedule->runtime, state, &schedule->state, sizeof(*state),
				 "struct tn_schedule_state", "schedule_get_state");
}

tn_status tn_schedule_set_state(tn_schedule *schedule, const struct tn_schedule_state *state)
{
	static const char operation[] = "schedule_set_state";
	if (!schedule || !state)
		return TN_INVALID_ARGUMENT;
	struct tn_runtime *rt = schedule->runtime;
	struct tn_schedule_state own = schedule->state;
	tn_status status = begin_change(schedule, operation);
	if (!status)
		status = tn_runtime_take(rt, &own, sizeof(own), state, "struct tn_schedule_state",
					 operation);
	if (status)
		return status;
	if (!(own.base_lr >= 0.0 && isfinite(own.base_lr)) ||
	    !(own.reduced_lr >= 0.0 && isfinite(own.reduced_lr)))
		return tn_runtime_fail(rt, TN_INVALID_ARGUMENT, operation,
				       "expected finite rates of 0 or more, found base_lr %g and "
				       "reduced_lr %g",
				       own.base_lr, own.reduced_lr);
	schedule->state = own;
	set_rate(schedule);
	return TN_OK;
}

/* ---- For checkpoints -------------------------------------------------------------------------*/

const tn_optimizer *tn_schedule_optimizer(const tn_schedule *schedule)
{
	return schedule->optimizer;
}

const struct tn_schedule_options *tn_schedule_options_of(const tn_schedule *schedule)
{
	return &schedule->o;
}

const char *tn_schedule_kind_name(const tn_schedule *schedule)
{
	return kinds[schedule->o.kind].name;
}

int tn_schedule_has_period(uint32_t kind)
{
	return kind < N_KINDS && (kinds[kind].uses & PERIOD);
}
