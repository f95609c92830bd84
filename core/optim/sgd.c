/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Stochastic gradient descent with momentum, as torch.optim.SGD.
 */
#include "optim/optimizer.h"

static const char plain[] = "w = w - lr * (dw + decay * w)";
static const char *const plain_scalars[] = {"lr", "decay"};

/* At a weight's first step b := g, whatever momentum and dampening are: then keep 0 and gain 1. */
static const char momentum[] = "g = dw + decay * w; b = keep * b + gain * g; w = w - lr * b";
static const char nesterov[] =
	"g = dw + decay * w; b = keep * b + gain * g; w = w - lr * (g + momentum * b)";
static const char *const momentum_scalars[] = {"lr", "decay", "keep", "gain", "momentum"};
static const char *const states_names[] = {"b"};

static void plain_scalars_at(const tn_optimizer *optimizer, uint64_t step, double *scalars)
{
	(void)step;
	scalars[0] = optimizer->lr;
	scalars[1] = optimizer->options.sgd.weight_decay;
}

static void momentum_scalars_at(const tn_optimizer *optimizer, uint64_t step, double *scalars)
{
	const struct tn_sgd_options *o = &optimizer->options.sgd;
	scalars[0] = optimizer->lr;
	scalars[1] = o->weight_decay;
	scalars[2] = step == 1 ? 0.0 : o->momentum;
	scalars[3] = step == 1 ? 1.0 : 1.0 - o->dampening;
	scalars[4] = o->momentum;
}

tn_optimizer *tn_sgd(tn_module *module, const struct tn_sgd_options *options)
{
	struct tn_sgd_options o = {0};
	if (!module || tn_runtime_take(module->runtime, &o, sizeof(o), options,
				       "struct tn_sgd_options", "sgd"))
		return NULL;
	if (!(o.lr > 0.0) || !(o.momentum >= 0.0) || !(o.weight_decay >= 0.0) ||
	    (o.nesterov && (o.momentum == 0.0 || o.dampening != 0.0))) {
		tn_runtime_fail(module->runtime, TN_INVALID_ARGUMENT, "sgd",
				"expected lr > 0, momentum >= 0, weight_decay >= 0 and, for "
				"Nesterov, momentum "
				"without dampening; found lr %g, momentum %g, dampening %g, "
				"weight_decay %g",
				o.lr, o.momentum, o.dampening, o.weight_decay);
		return NULL;
	}
	tn_optimizer *optimizer =
		o.momentum == 0.0
			? tn_optimizer_create(module, "sgd", 0, NULL, plain, 2, plain_scalars)
			: tn_optimizer_create(module, "sgd", 1, states_names,
					      o.nesterov ? nesterov : momentum, 5,
					      momentum_scalars);
	if (!optimizer)
		return NULL;
	optimizer->options.sgd = o;
	optimizer->lr = o.lr;
	optimizer->scalars_at = o.momentum == 0.0 ? plain_scalars_at : momentum_scalars_at;
	return optimizer;
}
