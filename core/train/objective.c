/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Checks the loss that a training asks for, fits the target's dtype to it, and computes it.
 */
#include "train/objective.h"

#include "array/array.h"
#include "base/dtype.h"
#include "nn/module.h"

static const char operation[] = "trainer";

/* ---- Options ---------------------------------------------------------------------------------*/

static tn_status check_loss(struct tn_runtime *rt, const struct tn_trainer_options *o)
{
	const char *unused = NULL;
	if (o->loss > TN_LOSS_KL_DIV)
		return tn_runtime_fail(rt, TN_INVALID_ARGUMENT, operation,
				       "loss: expected TN_LOSS_..., found %u", o->loss);
	if (o->loss_function && o->step_function)
		return tn_runtime_fail(
			rt, TN_INVALID_ARGUMENT, operation,
			"expected one of loss_function and step_function, found both");
	uint32_t loss = o->loss_function || o->step_function ? UINT32_MAX : o->loss;
	if (o->cross_entropy && loss != TN_LOSS_CROSS_ENTROPY)
		unused = "cross_entropy";
	else if (o->nll && loss != TN_LOSS_NLL)
		unused = "nll";
	else if (o->binary_cross_entropy && loss != TN_LOSS_BINARY_CROSS_ENTROPY)
		unused = "binary_cross_entropy";
	else if (o->beta != tn_trainer_defaults().beta && loss != TN_LOSS_SMOOTH_L1)
		unused = "beta";
	else if (o->log_target && loss != TN_LOSS_KL_DIV)
		unused = "log_target";
	else if (loss == UINT32_MAX && o->loss)
		unused = "loss";
	if (unused)
		return tn_runtime_fail(rt, TN_INVALID_ARGUMENT, operation,
				       "expected the default of %s, which this loss does not use",
				       unused);
	return TN_OK;
}

static tn_status check_reduction(struct tn_runtime *rt, uint32_t reduction)
{
	if (reduction == TN_REDUCTION_MEAN)
		return TN_OK;
	return tn_runtime_fail(rt, TN_INVALID_ARGUMENT, operation,
			       "loss: expected TN_REDUCTION_MEAN, found %u", reduction);
}

tn_status tn_objective_take(struct tn_objective *objective, tn_module *module,
			    const struct tn_trainer_options *o)
{
	struct tn_runtime *rt = module->runtime;
	tn_status status = check_loss(rt, o);
	if (status)
		return status;
	*objective = (struct tn_objective){
		.module = module,
		.context = module->context,
		.runtime = rt,
		.dtype = module->arena.values ? module->arena.values->dtype : TN_F32,
		.loss = o->loss,
		.beta = o->beta,
		.log_target = o->log_target,
		.loss_function = o->loss_function,
		.step_function = o->step_function,
		.user = o->user,
	};
	if (o->cross_entropy)
		status = tn_runtime_take(rt, &objective->cross_entropy,
					 sizeof(objective->cross_entropy), o->cross_entropy,
					 "struct tn_cross_entropy_options", operation);
	if (!status && o->nll)
		status = tn_runtime_take(rt, &objective->nll, sizeof(objective->nll), o->nll,
					 "struct tn_nll_loss_options", operation);
	if (!status && o->binary_cross_entropy)
		status = tn_runtime_take(rt, &objective->binary_cross_entropy,
					 sizeof(objective->binary_cross_entropy),
					 o->binary_cross_entropy,
					 "struct tn_binary_cross_entropy_options", operation);
	objective->cross_entropy.struct_size = sizeof(objective->cross_entropy);
	objective->nll.struct_size = sizeof(objective->nll);
	objective->binary_cross_entropy.struct_size = sizeof(objective->binary_cross_entropy);
	if (!status)
		status = check_reduction(rt, objective->cross_entropy.reduction |
						     objective->nll.reduction |
						     objective->binary_cross_entropy.reduction);
	return status;
}

/* ---- The loss --------------------------------------------------------------------------------*/

/* A floating array in that dtype. */
static tn_array *in_dtype(tn_array *array, tn_dtype dtype)
{
	return array && tn_is_floating(array->dtype) && array->dtype != dtype
		       ? tn_astype(array, dtype)
		       : array;
}

/* The target as the library's losses take it: labels as i32, numbers in the output's dtype. */
static tn_array *fit_target(const struct tn_objective *o, const tn_array *output, tn_array *target)
{
	int has_labels = o->loss == TN_LOSS_NLL ||
			 (o->loss == TN_LOSS_CROSS_ENTROPY && target->rank < output->rank);
	if (has_labels && tn_is_integer(target->dtype) && target->dtype != TN_I32)
		return tn_astype(target, TN_I32);
	return in_dtype(target, output->dtype);
}

static tn_array *named_loss(const struct tn_objective *o, const tn_array *output,
			    const tn_array *target)
{
	switch (o->loss) {
	case TN_LOSS_NLL:
		return tn_nll_loss(output, target, &o->nll);
	case TN_LOSS_BINARY_CROSS_ENTROPY:
		return tn_binary_cross_entropy_with_logits(output, target,
							   &o->binary_cross_entropy);
	case TN_LOSS_MSE:
		return tn_mse_loss(output, target, TN_REDUCTION_MEAN);
	case TN_LOSS_L1:
		return tn_l1_loss(output, target, TN_REDUCTION_MEAN);
	case TN_LOSS_SMOOTH_L1:
		return tn_smooth_l1_loss(output, target, o->beta, TN_REDUCTION_MEAN);
	case TN_LOSS_KL_DIV:
		return tn_kl_div(output, target, o->log_target, TN_REDUCTION_BATCH_MEAN);
	default:
		return tn_cross_entropy(output, target, &o->cross_entropy);
	}
}

static tn_array *own_loss(const struct tn_objective *o, uint32_t n_fields, tn_array *const *fields,
			  tn_array **output)
{
	tn_array *loss = o->step_function
				 ? o->step_function(o->user, o->module, n_fields, fields, output)
				 : o->loss_function(o->user, *output, fields[n_fields > 1]);
	if (loss && loss->size == 1)
		return loss;
	tn_runtime_fail(o->runtime, TN_SHAPE, operation,
			"%s: expected a loss of one element, found %s",
			o->step_function ? "step_function" : "loss_function",
			loss ? "another array" : "none");
	return NULL;
}

tn_array *tn_objective_loss(const struct tn_objective *o, uint32_t n_fields,
			    tn_array *const *fields, tn_array **output, tn_array **target)
{
	*output = NULL;
	*target = fields[n_fields > 1];
	if (o->step_function)
		return own_loss(o, n_fields, fields, output);
	*output = tn_module_forward(o->module, in_dtype(fields[0], o->dtype));
	if (!*output)
		return NULL;
	if (o->loss_function)
		return own_loss(o, n_fields, fields, output);
	/* f16 and bf16 are too narrow for a loss. */
	const tn_array *wide = in_dtype(*output, (*output)->dtype == TN_F64 ? TN_F64 : TN_F32);
	return wide ? named_loss(o, wide, fit_target(o, wide, *target)) : NULL;
}
