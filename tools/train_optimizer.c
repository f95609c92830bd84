/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Makes the optimizer that --optimizer names, with its options.
 */
#include "train_optimizer.h"

enum { ADAMW, SGD, ADAM, NADAM, RMSPROP, ADAGRAD, ADADELTA, LION, LARS, LAMB };

const char *const train_optimizer_names[] = {[ADAMW] = "adamw",
					     [SGD] = "sgd",
					     [ADAM] = "adam",
					     [NADAM] = "nadam",
					     [RMSPROP] = "rmsprop",
					     [ADAGRAD] = "adagrad",
					     [ADADELTA] = "adadelta",
					     [LION] = "lion",
					     [LARS] = "lars",
					     [LAMB] = "lamb",
					     NULL};

double train_optimizer_lr(const struct train_optimizer *choice)
{
	if (choice->lr > 0)
		return choice->lr;
	switch (choice->which) {
	case ADAM:
		return tn_adam_defaults().lr;
	case NADAM:
		return tn_nadam_defaults().lr;
	case ADAGRAD:
		return tn_adagrad_defaults().lr;
	case ADADELTA:
		return tn_adadelta_defaults().lr;
	case SGD:
		return 0.05;
	case LARS:
		return 5.0;
	case LAMB:
		return 0.02;
	case ADAMW:
		return 0.002;
	default:
		return 0.001;
	}
}

/* The rate, and the decay if it was given. */
static void choose(const struct train_optimizer *choice, double *lr, double *decay)
{
	*lr = train_optimizer_lr(choice);
	if (choice->weight_decay >= 0)
		*decay = choice->weight_decay;
}

int train_optimizer_has_momentum(const struct train_optimizer *choice)
{
	return choice->which == SGD || choice->which == LARS;
}

static double momentum(const struct train_optimizer *choice)
{
	return choice->momentum < 0 ? 0.9 : choice->momentum;
}

static tn_optimizer *make_adamw(const struct train_optimizer *choice, tn_module *module)
{
	struct tn_adamw_options options = tn_adamw_defaults();
	choose(choice, &options.lr, &options.weight_decay);
	return tn_adamw(module, &options);
}

static tn_optimizer *make_sgd(const struct train_optimizer *choice, tn_module *module)
{
	struct tn_sgd_options options = tn_sgd_defaults();
	choose(choice, &options.lr, &options.weight_decay);
	options.momentum = momentum(choice);
	return tn_sgd(module, &options);
}

static tn_optimizer *make_adam(const struct train_optimizer *choice, tn_module *module)
{
	struct tn_adam_options options = tn_adam_defaults();
	choose(choice, &options.lr, &options.weight_decay);
	return tn_adam(module, &options);
}

static tn_optimizer *make_nadam(const struct train_optimizer *choice, tn_module *module)
{
	struct tn_nadam_options options = tn_nadam_defaults();
	choose(choice, &options.lr, &options.weight_decay);
	return tn_nadam(module, &options);
}

static tn_optimizer *make_rmsprop(const struct train_optimizer *choice, tn_module *module)
{
	struct tn_rmsprop_options options = tn_rmsprop_defaults();
	choose(choice, &options.lr, &options.weight_decay);
	return tn_rmsprop(module, &options);
}

static tn_optimizer *make_adagrad(const struct train_optimizer *choice, tn_module *module)
{
	struct tn_adagrad_options options = tn_adagrad_defaults();
	choose(choice, &options.lr, &options.weight_decay);
	return tn_adagrad(module, &options);
}

static tn_optimizer *make_adadelta(const struct train_optimizer *choice, tn_module *module)
{
	struct tn_adadelta_options options = tn_adadelta_defaults();
	choose(choice, &options.lr, &options.weight_decay);
	return tn_adadelta(module, &options);
}

static tn_optimizer *make_lion(const struct train_optimizer *choice, tn_module *module)
{
	struct tn_lion_options options = tn_lion_defaults();
	choose(choice, &options.lr, &options.weight_decay);
	return tn_lion(module, &options);
}

static tn_optimizer *make_lars(const struct train_optimizer *choice, tn_module *module)
{
	struct tn_lars_options options = tn_lars_defaults();
	choose(choice, &options.lr, &options.weight_decay);
	options.momentum = momentum(choice);
	return tn_lars(module, &options);
}

static tn_optimizer *make_lamb(const struct train_optimizer *choice, tn_module *module)
{
	struct tn_lamb_options options = tn_lamb_defaults();
	choose(choice, &options.lr, &options.weight_decay);
	return tn_lamb(module, &options);
}

static tn_optimizer *(*const makers[])(const struct train_optimizer *choice, tn_module *module) = {
	[ADAMW] = make_adamw,       [SGD] = make_sgd,         [ADAM] = make_adam,
	[NADAM] = make_nadam,       [RMSPROP] = make_rmsprop, [ADAGRAD] = make_adagrad,
	[ADADELTA] = make_adadelta, [LION] = make_lion,       [LARS] = make_lars,
	[LAMB] = make_lamb,
};

tn_optimizer *train_optimizer_make(const struct train_optimizer *choice, tn_module *module)
{
	tn_optimizer *optimizer = makers[choice->which](choice, module);
	struct tn_lookahead_options options = tn_lookahead_defaults();
	if (choice->lookahead_k)
		options.k = choice->lookahead_k;
	if (choice->lookahead_alpha > 0)
		options.alpha = choice->lookahead_alpha;
	if (!optimizer || !choice->lookahead || !tn_lookahead(optimizer, &options))
		return optimizer;
	tn_optimizer_destroy(optimizer);
	return NULL;
}
