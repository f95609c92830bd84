/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Adagrad: J. Duchi, E. Hazan and Y. Singer, "Adaptive Subgradient Methods for Online Learning and
 * Stochastic Optimization", JMLR 12, 2011; as torch.optim.Adagrad.
 */
#include "optim/optimizer.h"

/* In the order of the rule's scalars. */
enum { RATE, DECAY, EPSILON };

static void scalars_at(void *options, const struct tn_rule_point *at, double *values)
{
	const struct tn_adagrad_options *o = options;
	values[RATE] = at->lr / (1.0 + (double)(at->step - 1) * o->lr_decay);
	values[DECAY] = at->weight_decay;
	values[EPSILON] = o->epsilon;
}

static const struct tn_optimizer_rule adagrad = {
	.name = "adagrad",
	.text = "g = dw + decay * w; sum = sum + g * g; w = w - rate * (g / (sqrt(sum) + epsilon))",
	.states = {"sum"},
	.scalars = "rate decay epsilon",
	.scalars_at = scalars_at,
};

tn_optimizer *tn_adagrad(tn_module *module, const struct tn_adagrad_options *options)
{
	struct tn_adagrad_options o = {0};
	if (!module || tn_runtime_take(module->runtime, &o, sizeof(o), options,
				       "struct tn_adagrad_options", "adagrad"))
		return NULL;
	o.lr = tn_or_default(o.lr, 1e-2);
	o.epsilon = tn_or_default(o.epsilon, 1e-10);
	if (!(o.lr > 0.0) || !(o.lr_decay >= 0.0) || !(o.weight_decay >= 0.0) ||
	    !(o.initial_accumulator_value >= 0.0) || !(o.epsilon > 0.0)) {
		tn_runtime_fail(module->runtime, TN_INVALID_ARGUMENT, "adagrad",
				"expected lr > 0, lr_decay >= 0, weight_decay >= 0, "
				"initial_accumulator_value >= 0 and epsilon > 0; found lr %g, "
				"lr_decay %g, weight_decay %g, initial_accumulator_value %g, "
				"epsilon %g",
				o.lr, o.lr_decay, o.weight_decay, o.initial_accumulator_value,
				o.epsilon);
		return NULL;
	}
	tn_optimizer *optimizer =
		tn_optimizer_create(module, &adagrad, o.lr, o.weight_decay, &o, sizeof(o));
	if (optimizer && o.initial_accumulator_value > 0.0 &&
	    tn_fill(optimizer->states[0], o.initial_accumulator_value)) {
		tn_optimizer_destroy(optimizer);
		return NULL;
	}
	return optimizer;
}
