/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * AdamW: I. Loshchilov and F. Hutter, "Decoupled Weight Decay Regularization", ICLR 2019, with
 * PyTorch's order of operations.  The corrections of the biases are numbers, not arrays:
 *     shrink = 1 - lr weight_decay,  rate = lr / (1 - beta1^t),  correction = 1 / sqrt(1 - beta2^t)
 */
#include <math.h>
#include <string.h>

#include "array/capture.h"
#include "optim/optimizer.h"

static const char text[] = "m = beta1 * m + gain1 * dw; v = beta2 * v + gain2 * dw * dw;"
			   "w = w * shrink - rate * m / (sqrt(v) * correction + epsilon)";
static const char *const scalar_names[] = {"beta1",  "gain1", "beta2",      "gain2",
					   "shrink", "rate",  "correction", "epsilon"};
static const char *const state_names[] = {"m", "v"};

static tn_status step_run(tn_optimizer *optimizer, const struct tn_run *run, tn_array *w,
			  tn_array *dw, tn_array *const *states)
{
	const struct tn_adamw_options *o = &optimizer->options.adamw;
	double t = (double)run->step, lr = optimizer->lr;
	tn_status status =
		tn_capture_refuse(optimizer->module->runtime, "adamw", "the number of the step");
	if (status)
		return status;
	const double scalars[] = {o->beta1,
				  1.0 - o->beta1,
				  o->beta2,
				  1.0 - o->beta2,
				  1.0 - lr * o->weight_decay,
				  lr / (1.0 - pow(o->beta1, t)),
				  1.0 / sqrt(1.0 - pow(o->beta2, t)),
				  o->epsilon};
	return tn_optimizer_run(optimizer, w, dw, states, scalars);
}

static double or_default(double value, double otherwise)
{
	return value == 0.0 ? otherwise : value;
}

tn_optimizer *tn_adamw(tn_module *module, const struct tn_adamw_options *options)
{
	struct tn_adamw_options o = {.weight_decay = -1.0};
	if (!module)
		return NULL;
	if (options)
		memcpy(&o, options,
		       options->struct_size < sizeof(o) ? options->struct_size : sizeof(o));
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
	optimizer->step_run = step_run;
	return optimizer;
}
