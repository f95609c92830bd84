/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Lion: X. Chen et al., "Symbolic Discovery of Optimization Algorithms", NeurIPS 2023.
 */
#include "optim/optimizer.h"

/* In the order of the rule's scalars. */
enum { BETA1, GAIN1, BETA2, GAIN2, SHRINK, LR };

static void scalars_at(void *options, const struct tn_rule_point *at, double *values)
{
	const struct tn_lion_options *o = options;
	values[BETA1] = o->beta1;
	values[GAIN1] = 1.0 - o->beta1;
	values[BETA2] = o->beta2;
	values[GAIN2] = 1.0 - o->beta2;
	values[SHRINK] = 1.0 - at->lr * at->weight_decay;
	values[LR] = at->lr;
}

static const struct tn_optimizer_rule lion = {
	.name = "lion",
	.text = "w = w * shrink - lr * sign(beta1 * exp_avg + gain1 * dw);"
		"exp_avg = beta2 * exp_avg + gain2 * dw",
	.states = {"exp_avg"},
	.scalars = "beta1 gain1 beta2 gain2 shrink lr",
	.scalars_at = scalars_at,
};

tn_optimizer *tn_lion(tn_module *module, const struct tn_lion_options *options)
{
	struct tn_lion_options o = {0};
	if (!module || tn_runtime_take(module->runtime, &o, sizeof(o), options,
				       "struct tn_lion_options", "lion"))
		return NULL;
	o.lr = tn_or_default(o.lr, 1e-4);
	o.beta1 = tn_or_default(o.beta1, 0.9);
	o.beta2 = tn_or_default(o.beta2, 0.99);
	if (!(o.lr > 0.0) || !(o.beta1 > 0.0 && o.beta1 < 1.0) ||
	    !(o.beta2 > 0.0 && o.beta2 < 1.0) || !(o.weight_decay >= 0.0)) {
		tn_runtime_fail(module->runtime, TN_INVALID_ARGUMENT, "lion",
				"expected lr > 0, betas in (0, 1) and weight_decay >= 0; found lr "
				"%g, betas %g and %g, weight_decay %g",
				o.lr, o.beta1, o.beta2, o.weight_decay);
		return NULL;
	}
	return tn_optimizer_create(module, &lion, o.lr, o.weight_decay, &o, sizeof(o));
}
