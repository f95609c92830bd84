/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * NAdam: T. Dozat, "Incorporating Nesterov Momentum into Adam", ICLR Workshop 2016; as
 * torch.optim.NAdam.  With mu_t = beta1 (1 - 0.96^(t momentum_decay) / 2) and P the product of mu_1
 * to mu_t:
 *     rate_g = lr (1 - mu_t) / (1 - P),  rate_m = lr mu_(t+1) / (1 - P mu_(t+1))
 */
#include <math.h>

#include "base/options.h"
#include "optim/optimizer.h"

/* In the order of the rule's scalars. */
enum { BETA1, GAIN1, BETA2, GAIN2, SHRINK, DECAY, RATE_G, RATE_M, CORRECTION, EPSILON };

struct settings {
	struct tn_nadam_options o;
	/* The product up to a step, for the next call: of another run of that step or of the next
	 * step. */
	uint64_t step;
	double product;
};

static double mu(const struct tn_nadam_options *o, uint64_t t)
{
	return o->beta1 * (1.0 - 0.5 * pow(0.96, (double)t * o->momentum_decay));
}

/* P at a step.  It falls at least as fast as beta1^t: once it is below 2^-60, 1 - P is 1. */
static double product_at(struct settings *s, uint64_t step)
{
	if (step < s->step) {
		s->step = 0;
		s->product = 1.0;
	}
	while (s->step < step && s->product > 0x1p-60)
		s->product *= mu(&s->o, ++s->step);
	return s->product;
}

static void scalars_at(void *options, const struct tn_rule_point *at, double *values)
{
	struct settings *s = options;
	const struct tn_nadam_options *o = &s->o;
	double t = (double)at->step, next = mu(o, at->step + 1);
	double product = product_at(s, at->step);
	values[BETA1] = o->beta1;
	values[GAIN1] = 1.0 - o->beta1;
	values[BETA2] = o->beta2;
	values[GAIN2] = 1.0 - o->beta2;
	values[SHRINK] = o->decoupled_weight_decay ? 1.0 - at->lr * at->weight_decay : 1.0;
	values[DECAY] = o->decoupled_weight_decay ? 0.0 : at->weight_decay;
	values[RATE_G] = at->lr * (1.0 - mu(o, at->step)) / (1.0 - product);
	values[RATE_M] = at->lr * next / (1.0 - product * next);
	values[CORRECTION] = 1.0 / sqrt(1.0 - pow(o->beta2, t));
	values[EPSILON] = o->epsilon;
}

static const struct tn_optimizer_rule nadam = {
	.name = "nadam",
	.text = "g = dw + decay * w; exp_avg = beta1 * exp_avg + gain1 * g;"
		"exp_avg_sq = beta2 * exp_avg_sq + gain2 * g * g;"
		"w = w * shrink - (rate_g * g + rate_m * exp_avg)"
		" / (sqrt(exp_avg_sq) * correction + epsilon)",
	.states = {"exp_avg", "exp_avg_sq"},
	.scalars = "beta1 gain1 beta2 gain2 shrink decay rate_g rate_m correction epsilon",
	.scalars_at = scalars_at,
};

static const struct tn_option members[] = {
	{TN_MEMBER(struct tn_nadam_options, lr), TN_LEAST, .most = INFINITY},
	{TN_MEMBER(struct tn_nadam_options, beta1), TN_MOST, .most = 1},
	{TN_MEMBER(struct tn_nadam_options, beta2), TN_MOST, .most = 1},
	{TN_MEMBER(struct tn_nadam_options, epsilon), TN_LEAST, .most = INFINITY},
	{TN_MEMBER(struct tn_nadam_options, weight_decay), .most = INFINITY},
	{TN_MEMBER(struct tn_nadam_options, momentum_decay), .most = INFINITY},
	{0},
};

tn_optimizer *tn_nadam(tn_module *module, const struct tn_nadam_options *options)
{
	struct tn_nadam_options o = tn_nadam_defaults();
	if (!module || tn_runtime_take(module->runtime, &o, sizeof(o), options,
				       "struct tn_nadam_options", "nadam"))
		return NULL;
	if (tn_runtime_check(module->runtime, &o, members, "nadam"))
		return NULL;
	const struct settings settings = {.o = o, .product = 1.0};
	return tn_optimizer_create(module, &nadam, o.lr, o.weight_decay, &settings,
				   sizeof(settings));
}
