/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Batch norm.  In training gradients flow through the batch's statistics, and the running ones are
 * updated; otherwise the running ones are constants.
 */
#include "layers/batch_norm.h"

#include "array/array.h"
#include "array/make.h"
#include "array/shape.h"
#include "autograd/node.h"
#include "base/options.h"
#include "capture/stepped.h"
#include "dispatch/ledger.h"
#include "layers/norm.h"
#include "layers/norm_backward.h"
#include "ops/map.h"

static const struct tn_option members[] = {
	{TN_MEMBER(struct tn_batch_norm_options, momentum), .most = 1},
	{TN_MEMBER(struct tn_batch_norm_options, epsilon), TN_MOST, .most = INFINITY},
	{0},
};

static tn_status check_options(const tn_array *x, const struct tn_batch_norm_options *o,
			       const struct tn_norm_ranks *ranks)
{
	struct tn_runtime *rt = x->runtime;
	char found[TN_SHAPE_TEXT];
	if (x->rank < 2)
		return tn_runtime_fail(rt, TN_SHAPE, "batch_norm",
				       "x: expected (N, C, ...), found rank %d", x->rank);
	if (o->activation > TN_ACTIVATION_RELU6)
		return tn_runtime_fail(rt, TN_INVALID_ARGUMENT, "batch_norm",
				       "expected no activation, RELU or RELU6, found %u",
				       o->activation);
	if (!o->running_mean != !o->running_var || (!o->training && !o->running_mean))
		return tn_runtime_fail(rt, TN_INVALID_ARGUMENT, "batch_norm",
				       "expected running_mean and running_var%s",
				       o->training ? ", or none" : " for evaluation");
	if (o->training && !ranks && x->shape[1] && x->size == x->shape[1])
		return tn_runtime_fail(rt, TN_SHAPE, "batch_norm",
				       "x: expected more than one element per channel in training, "
				       "found shape %s",
				       tn_array_text(x, found));
	return tn_runtime_check(rt, o, members, "batch_norm");
}

static tn_status check_running(const tn_array *x, const char *which, const tn_array *values)
{
	tn_dtype dtype = x->dtype == TN_F64 ? TN_F64 : TN_F32;
	if (!values ||
	    (values->rank == 1 && values->shape[0] == x->shape[1] && values->dtype == dtype &&
	     values->runtime == x->runtime && tn_array_home(values) == tn_array_home(x)))
		return TN_OK;
	return tn_runtime_fail(
		x->runtime, TN_SHAPE, "batch_norm",
		"%s: expected %lld elements of %s to match x, found rank %d, %lld of %s", which,
		(long long)x->shape[1], tn_dtype_name(dtype), values->rank, (long long)values->size,
		tn_dtype_name(values->dtype));
}

/* The variance is 1 / rstd^2 - epsilon with Bessel's correction, n / (n - 1). */
static tn_status update_running(const tn_array *x, const struct tn_batch_norm_options *o,
				const tn_array *mean, const tn_array *rstd)
{
	static const struct tn_formula formula = {
		.text = "running_mean = running_mean + momentum * (mean - running_mean)\n"
			"var = max(1 / (rstd * rstd) - epsilon, 0) * bessel\n"
			"running_var = running_var + momentum * (var - running_var)",
		.inputs = "running_mean running_var mean rstd",
		.scalars = "momentum epsilon bessel",
		.outputs = "running_mean running_var"};
	struct tn_runtime *rt = x->runtime;
	double n = (double)x->size / (double)x->shape[1];
	const tn_array *inputs[] = {o->running_mean, o->running_var, mean, rstd};
	tn_array *const outputs[] = {o->running_mean, o->running_var};
	const double scalars[] = {o->momentum, o->epsilon, n / (n - 1)};
	return tn_end_into(rt, tn_formula_map(rt, tn_operation_named(rt, "batch_norm_statistics"),
					      &formula, inputs, outputs, scalars));
}

/* A new array. */
static tn_array *running_rstd(const tn_array *x, const struct tn_batch_norm_options *o)
{
	static const struct tn_formula formula = {.text = "rstd = 1 / sqrt(running_var + epsilon)",
						  .inputs = "running_var",
						  .scalars = "epsilon"};
	struct tn_runtime *rt = x->runtime;
	const tn_array *var = o->running_var;
	tn_array *rstd = tn_empty(tn_array_context(x), var->dtype, 1, var->shape);
	if (!rstd)
		return NULL;
	return tn_end(rt,
		      tn_formula_map(rt, tn_operation_named(rt, "batch_norm_statistics"), &formula,
				     &var, &rstd, &o->epsilon),
		      rstd);
}

tn_array *tn_batch_norm(const tn_array *x, const tn_array *w, const tn_array *b,
			const struct tn_batch_norm_options *options)
{
	return tn_batch_norm_of_ranks(x, w, b, options, NULL);
}

tn_array *tn_batch_norm_of_ranks(const tn_array *x, const tn_array *w, const tn_array *b,
				 const struct tn_batch_norm_options *options,
				 const struct tn_norm_ranks *ranks)
{
	struct tn_batch_norm_options o = tn_batch_norm_defaults();
	if (tn_norm_given(x, w, b, "batch_norm") ||
	    tn_runtime_take(x->runtime, &o, sizeof(o), options, "struct tn_batch_norm_options",
			    "batch_norm"))
		return NULL;
	if (check_options(x, &o, ranks) || check_running(x, "running_mean", o.running_mean) ||
	    check_running(x, "running_var", o.running_var))
		return NULL;
	if (o.training && ranks)
		return tn_sync_batch_norm(x, w, b, &o, ranks);
	struct tn_norm_call call = {.kind = TN_NORM_BATCH,
				    .epsilon = o.epsilon,
				    .use_statistics = !o.training,
				    .activation = o.activation,
				    .x = x,
				    .w = w,
				    .b = b,
				    .residual = o.residual};
	struct tn_suspension suspension = tn_tape_suspend(x);
	if (!suspension.runtime)
		return NULL;
	tn_array *y = NULL;
	if (!o.training) {
		call.mean = o.running_mean;
		call.rstd = running_rstd(x, &o);
	}
	if (o.training || call.rstd)
		y = tn_norm_call_forward(&call);
	/* What is computed again (tn_recompute) has updated them in forward. */
	int updates = o.training && o.running_mean && !tn_draws_repeat(x->runtime);
	if (y && updates && update_running(x, &o, call.mean, call.rstd)) {
		tn_array_destroy(y);
		y = NULL;
	}
	y = tn_norm_record(suspension, "batch_norm", &call, &(struct tn_norm_inputs){x, w, b}, y);
	if (o.training)
		tn_array_destroy(call.mean);
	tn_array_destroy(call.rstd);
	return y;
}
