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

static tn_optimizer *make(const struct train_optimizer *choice, tn_module *module)
{
	double lr = choice->lr, momentum = choice->momentum;
	double decay = choice->weight_decay < 0 ? 0.0 : choice->weight_decay;
	switch (choice->which) {
	case SGD:
		return tn_sgd(module, TN_OPTIONS(struct tn_sgd_options, .lr = lr > 0 ? lr : 0.05,
						 .momentum = momentum, .weight_decay = decay));
	case ADAM:
		return tn_adam(module,
			       TN_OPTIONS(struct tn_adam_options, .lr = lr, .weight_decay = decay));
	case NADAM:
		return tn_nadam(module, TN_OPTIONS(struct tn_nadam_options, .lr = lr,
						   .weight_decay = decay));
	case RMSPROP:
		return tn_rmsprop(module,
				  TN_OPTIONS(struct tn_rmsprop_options, .lr = lr > 0 ? lr : 0.001,
					     .weight_decay = decay));
	case ADAGRAD:
		return tn_adagrad(module, TN_OPTIONS(struct tn_adagrad_options, .lr = lr,
						     .weight_decay = decay));
	case ADADELTA:
		return tn_adadelta(module, TN_OPTIONS(struct tn_adadelta_options, .lr = lr,
						      .weight_decay = decay));
	case LION:
		return tn_lion(module, TN_OPTIONS(struct tn_lion_options, .lr = lr > 0 ? lr : 0.001,
						  .weight_decay = decay));
	case LARS:
		return tn_lars(module, TN_OPTIONS(struct tn_lars_options, .lr = lr > 0 ? lr : 5.0,
						  .momentum = momentum, .weight_decay = decay));
	case LAMB:
		return tn_lamb(module, TN_OPTIONS(struct tn_lamb_options, .lr = lr > 0 ? lr : 0.02,
						  .weight_decay = decay));
	default:
		return tn_adamw(module,
				TN_OPTIONS(struct tn_adamw_options, .lr = lr > 0 ? lr : 0.002,
					   .weight_decay = choice->weight_decay));
	}
}

tn_optimizer *train_optimizer_make(const struct train_optimizer *choice, tn_module *module)
{
	tn_optimizer *optimizer = make(choice, module);
	const struct tn_lookahead_options options = {.struct_size = sizeof(options),
						     .k = choice->lookahead_k,
						     .alpha = choice->lookahead_alpha};
	if (!optimizer || !choice->lookahead || !tn_lookahead(optimizer, &options))
		return optimizer;
	tn_optimizer_destroy(optimizer);
	return NULL;
}
