/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * AdamW: I. Loshchilov and F. Hutter, "Decoupled Weight Decay Regularization", ICLR 2019, with
 * PyTorch's order of operations.  The corrections of the biases are numbers, not arrays:
 *     shrink = 1 - lr weight_decay,  rate = lr / (1 - beta1^t),  correction = 1 / sqrt(1 - beta2^t)
 */
#include <math.h>
#include "optim/optimizer.h"

static const char text[] = "m = beta1 * m + gain1 * dw; v = beta2 * v + gain2 * dw * dw;"
			   "w = w * shrink - rate * m / (sqrt(v) * correction + epsilon)";
static const char *const scalar_names[] = {"beta1",  "gain1", "beta2",      "gain2",
					   "shrink", "rate",  "correction", "epsilon"};
static const char *const state_names[] = {"m", "v"};

static void scalars_at(const tn_optimizer *optimizer, uint64_t step, double *scalars)
{
	const struct tn_adamw_options *o = &optimizer->options.adamw;
	double t = (double)step, lr = optimizer->lr;
	scalars[0] = o->beta1;
	scalars[1] = 1.0 - o->beta1;
	scalars[2] = o->beta2;
	scalars[3] = 1.0 - o->beta2;
	scalars[4] = 1.0 - lr * o->weight_decay;
	scalars[5] = lr / (1.0 - pow(o->beta1, t));
	scalars[6] = 1.0 / sqrt(1.0 - pow(o->beta2, t));
	scalars[7] = o->epsilon;
}

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
	tn_optimizer *optimizer =
		tn_optimizer_create(module, "adamw", 2, state_names, text, 8, scalar_names);
	if (!optimizer)
		return NULL;
	optimizer->options.adamw = o;
	optimizer->lr = o.lr;
	optimizer->scalars_at = scalars_at;
	return optimizer;
}
