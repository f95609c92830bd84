/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Adagrad: J. Duchi, E. Hazan and Y. Singer, "Adaptive Subgradient Methods for Online Learning and
 * Stochastic Optimization", JMLR 12, 2011; as torch.optim.Adagrad.
 */
#include <math.h>

#include "base/options.h"
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

static const struct tn_option members[] = {
	{TN_MEMBER(struct tn_adagrad_options, lr), TN_LEAST, .most = INFINITY},
	{TN_MEMBER(struct tn_adagrad_options, lr_decay), .most = INFINITY},
	{TN_MEMBER(struct tn_adagrad_options, weight_decay), .most = INFINITY},
	{TN_MEMBER(struct tn_adagrad_options, initial_accumulator_value), .most = INFINITY},
	{TN_MEMBER(struct tn_adagrad_options, epsilon), TN_LEAST, .most = INFINITY},
	{0},
};

tn_optimizer *tn_adagrad(tn_module *module, const struct tn_adagrad_options *options)
{
	struct tn_adagrad_options o = tn_adagrad_defaults();
	if (!module || tn_runtime_take(module->runtime, &o, sizeof(o), options,
				       "struct tn_adagrad_options", "adagrad"))
		return NULL;
	if (tn_runtime_check(module->runtime, &o, members, "adagrad"))
		return NULL;
	tn_optimizer *optimizer =
		tn_optimizer_create(module, &adagrad, o.lr, o.weight_decay, &o, sizeof(o));
	if (optimizer && o.initial_accumulator_value > 0.0 &&
	    tn_fill(optimizer->states[0], o.initial_accumulator_value)) {
		tn_optimizer_destroy(optimizer);
		return NULL;
	}
	return optimizer;
}
