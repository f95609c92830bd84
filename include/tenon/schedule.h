/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Schedules: the learning rate of an optimizer as a function of the number of steps or epochs, with
 * the numbers of torch.optim.lr_scheduler.
 *
 *     struct tn_schedule_options options = tn_schedule_defaults();
 *     options.kind = TN_SCHEDULE_COSINE;
 *     options.period = 1000;
 *     options.warmup = 100;
 *     tn_schedule *cosine = tn_schedule_create(optimizer, &options);
 *     tn_optimizer_step(optimizer);
 *     tn_schedule_advance(cosine);
 *
 * Whether t counts steps or epochs depends on how often tn_schedule_advance is called.
 * All functions: [thread: one per context | since 0.1]; errors are kept by the context.
 */
#ifndef TENON_SCHEDULE_H
#define TENON_SCHEDULE_H

#include <math.h>
#include <string.h>

#include <tenon/optim.h>

#ifdef __cplusplus
extern "C" {
#endif

/* lr(t), for a base rate `base`, the optimizer's rate when the schedule is made:
 *   constant          base
 *   cosine            min_lr + (base - min_lr) (1 + cos(pi t / period)) / 2
 *   step              base gamma^floor(t / period)
 *   multistep         base gamma^(the number of milestones <= t)
 *   exponential       base gamma^t
 *   cosine restarts   cosine over cycles, of `period` and then each multiplier times as long as the
 *                     one before (SGDR, Loshchilov and Hutter 2017)
 *   polynomial        base (1 - min(t, period) / period)^power
 *   one cycle         from base / div_factor up to base over the first pct_start of the period,
 *                     then down to base / (div_factor final_div_factor), by cosines; base is
 *                     max_lr (Smith and Topin 2019)
 *   plateau           base, multiplied by `factor` after more than `patience` metrics in a
 *                     row without an improvement; tn_schedule_measure
 *   two drops         base; 0.5 base from epoch t + 1 = max(2, floor(period / 2)) on, and 0.1 base
 *                     from max(that + 1, floor(3 period / 4)) on; base throughout for a period
 *                     below 4 */
enum {
	TN_SCHEDULE_CONSTANT = 0,
	TN_SCHEDULE_COSINE = 1,
	TN_SCHEDULE_STEP = 2,
	TN_SCHEDULE_MULTISTEP = 3,
	TN_SCHEDULE_EXPONENTIAL = 4,
	TN_SCHEDULE_COSINE_RESTARTS = 5,
	TN_SCHEDULE_POLYNOMIAL = 6,
	TN_SCHEDULE_ONE_CYCLE = 7,
	TN_SCHEDULE_PLATEAU = 8,
	TN_SCHEDULE_TWO_DROPS = 9
};

typedef struct tn_schedule tn_schedule;

/* A member that the kind does not use must have its default. */
struct tn_schedule_options {
	uint32_t struct_size;
	uint32_t kind; /* TN_SCHEDULE_... */
	/* The first `warmup` values rise linearly from warmup_start times the kind's first rate
	 * (LinearLR), and t of the kind starts after them (SequentialLR). */
	uint64_t warmup;
	double warmup_start; /* default 1/3 */
	/* StepLR's step_size, CosineAnnealingLR's T_max, CosineAnnealingWarmRestarts' T_0,
	 * PolynomialLR's total_iters, OneCycleLR's total_steps, the epochs of two drops;
	 * required. */
	uint64_t period;
	uint64_t multiplier; /* of cosine restarts, T_mult; default 1 */
	double gamma;        /* of step and multistep, default NAN: 0.1; of exponential, required */
	double min_lr;       /* of cosine, cosine restarts (eta_min) and plateau */
	double power;        /* of polynomial; default 1 */
	size_t n_milestones; /* of multistep; at least 1 */
	const uint64_t *milestones; /* in order; one that repeats counts each time; copied */
	double pct_start;           /* of one cycle; default 0.3 */
	double div_factor;          /* default 25 */
	double final_div_factor;    /* default 1e4 */
	double factor;              /* of plateau; default 0.1 */
	uint64_t patience;          /* default 10 */
	double threshold;           /* default 1e-4 */
	int is_absolute;   /* 1: an improvement is `threshold` better, 0: by that fraction */
	int is_rising;     /* 1: a metric that grows is better (mode "max") */
	uint64_t cooldown; /* metrics after a reduction that count as no failure */
	double epsilon;    /* a reduction by no more than this is omitted; default 1e-8 */
};
static inline struct tn_schedule_options tn_schedule_defaults(void)
{
	struct tn_schedule_options options;
	memset(&options, 0, sizeof(options));
	options.struct_size = sizeof(options);
	options.warmup_start = 1.0 / 3.0;
	options.multiplier = 1;
	options.gamma = NAN;
	options.power = 1;
	options.pct_start = 0.3;
	options.div_factor = 25;
	options.final_div_factor = 1e4;
	options.factor = 0.1;
	options.patience = 10;
	options.threshold = 1e-4;
	options.epsilon = 1e-8;
	return options;
}

/* Sets the optimizer's learning rate to lr(0).  The schedule is owned (tn_schedule_destroy) and
 * must not be used after the optimizer has been destroyed.
 * NULL: TN_INVALID_ARGUMENT, TN_UNSUPPORTED (options of a newer version), TN_NOT_CAPTURABLE,
 * TN_OUT_OF_MEMORY. */
TN_API tn_schedule *tn_schedule_create(tn_optimizer *optimizer,
				       const struct tn_schedule_options *options);
TN_API void tn_schedule_destroy(tn_schedule *schedule); /* takes NULL */

/* Increases t by 1 and sets the optimizer's learning rate.  TN_NOT_CAPTURABLE: while work is
 * captured; call it between replays. */
TN_API tn_status tn_schedule_advance(tn_schedule *schedule);
/* For a plateau: takes a metric, usually the validation loss after an epoch, and sets the
 * optimizer's learning rate.  TN_STATE: another kind.  TN_NOT_CAPTURABLE. */
TN_API tn_status tn_schedule_measure(tn_schedule *schedule, double metric);

/* All that changes.  To continue, make a schedule with the same options and set this. */
struct tn_schedule_state {
	uint32_t struct_size;
	uint64_t t;
	double base_lr;
	/* Of a plateau. */
	double reduced_lr; /* base_lr after all reductions */
	double best;       /* the best metric so far; an infinity before the first */
	uint64_t n_bad;    /* metrics since */
	uint64_t cooldown; /* metrics left of it */
};
/* The caller sets the struct_size.  TN_INVALID_ARGUMENT: struct_size is not set. */
TN_API tn_status tn_schedule_get_state(const tn_schedule *schedule,
				       struct tn_schedule_state *state);
/* Sets the optimizer's learning rate too.  TN_INVALID_ARGUMENT: a rate is negative or not finite.
 * TN_NOT_CAPTURABLE: while work is captured. */
TN_API tn_status tn_schedule_set_state(tn_schedule *schedule,
				       const struct tn_schedule_state *state);

#ifdef __cplusplus
}
#endif
#endif
