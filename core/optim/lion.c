/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Lion: X. Chen et al., "Symbolic Discovery of Optimization Algorithms", NeurIPS 2023.
 */
#include <math.h>

#include "base/options.h"
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

static const struct tn_option members[] = {
	{TN_MEMBER(struct tn_lion_options, lr), TN_LEAST, .most = INFINITY},
	{TN_MEMBER(struct tn_lion_options, beta1), TN_MOST, .most = 1},
	{TN_MEMBER(struct tn_lion_options, beta2), TN_MOST, .most = 1},
	{TN_MEMBER(struct tn_lion_options, weight_decay), .most = INFINITY},
	{0},
};

tn_optimizer *tn_lion(tn_module *module, const struct tn_lion_options *options)
{
	struct tn_lion_options o = tn_lion_defaults();
	if (!module || tn_runtime_take(module->runtime, &o, sizeof(o), options,
				       "struct tn_lion_options", "lion"))
		return NULL;
	if (tn_runtime_check(module->runtime, &o, members, "lion"))
		return NULL;
	return tn_optimizer_create(module, &lion, o.lr, o.weight_decay, &o, sizeof(o));
}
