/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Adam: D. P. Kingma and J. Ba, "Adam: A Method for Stochastic Optimization", ICLR 2015; AdamW:
 * I. Loshchilov and F. Hutter, "Decoupled Weight Decay Regularization", ICLR 2019; AMSGrad: S. J.
 * Reddi, S. Kale and S. Kumar, "On the Convergence of Adam and Beyond", ICLR 2018; with PyTorch's
 * order of operations.  The corrections of the biases are numbers, not arrays:
 *     shrink = 1 - lr weight_decay,  rate = lr / (1 - beta1^t),  correction = 1 / sqrt(1 - beta2^t)
 */
#include <math.h>

#include "base/options.h"
#include "optim/optimizer.h"

/* DECAY is the weight decay of Adam, added to the gradient, and for AdamW the factor of the
 * weight. */
/* In the order of the rules' scalars. */
enum { BETA1, GAIN1, BETA2, GAIN2, DECAY, RATE, CORRECTION, EPSILON };

/* Of both. */
struct settings {
	double lr;
	double beta1;
	double beta2;
	double epsilon;
	double weight_decay;
};

static void adam_at(void *options, const struct tn_rule_point *at, double *values)
{
	const struct settings *o = options;
	double t = (double)at->step;
	values[BETA1] = o->beta1;
	values[GAIN1] = 1.0 - o->beta1;
	values[BETA2] = o->beta2;
	values[GAIN2] = 1.0 - o->beta2;
	values[DECAY] = at->weight_decay;
	values[RATE] = at->lr / (1.0 - pow(o->beta1, t));
	values[CORRECTION] = 1.0 / sqrt(1.0 - pow(o->beta2, t));
	values[EPSILON] = o->epsilon;
}

static void adamw_at(void *options, const struct tn_rule_point *at, double *values)
{
	adam_at(options, at, values);
	values[DECAY] = 1.0 - at->lr * at->weight_decay;
}

static const struct tn_optimizer_rule adam = {
	.name = "adam",
	.text = "g = dw + decay * w; exp_avg = beta1 * exp_avg + gain1 * g;"
		"exp_avg_sq = beta2 * exp_avg_sq + gain2 * g * g;"
		"w = w - rate * exp_avg / (sqrt(exp_avg_sq) * correction + epsilon)",
	.states = {"exp_avg", "exp_avg_sq"},
	.scalars = "beta1 gain1 beta2 gain2 decay rate correction epsilon",
	.scalars_at = adam_at,
};

static const struct tn_optimizer_rule adam_amsgrad = {
	.name = "adam",
	.text = "g = dw + decay * w; exp_avg = beta1 * exp_avg + gain1 * g;"
		"exp_avg_sq = beta2 * exp_avg_sq + gain2 * g * g;"
		"max_exp_avg_sq = max(max_exp_avg_sq, exp_avg_sq);"
		"w = w - rate * exp_avg / (sqrt(max_exp_avg_sq) * correction + epsilon)",
	.states = {"exp_avg", "exp_avg_sq", "max_exp_avg_sq"},
	.scalars = "beta1 gain1 beta2 gain2 decay rate correction epsilon",
	.scalars_at = adam_at,
};

static const struct tn_optimizer_rule adamw = {
	.name = "adamw",
	.text = "exp_avg = beta1 * exp_avg + gain1 * dw;"
		"exp_avg_sq = beta2 * exp_avg_sq + gain2 * dw * dw;"
		"w = w * shrink - rate * exp_avg / (sqrt(exp_avg_sq) * correction + epsilon)",
	.states = {"exp_avg", "exp_avg_sq"},
	.scalars = "beta1 gain1 beta2 gain2 shrink rate correction epsilon",
	.scalars_at = adamw_at,
};

static const struct tn_optimizer_rule adamw_amsgrad = {
	.name = "adamw",
	.text = "exp_avg = beta1 * exp_avg + gain1 * dw;"
		"exp_avg_sq = beta2 * exp_avg_sq + gain2 * dw * dw;"
		"max_exp_avg_sq = max(max_exp_avg_sq, exp_avg_sq);"
		"w = w * shrink - rate * exp_avg / (sqrt(max_exp_avg_sq) * correction + epsilon)",
	.states = {"exp_avg", "exp_avg_sq", "max_exp_avg_sq"},
	.scalars = "beta1 gain1 beta2 gain2 shrink rate correction epsilon",
	.scalars_at = adamw_at,
};

static const struct tn_option members[] = {
	{TN_MEMBER(struct settings, lr), TN_LEAST, .most = INFINITY},
	{TN_MEMBER(struct settings, beta1), TN_MOST, .most = 1},
	{TN_MEMBER(struct settings, beta2), TN_MOST, .most = 1},
	{TN_MEMBER(struct settings, epsilon), TN_LEAST, .most = INFINITY},
	{TN_MEMBER(struct settings, weight_decay), .most = INFINITY},
	{0},
};

static tn_optimizer *create(tn_module *module, const struct tn_optimizer_rule *rule,
			    struct settings o)
{
	if (tn_runtime_check(module->runtime, &o, members, rule->name))
		return NULL;
	return tn_optimizer_create(module, rule, o.lr, o.weight_decay, &o, sizeof(o));
}

tn_optimizer *tn_adam(tn_module *module, const struct tn_adam_options *options)
{
	struct tn_adam_options o = tn_adam_defaults();
	if (!module || tn_runtime_take(module->runtime, &o, sizeof(o), options,
				       "struct tn_adam_options", "adam"))
		return NULL;
	return create(module, o.amsgrad ? &adam_amsgrad : &adam,
		      (struct settings){.lr = o.lr,
					.beta1 = o.beta1,
					.beta2 = o.beta2,
					.epsilon = o.epsilon,
					.weight_decay = o.weight_decay});
}

tn_optimizer *tn_adamw(tn_module *module, const struct tn_adamw_options *options)
{
	struct tn_adamw_options o = tn_adamw_defaults();
	if (!module || tn_runtime_take(module->runtime, &o, sizeof(o), options,
				       "struct tn_adamw_options", "adamw"))
		return NULL;
	return create(module, o.amsgrad ? &adamw_amsgrad : &adamw,
		      (struct settings){.lr = o.lr,
					.beta1 = o.beta1,
					.beta2 = o.beta2,
					.epsilon = o.epsilon,
					.weight_decay = o.weight_decay});
}
