/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Adadelta: M. D. Zeiler, "ADADELTA: An Adaptive Learning Rate Method", 2012; as
 * torch.optim.Adadelta.
 */
#include <math.h>

#include "base/options.h"
#include "optim/optimizer.h"

/* In the order of the rule's scalars. */
enum { LR, DECAY, RHO, GAIN, EPSILON };

static void scalars_at(void *options, const struct tn_rule_point *at, double *values)
{
	const struct tn_adadelta_options *o = options;
	values[LR] = at->lr;
	values[DECAY] = at->weight_decay;
	values[RHO] = o->rho;
	values[GAIN] = 1.0 - o->rho;
	values[EPSILON] = o->epsilon;
}

static const struct tn_optimizer_rule adadelta = {
	.name = "adadelta",
	.text = "g = dw + decay * w; square_avg = rho * square_avg + gain * g * g;"
		"delta = sqrt(acc_delta + epsilon) / sqrt(square_avg + epsilon) * g;"
		"acc_delta = rho * acc_delta + gain * delta * delta; w = w - lr * delta",
	.states = {"square_avg", "acc_delta"},
	.scalars = "lr decay rho gain epsilon",
	.scalars_at = scalars_at,
};

static const struct tn_option members[] = {
	{TN_MEMBER(struct tn_adadelta_options, lr), TN_LEAST, .most = INFINITY},
	{TN_MEMBER(struct tn_adadelta_options, rho), TN_MOST, .most = 1},
	{TN_MEMBER(struct tn_adadelta_options, epsilon), TN_LEAST, .most = INFINITY},
	{TN_MEMBER(struct tn_adadelta_options, weight_decay), .most = INFINITY},
	{0},
};

tn_optimizer *tn_adadelta(tn_module *module, const struct tn_adadelta_options *options)
{
	struct tn_adadelta_options o = tn_adadelta_defaults();
	if (!module || tn_runtime_take(module->runtime, &o, sizeof(o), options,
				       "struct tn_adadelta_options", "adadelta"))
		return NULL;
	if (tn_runtime_check(module->runtime, &o, members, "adadelta"))
		return NULL;
	return tn_optimizer_create(module, &adadelta, o.lr, o.weight_decay, &o, sizeof(o));
}
