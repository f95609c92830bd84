/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Masters: the weights of f16 and bf16 networks in f32, which a step changes and then rounds to the
 * weights.  A weight that is not its master rounded has been assigned from elsewhere (loaded, or
 * initialised), and its master starts anew from it; each step finds this out from the values alone,
 * so that it holds for captured steps and restored states too.
 */
#ifndef TN_OPTIM_MASTERS_H
#define TN_OPTIM_MASTERS_H

#include "optim/optimizer.h"

/* Makes optimizer->masters from the weights if the network is narrow.  Errors are kept. */
tn_status tn_masters_make(tn_optimizer *optimizer);

/* The text of a rule over w, for the inputs and outputs `stored` (the weight) and `master` in the
 * place of w.  NULL: out of memory; the caller frees it. */
char *tn_masters_text(tn_dtype dtype, const char *rule);

/* Brings the masters of all weights up to date.  Errors are kept. */
tn_status tn_masters_update(const tn_optimizer *optimizer);

/* The weights of which the optimizer has states: all but in a sharded one. */
static inline tn_array *tn_weights_of_share(const tn_optimizer *optimizer)
{
	return optimizer->values ? optimizer->values : optimizer->module->arena.values;
}

/* What rules change: the masters, or these weights themselves. */
static inline tn_array *tn_weights_to_step(const tn_optimizer *optimizer)
{
	return optimizer->masters ? optimizer->masters : tn_weights_of_share(optimizer);
}

#endif
