/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * AdamW: I. Loshchilov and F. Hutter, "Decoupled Weight Decay Regularization", ICLR 2019, with
 * PyTorch's order of operations.  The corrections of the biases are numbers, not arrays:
 *     shrink = 1 - lr weight_decay,  rate = lr / (1 - beta1^t),  correction = 1 / sqrt(1 - beta2^t)
 */
#include <math.h>

#include "optim/optimizer.h"

enum { BETA1, GAIN1, BETA2, GAIN2, SHRINK, RATE, CORRECTION, EPSILON };
static const char *const scalars[] = {
	[BETA1] = "beta1",   [GAIN1] = "gain1", [BETA2] = "beta2",           [GAIN2] = "gain2",
	[SHRINK] = "shrink", [RATE] = "rate",   [CORRECTION] = "correction", [EPSILON] = "epsilon"};
static const char *const states[] = {"m", "v", NULL};

static void scalars_at(const void *options, double lr, uint64_t step, double *values)
{
	const struct tn_adamw_options *o = options;
	double t = (double)step;
	values[BETA1] = o->beta1;
	values[GAIN1] = 1.0 - o->beta1;
	values[BETA2] = o->beta2;
	values[GAIN2] = 1.0 - o->beta2;
	values[SHRINK] = 1.0 - lr * o->weight_decay;
	values[RATE] = lr / (1.0 - pow(o->beta1, t));
	values[CORRECTION] = 1.0 / sqrt(1.0 - pow(o->beta2, t));
	values[EPSILON] = o->epsilon;
}

static const struct tn_optimizer_rule adamw = {
	.name = "adamw",
	.text = "m = beta1 * m + gain1 * dw; v = beta2 * v + gain2 * dw * dw;"
		"w = w * shrink - rate * m / (sqrt(v) * correction + epsilon)",
	.states = states,
	.scalars = scalars,
	.n_scalars = EPSILON + 1,
	.scalars_at = scalars_at,
};

static double or_default(double value, double otherwise)
{
	return value == 0.0 ? otherwise : value;
}

tn_optimizer *tn_adamw(tn_module *module, const struct tn_adamw_options *options)
{
	struct tn_adamw_options o = {.weight_decay = -1.0};
	if (!module || tn_runtime_take(module->runtime, &o, sizeof(o), options,
				       "struct tn_adamw_options", "adamw"))
		return NULL;
	o.lr = or_default(o.lr, 1e-3);
	o.beta1 = or_default(o.beta1, 0.9);
	o.beta2 = or_default(o.beta2, 0.999);
	o.epsilon = or_default(o.epsilon, 1e-8);
	if (o.weight_decay < 0.0)
		o.weight_decay = 0.01;
	if (!(o.lr > 0.0) || !(o.beta1 > 0.0 && o.beta1 < 1.0) ||
	    !(o.beta2 > 0.0 && o.beta2 < 1.0) || !(o.epsilon > 0.0)) {
		tn_runtime_fail(module->runtime, TN_INVALID_ARGUMENT, "adamw",
				"expected lr > 0, betas in (0, 1) and epsilon > 0; found lr %g, "
				"betas %g and "
				"%g, epsilon %g",
				o.lr, o.beta1, o.beta2, o.epsilon);
		return NULL;
	}
	return tn_optimizer_create(module, &adamw, o.lr, &o, sizeof(o));
}
