/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * LARS: Y. You, I. Gitman and B. Ginsburg, "Large Batch Training of Convolutional Networks", 2017.
 */
#include <math.h>

#include "base/options.h"
#include "optim/optimizer.h"

/* In the order of the rule's scalars. */
enum { LR, DECAY, TRUST, EPSILON, KEEP, GAIN, MOMENTUM };

/* `trust` is 0 for a weight that is not adapted.  At a weight's first step the buffer becomes the
 * update: keep is 0 and gain is 1.  Without Nesterov the scalar momentum is 0, and the buffer is
 * the step. */
static void scalars_at(void *options, const struct tn_rule_point *at, double *values)
{
	const struct tn_lars_options *o = options;
	values[LR] = at->lr;
	values[DECAY] = at->weight_decay;
	values[TRUST] = at->is_adapted ? o->trust_coefficient : 0.0;
	values[EPSILON] = o->epsilon;
	values[KEEP] = at->step == 1 ? 0.0 : o->momentum;
	values[GAIN] = at->step == 1 ? 1.0 : 1.0 - o->dampening;
	values[MOMENTUM] = o->nesterov ? o->momentum : 0.0;
}

static const struct tn_optimizer_rule lars = {
	.name = "lars",
	.ratio = "w_norm = sqrt(w_squares); d_norm = sqrt(d_squares);"
		 "is_adapted = trust > 0 && w_norm > 0 && d_norm > 0;"
		 "ratio = is_adapted ? trust * w_norm / (d_norm + decay * w_norm + epsilon) : 1",
	.text = "g = ratio * (dw + decay * w);"
		"momentum_buffer = keep * momentum_buffer + gain * g;"
		"w = w - lr * (momentum > 0 ? g + momentum * momentum_buffer : momentum_buffer)",
	.states = {"momentum_buffer"},
	.scalars = "lr decay trust epsilon keep gain momentum",
	.scalars_at = scalars_at,
};

static const struct tn_option members[] = {
	{TN_MEMBER(struct tn_lars_options, lr), .most = INFINITY},
	{TN_MEMBER(struct tn_lars_options, momentum), .most = INFINITY},
	{TN_MEMBER(struct tn_lars_options, dampening), TN_LEAST | TN_MOST, .least = -INFINITY,
	 .most = INFINITY},
	{TN_MEMBER(struct tn_lars_options, weight_decay), .most = INFINITY},
	{TN_MEMBER(struct tn_lars_options, trust_coefficient), TN_LEAST, .most = INFINITY},
	{TN_MEMBER(struct tn_lars_options, epsilon), .most = INFINITY},
	{0},
};

tn_optimizer *tn_lars(tn_module *module, const struct tn_lars_options *options)
{
	struct tn_lars_options o = tn_lars_defaults();
	if (!module || tn_runtime_take(module->runtime, &o, sizeof(o), options,
				       "struct tn_lars_options", "lars"))
		return NULL;
	if (tn_runtime_check(module->runtime, &o, members, "lars") ||
	    (o.nesterov && tn_nesterov_check(module->runtime, "lars", o.momentum, o.dampening)))
		return NULL;
	tn_optimizer *optimizer =
		tn_optimizer_create(module, &lars, o.lr, o.weight_decay, &o, sizeof(o));
	tn_optimizer_spare_vectors(optimizer, !o.adapt_vectors);
	return optimizer;
}
