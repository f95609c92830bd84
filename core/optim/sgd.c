/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Stochastic gradient descent with momentum, as torch.optim.SGD.
 */
#include <math.h>

#include "base/options.h"
#include "optim/optimizer.h"

/* In the order of the rules' scalars. */
enum { LR, DECAY, KEEP, GAIN, MOMENTUM };

static void scalars_at(void *options, const struct tn_rule_point *at, double *values)
{
	const struct tn_sgd_options *o = options;
	values[LR] = at->lr;
	values[DECAY] = at->weight_decay;
	if (o->momentum == 0.0)
		return;
	values[KEEP] = at->step == 1 ? 0.0 : o->momentum;
	values[GAIN] = at->step == 1 ? 1.0 : 1.0 - o->dampening;
	values[MOMENTUM] = o->momentum;
}

static const struct tn_optimizer_rule plain = {
	.name = "sgd",
	.text = "w = w - lr * (dw + decay * w)",
	.scalars = "lr decay",
	.scalars_at = scalars_at,
};

/* At a weight's first step the buffer becomes g for any momentum and dampening: keep is 0 and gain
 * is 1. */
static const struct tn_optimizer_rule with_momentum = {
	.name = "sgd",
	.text = "g = dw + decay * w; momentum_buffer = keep * momentum_buffer + gain * g;"
		"w = w - lr * momentum_buffer",
	.states = {"momentum_buffer"},
	.scalars = "lr decay keep gain momentum",
	.scalars_at = scalars_at,
};

static const struct tn_optimizer_rule nesterov = {
	.name = "sgd",
	.variant = "nesterov",
	.text = "g = dw + decay * w; momentum_buffer = keep * momentum_buffer + gain * g;"
		"w = w - lr * (g + momentum * momentum_buffer)",
	.states = {"momentum_buffer"},
	.scalars = "lr decay keep gain momentum",
	.scalars_at = scalars_at,
};

static const struct tn_option members[] = {
	{TN_MEMBER(struct tn_sgd_options, lr), .most = INFINITY},
	{TN_MEMBER(struct tn_sgd_options, momentum), .most = INFINITY},
	{TN_MEMBER(struct tn_sgd_options, dampening), TN_LEAST | TN_MOST, .least = -INFINITY,
	 .most = INFINITY},
	{TN_MEMBER(struct tn_sgd_options, weight_decay), .most = INFINITY},
	{0},
};

tn_optimizer *tn_sgd(tn_module *module, const struct tn_sgd_options *options)
{
	struct tn_sgd_options o = tn_sgd_defaults();
	if (!module || tn_runtime_take(module->runtime, &o, sizeof(o), options,
				       "struct tn_sgd_options", "sgd"))
		return NULL;
	if (tn_runtime_check(module->runtime, &o, members, "sgd") ||
	    (o.nesterov && tn_nesterov_check(module->runtime, "sgd", o.momentum, o.dampening)))
		return NULL;
	const struct tn_optimizer_rule *rule = o.momentum == 0.0 ? &plain
					       : o.nesterov      ? &nesterov
								 : &with_momentum;
	return tn_optimizer_create(module, rule, o.lr, o.weight_decay, &o, sizeof(o));
}
