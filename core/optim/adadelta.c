/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Adadelta: M. D. Zeiler, "ADADELTA: An Adaptive Learning Rate Method", 2012; as
 * torch.optim.Adadelta.
 */
#include "optim/optimizer.h"

/* In the order of the rule's scalars. */
enum { LR, DECAY, RHO, GAIN, EPSILON };

static void scalars_at(void *options, const struct tn_rule_point *at, double *values)
{
	const struct tn_adadelta_options *o = options;
	values[LR] = at->lr;
	values[DECAY] = at->weight_decay;
	values[RHO] = o->rho;
	values[GAIN] = 1.0 - o->rho;
	values[EPSILON] = o->epsilon;
}

static const struct tn_optimizer_rule adadelta = {
	.name = "adadelta",
	.text = "g = dw + decay * w; square_avg = rho * square_avg + gain * g * g;"
		"delta = sqrt(acc_delta + epsilon) / sqrt(square_avg + epsilon) * g;"
		"acc_delta = rho * acc_delta + gain * delta * delta; w = w - lr * delta",
	.states = {"square_avg", "acc_delta"},
	.scalars = "lr decay rho gain epsilon",
	.scalars_at = scalars_at,
};

tn_optimizer *tn_adadelta(tn_module *module, const struct tn_adadelta_options *options)
{
	struct tn_adadelta_options o = {0};
	if (!module || tn_runtime_take(module->runtime, &o, sizeof(o), options,
				       "struct tn_adadelta_options", "adadelta"))
		return NULL;
	o.lr = tn_or_default(o.lr, 1.0);
	o.rho = tn_or_default(o.rho, 0.9);
	o.epsilon = tn_or_default(o.epsilon, 1e-6);
	if (!(o.lr > 0.0) || !(o.rho > 0.0 && o.rho < 1.0) || !(o.epsilon > 0.0) ||
	    !(o.weight_decay >= 0.0)) {
		tn_runtime_fail(module->runtime, TN_INVALID_ARGUMENT, "adadelta",
				"expected lr > 0, rho in (0, 1), epsilon > 0 and weight_decay >= "
				"0; found lr %g, rho %g, epsilon %g, weight_decay %g",
				o.lr, o.rho, o.epsilon, o.weight_decay);
		return NULL;
	}
	return tn_optimizer_create(module, &adadelta, o.lr, o.weight_decay, &o, sizeof(o));
}
