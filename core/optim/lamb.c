/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * LAMB: Y. You et al., "Large Batch Optimization for Deep Learning: Training BERT in 76 minutes",
 * ICLR 2020.  The corrections of the biases are numbers, as in adam.c.
 */
#include <math.h>

#include "base/options.h"
#include "optim/optimizer.h"

/* In the order of the rule's scalars. */
enum { BETA1, GAIN1, BETA2, GAIN2, DECAY, UNBIAS, CORRECTION, EPSILON, RATE, ADAPTED };

static void scalars_at(void *options, const struct tn_rule_point *at, double *values)
{
	const struct tn_lamb_options *o = options;
	double t = (double)at->step;
	values[BETA1] = o->beta1;
	values[GAIN1] = 1.0 - o->beta1;
	values[BETA2] = o->beta2;
	values[GAIN2] = 1.0 - o->beta2;
	values[DECAY] = at->weight_decay;
	values[UNBIAS] = 1.0 / (1.0 - pow(o->beta1, t));
	values[CORRECTION] = 1.0 / sqrt(1.0 - pow(o->beta2, t));
	values[EPSILON] = o->epsilon;
	values[RATE] = at->lr;
	values[ADAPTED] = at->is_adapted;
}

static const struct tn_optimizer_rule lamb = {
	.name = "lamb",
	.prepare = "exp_avg = beta1 * exp_avg + gain1 * dw;"
		   "exp_avg_sq = beta2 * exp_avg_sq + gain2 * dw * dw;"
		   "d = unbias * exp_avg / (sqrt(exp_avg_sq) * correction + epsilon) + decay * w",
	.ratio = "w_norm = sqrt(w_squares); d_norm = sqrt(d_squares);"
		 "ratio = adapted > 0 && w_norm > 0 && d_norm > 0 ? w_norm / d_norm : 1",
	.text = "w = w - rate * ratio * d",
	.states = {"exp_avg", "exp_avg_sq"},
	.scalars = "beta1 gain1 beta2 gain2 decay unbias correction epsilon rate adapted",
	.scalars_at = scalars_at,
};

static const struct tn_option members[] = {
	{TN_MEMBER(struct tn_lamb_options, lr), TN_LEAST, .most = INFINITY},
	{TN_MEMBER(struct tn_lamb_options, beta1), TN_MOST, .most = 1},
	{TN_MEMBER(struct tn_lamb_options, beta2), TN_MOST, .most = 1},
	{TN_MEMBER(struct tn_lamb_options, epsilon), TN_LEAST, .most = INFINITY},
	{TN_MEMBER(struct tn_lamb_options, weight_decay), .most = INFINITY},
	{0},
};

tn_optimizer *tn_lamb(tn_module *module, const struct tn_lamb_options *options)
{
	struct tn_lamb_options o = tn_lamb_defaults();
	if (!module || tn_runtime_take(module->runtime, &o, sizeof(o), options,
				       "struct tn_lamb_options", "lamb"))
		return NULL;
	if (tn_runtime_check(module->runtime, &o, members, "lamb"))
		return NULL;
	tn_optimizer *optimizer =
		tn_optimizer_create(module, &lamb, o.lr, o.weight_decay, &o, sizeof(o));
	tn_optimizer_spare_vectors(optimizer, !o.adapt_vectors);
	return optimizer;
}
