/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * LARS: Y. You, I. Gitman and B. Ginsburg, "Large Batch Training of Convolutional Networks", 2017.
 */
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

tn_optimizer *tn_lars(tn_module *module, const struct tn_lars_options *options)
{
	struct tn_lars_options o = {0};
	if (!module || tn_runtime_take(module->runtime, &o, sizeof(o), options,
				       "struct tn_lars_options", "lars"))
		return NULL;
	o.trust_coefficient = tn_or_default(o.trust_coefficient, 1e-3);
	o.epsilon = tn_or_default(o.epsilon, 1e-8);
	if (!(o.lr > 0.0) || !(o.momentum >= 0.0) || !(o.weight_decay >= 0.0) ||
	    !(o.trust_coefficient > 0.0) || !(o.epsilon > 0.0) ||
	    (o.nesterov && (o.momentum == 0.0 || o.dampening != 0.0))) {
		tn_runtime_fail(module->runtime, TN_INVALID_ARGUMENT, "lars",
				"expected lr > 0, momentum >= 0, weight_decay >= 0, "
				"trust_coefficient > 0, epsilon > 0 and, for Nesterov, momentum "
				"without dampening; found lr %g, momentum %g, dampening %g, "
				"weight_decay %g, trust_coefficient %g, epsilon %g",
				o.lr, o.momentum, o.dampening, o.weight_decay, o.trust_coefficient,
				o.epsilon);
		return NULL;
	}
	tn_optimizer *optimizer =
		tn_optimizer_create(module, &lars, o.lr, o.weight_decay, &o, sizeof(o));
	tn_optimizer_spare_vectors(optimizer, !o.adapt_vectors);
	return optimizer;
}
