/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The optimizers of `tenon train`, by name.
 */
#ifndef TENON_TRAIN_OPTIMIZER_H
#define TENON_TRAIN_OPTIMIZER_H

#include <tenon/tenon.h>

/* The names, then NULL; the first is the default. */
extern const char *const train_optimizer_names[];

struct train_optimizer {
	uint32_t which;      /* of the names */
	double lr;           /* 0: the optimizer's default */
	double momentum;     /* negative: the default */
	double weight_decay; /* negative: the optimizer's default */
	int lookahead;
	uint64_t lookahead_k;   /* 0: not given */
	double lookahead_alpha; /* 0: not given */
};
/* Has the optimizer a momentum of that name?  The other members are used by all. */
int train_optimizer_has_momentum(const struct train_optimizer *choice);
/* The learning rate to begin with. */
double train_optimizer_lr(const struct train_optimizer *choice);
/* NULL: the context keeps the error. */
tn_optimizer *train_optimizer_make(const struct train_optimizer *choice, tn_module *module);

#endif
