/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * RMSprop, as torch.optim.RMSprop; centered: A. Graves, "Generating Sequences With Recurrent Neural
 * Networks", 2013.  The variance of the centered form is at least 0 here, which rounding may break.
 */
#include <math.h>

#include "base/options.h"
#include "optim/optimizer.h"

/* In the order of the rules' scalars. */
enum { LR, DECAY, ALPHA, GAIN, EPSILON, MOMENTUM };

static void scalars_at(void *options, const struct tn_rule_point *at, double *values)
{
	const struct tn_rmsprop_options *o = options;
	values[LR] = at->lr;
	values[DECAY] = at->weight_decay;
	values[ALPHA] = o->alpha;
	values[GAIN] = 1.0 - o->alpha;
	values[EPSILON] = o->epsilon;
	if (o->momentum != 0.0)
		values[MOMENTUM] = o->momentum;
}

/* [centered][momentum] */
static const struct tn_optimizer_rule rules[2][2] = {
	{{
		 .name = "rmsprop",
		 .text = "g = dw + decay * w; square_avg = alpha * square_avg + gain * g * g;"
			 "w = w - lr * (g / (sqrt(square_avg) + epsilon))",
		 .states = {"square_avg"},
		 .scalars = "lr decay alpha gain epsilon",
		 .scalars_at = scalars_at,
	 },
	 {
		 .name = "rmsprop",
		 .text = "g = dw + decay * w; square_avg = alpha * square_avg + gain * g * g;"
			 "momentum_buffer = momentum * momentum_buffer"
			 " + g / (sqrt(square_avg) + epsilon);"
			 "w = w - lr * momentum_buffer",
		 .states = {"square_avg", "momentum_buffer"},
		 .scalars = "lr decay alpha gain epsilon momentum",
		 .scalars_at = scalars_at,
	 }},
	{{
		 .name = "rmsprop",
		 .text = "g = dw + decay * w; square_avg = alpha * square_avg + gain * g * g;"
			 "grad_avg = alpha * grad_avg + gain * g;"
			 "variance = max(square_avg - grad_avg * grad_avg, 0);"
			 "w = w - lr * (g / (sqrt(variance) + epsilon))",
		 .states = {"square_avg", "grad_avg"},
		 .scalars = "lr decay alpha gain epsilon",
		 .scalars_at = scalars_at,
	 },
	 {
		 .name = "rmsprop",
		 .text = "g = dw + decay * w; square_avg = alpha * square_avg + gain * g * g;"
			 "grad_avg = alpha * grad_avg + gain * g;"
			 "variance = max(square_avg - grad_avg * grad_avg, 0);"
			 "momentum_buffer = momentum * momentum_buffer"
			 " + g / (sqrt(variance) + epsilon);"
			 "w = w - lr * momentum_buffer",
		 .states = {"square_avg", "grad_avg", "momentum_buffer"},
		 .scalars = "lr decay alpha gain epsilon momentum",
		 .scalars_at = scalars_at,
	 }},
};

static const struct tn_option members[] = {
	{TN_MEMBER(struct tn_rmsprop_options, lr), TN_LEAST, .most = INFINITY},
	{TN_MEMBER(struct tn_rmsprop_options, alpha), TN_MOST, .most = 1},
	{TN_MEMBER(struct tn_rmsprop_options, epsilon), TN_LEAST, .most = INFINITY},
	{TN_MEMBER(struct tn_rmsprop_options, weight_decay), .most = INFINITY},
	{TN_MEMBER(struct tn_rmsprop_options, momentum), .most = INFINITY},
	{0},
};

tn_optimizer *tn_rmsprop(tn_module *module, const struct tn_rmsprop_options *options)
{
	struct tn_rmsprop_options o = tn_rmsprop_defaults();
	if (!module || tn_runtime_take(module->runtime, &o, sizeof(o), options,
				       "struct tn_rmsprop_options", "rmsprop"))
		return NULL;
	if (tn_runtime_check(module->runtime, &o, members, "rmsprop"))
		return NULL;
	return tn_optimizer_create(module, &rules[o.centered != 0][o.momentum != 0.0], o.lr,
				   o.weight_decay, &o, sizeof(o));
}
