/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Runs the network on a batch, and its loss; or the step of the program's own.
 */
#include "train/objective.h"

#include "array/array.h"
#include "base/dtype.h"
#include "nn/module.h"

static const char operation[] = "trainer";

tn_status tn_objective_take(struct tn_objective *objective, tn_module *module,
			    const struct tn_trainer_options *o)
{
	struct tn_runtime *rt = module->runtime;
	if (o->loss && o->step_function)
		return tn_runtime_fail(rt, TN_INVALID_ARGUMENT, operation,
				       "expected one of loss and step_function, found both");
	if (o->loss && o->loss->runtime != rt)
		return tn_runtime_fail(rt, TN_INVALID_ARGUMENT, operation,
				       "expected a loss of the module's context, found one of "
				       "another");
	*objective = (struct tn_objective){
		.module = module,
		.context = module->context,
		.runtime = rt,
		.dtype = module->arena.values ? module->arena.values->dtype : TN_F32,
		.loss = o->loss,
		.unit = 1.0,
		.step_function = o->step_function,
		.user = o->user,
	};
	if (!o->loss && !o->step_function)
		objective->loss = objective->standard = tn_loss_create(module->context, NULL);
	if (objective->loss && o->train)
		return tn_loss_unit(objective->loss, &objective->unit);
	return rt->error.status;
}

void tn_objective_release(struct tn_objective *objective)
{
	tn_loss_destroy(objective->standard);
	*objective = (struct tn_objective){.module = NULL};
}

static tn_status run_step_function(const struct tn_objective *o, uint32_t n_fields,
				   tn_array *const *fields, uint32_t n, struct tn_loss_value *value,
				   tn_array **output)
{
	tn_array *weight = NULL;
	tn_array *sum = o->step_function(o->user, o->module, n_fields, fields, output, &weight);
	return tn_loss_of_own(o->runtime, "step_function", sum, weight, n, value);
}

tn_status tn_objective_loss(const struct tn_objective *o, uint32_t n_fields,
			    tn_array *const *fields, uint32_t n, struct tn_loss_value *value,
			    tn_array **output, tn_array **target)
{
	const tn_array *input = fields[0];
	*value = (struct tn_loss_value){NULL, NULL};
	*output = NULL;
	*target = fields[n_fields > 1];
	if (o->step_function)
		return run_step_function(o, n_fields, fields, n, value, output);
	if (tn_is_floating(input->dtype) && input->dtype != o->dtype)
		input = tn_astype(input, o->dtype);
	*output = tn_module_forward(o->module, input);
	return *output ? tn_loss_of_batch(o->loss, *output, *target, n, value)
		       : o->runtime->error.status;
}
