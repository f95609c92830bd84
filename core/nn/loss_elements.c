/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Losses of elements: each is one formula of input x and target y, and a reduction.
 */
#include <math.h>

#include "array/make.h"
#include "array/record.h"
#include "array/shape.h"
#include "base/dtype.h"
#include "base/options.h"
#include "nn/loss.h"
#include "ops/formula.h"

/* ---- Input and target ------------------------------------------------------------------------*/

/* One call of a loss. */
struct element_loss {
	const char *operation;
	const struct tn_formula *formula;
	const char *const *derivatives; /* as in struct tn_record */
	const tn_array *input;
	const tn_array *target;
	const tn_array *others[2]; /* inputs 2 and 3 of the formula, which broadcast to the input */
	double scalars[2];         /* of the formula */
	uint32_t reduction;
	uint32_t last_reduction;
	int is_signed; /* an integer target must be signed */
};

static tn_status check_target(const struct element_loss *loss)
{
	const tn_array *x = loss->input, *y = loss->target;
	char expected[TN_SHAPE_TEXT], found[TN_SHAPE_TEXT];
	if (!tn_shape_equal(x->rank, x->shape, y->rank, y->shape))
		return tn_runtime_fail(x->runtime, TN_SHAPE, loss->operation,
				       "target: expected the input's shape %s, found %s",
				       tn_array_text(x, expected), tn_array_text(y, found));
	int is_whole = y->dtype == TN_BOOL || tn_is_integer(y->dtype);
	if (loss->is_signed && (y->dtype == TN_BOOL || tn_is_unsigned(y->dtype)))
		is_whole = 0;
	if (y->dtype == x->dtype || is_whole)
		return TN_OK;
	return tn_runtime_fail(x->runtime, TN_DTYPE, loss->operation,
			       "target: expected %s like the input, or %s, found %s",
			       tn_dtype_name(x->dtype),
			       loss->is_signed ? "a signed integer" : "an integer or bool",
			       tn_dtype_name(y->dtype));
}

static tn_status check_other(const struct element_loss *loss, const char *name,
			     const tn_array *other)
{
	const tn_array *x = loss->input;
	char expected[TN_SHAPE_TEXT], found[TN_SHAPE_TEXT];
	int64_t shape[TN_MAX_RANK];
	int rank = x->rank;
	if (!tn_is_floating(other->dtype))
		return tn_runtime_fail(x->runtime, TN_DTYPE, loss->operation,
				       "%s: expected a floating type, found %s", name,
				       tn_dtype_name(other->dtype));
	for (int i = 0; i < rank; i++)
		shape[i] = x->shape[i];
	if (tn_shape_broadcast(&rank, shape, other->rank, other->shape) &&
	    tn_shape_equal(rank, shape, x->rank, x->shape))
		return TN_OK;
	return tn_runtime_fail(x->runtime, TN_SHAPE, loss->operation,
			       "%s of shape %s does not broadcast to the input's %s", name,
			       tn_array_text(other, found), tn_array_text(x, expected));
}

static tn_array *run_loss(const struct element_loss *loss)
{
	const tn_array *inputs[] = {loss->input, loss->target, loss->others[0], loss->others[1]};
	if (tn_arrays_given(2, inputs, loss->operation))
		return NULL;
	uint32_t last = loss->last_reduction ? loss->last_reduction : TN_REDUCTION_NONE;
	if (tn_loss_check_input(loss->operation, loss->input) || check_target(loss) ||
	    tn_loss_check_reduction(loss->input->runtime, loss->operation, loss->reduction, last))
		return NULL;
	return tn_loss_reduce(tn_formula_with_derivatives(loss->operation, loss->formula,
							  loss->derivatives, loss->input->dtype,
							  inputs, loss->scalars),
			      loss->reduction);
}

static int is_refused(const tn_array *input, const char *operation,
		      const struct tn_option *parameter, double value)
{
	struct tn_error_info *report = input ? &input->runtime->report : NULL;
	if (!input || !tn_option_check(parameter, value, operation, report))
		return 0;
	tn_runtime_keep(input->runtime, report);
	return 1;
}

/* ---- Public functions ------------------------------------------------------------------------*/

tn_array *tn_mse_loss(const tn_array *input, const tn_array *target, uint32_t reduction)
{
	static const struct tn_formula formula = {.text = "d = x - y; loss = d * d",
						  .inputs = "x y"};
	return run_loss(&(struct element_loss){.operation = "mse_loss",
					       .formula = &formula,
					       .input = input,
					       .target = target,
					       .reduction = reduction});
}

tn_array *tn_l1_loss(const tn_array *input, const tn_array *target, uint32_t reduction)
{
	static const struct tn_formula formula = {.text = "loss = abs(x - y)", .inputs = "x y"};
	return run_loss(&(struct element_loss){.operation = "l1_loss",
					       .formula = &formula,
					       .input = input,
					       .target = target,
					       .reduction = reduction});
}

/* With d = |x - y| and m = min(d, delta):  m (d - m / 2).  No square that is not needed overflows.
 * The gradients have no kink at d = 0, unlike those of the formula. */
tn_array *tn_huber_loss(const tn_array *input, const tn_array *target, double delta,
			uint32_t reduction)
{
	static const struct tn_formula formula = {
		.text = "d = abs(x - y); m = min(d, delta); loss = m * (d - 0.5 * m)",
		.inputs = "x y",
		.scalars = "delta"};
	static const char *const derivatives[TN_DERIVATIVES] = {
		"d = x - y; dx = dz * (abs(d) < delta ? d : delta * sign(d))",
		"d = y - x; dy = dz * (abs(d) < delta ? d : delta * sign(d))"};
	static const struct tn_option range = {
		.name = "delta", .excluded = TN_LEAST | TN_MOST, .most = INFINITY};
	if (is_refused(input, "huber_loss", &range, delta))
		return NULL;
	return run_loss(&(struct element_loss){.operation = "huber_loss",
					       .formula = &formula,
					       .derivatives = derivatives,
					       .input = input,
					       .target = target,
					       .scalars = {delta},
					       .reduction = reduction});
}

/* Huber's over beta.  The quotient by a beta whose inverse is infinite is that for a beta of 0. */
tn_array *tn_smooth_l1_loss(const tn_array *input, const tn_array *target, double beta,
			    uint32_t reduction)
{
	static const struct tn_formula formula = {.text = "d = abs(x - y); m = min(d, beta)\n"
							  "loss = m * inverse_beta * (d - 0.5 * m)",
						  .inputs = "x y",
						  .scalars = "beta inverse_beta"};
	static const char *const derivatives[TN_DERIVATIVES] = {
		"d = x - y; dx = dz * (abs(d) < beta ? d * inverse_beta : sign(d))",
		"d = y - x; dy = dz * (abs(d) < beta ? d * inverse_beta : sign(d))"};
	static const struct tn_formula without_beta = {.text = "loss = abs(x - y)",
						       .inputs = "x y"};
	static const struct tn_option range = {
		.name = "beta", .excluded = TN_MOST, .most = INFINITY};
	if (is_refused(input, "smooth_l1_loss", &range, beta))
		return NULL;
	int has_beta = isfinite(1.0F / (float)beta);
	return run_loss(&(struct element_loss){.operation = "smooth_l1_loss",
					       .formula = has_beta ? &formula : &without_beta,
					       .derivatives = has_beta ? derivatives : NULL,
					       .input = input,
					       .target = target,
					       .scalars = {beta, 1.0 / beta},
					       .reduction = reduction});
}

tn_array *tn_binary_cross_entropy_with_logits(const tn_array *input, const tn_array *target,
					      const struct tn_binary_cross_entropy_options *options)
{
	static const char name[] = "binary_cross_entropy_with_logits";
	/* By which weights are given: none, weight, pos_weight, both. */
	static const struct tn_formula formulas[] = {
		{.text = "loss = (1 - y) * x + softplus(-x)", .inputs = "x y"},
		{.text = "loss = weight * ((1 - y) * x + softplus(-x))", .inputs = "x y weight"},
		{.text = "loss = (1 - y) * x + (1 + (pos_weight - 1) * y) * softplus(-x)",
		 .inputs = "x y pos_weight"},
		{.text = "positive = 1 + (pos_weight - 1) * y\n"
			 "loss = weight * ((1 - y) * x + positive * softplus(-x))",
		 .inputs = "x y weight pos_weight"},
	};
	struct tn_binary_cross_entropy_options o = tn_binary_cross_entropy_defaults();
	if (tn_arrays_given(2, (const tn_array *[]){input, target}, name) ||
	    tn_runtime_take(input->runtime, &o, sizeof(o), options,
			    "struct tn_binary_cross_entropy_options", name))
		return NULL;
	const struct element_loss loss = {
		.operation = name,
		.formula = &formulas[(o.weight ? 1 : 0) + (o.pos_weight ? 2 : 0)],
		.input = input,
		.target = target,
		.others = {o.weight ? o.weight : o.pos_weight, o.pos_weight},
		.reduction = o.reduction};
	if ((o.weight && check_other(&loss, "weight", o.weight)) ||
	    (o.pos_weight && check_other(&loss, "pos_weight", o.pos_weight)))
		return NULL;
	return run_loss(&loss);
}

tn_array *tn_kl_div(const tn_array *input, const tn_array *target, int log_target,
		    uint32_t reduction)
{
	static const struct tn_formula of_probabilities = {
		.text = "loss = (y == 0 ? 0 : y * log(y == 0 ? 1 : y)) - y * x", .inputs = "x y"};
	static const struct tn_formula of_logarithms = {.text = "loss = exp(y) * (y - x)",
							.inputs = "x y"};
	return run_loss(
		&(struct element_loss){.operation = "kl_div",
				       .formula = log_target ? &of_logarithms : &of_probabilities,
				       .input = input,
				       .target = target,
				       .reduction = reduction,
				       .last_reduction = TN_REDUCTION_BATCH_MEAN});
}

/* As in PyTorch, the derivative of max(0, h) is 0 where h is 0, and a target other than 1 and -1
 * gives the sum of both. */
tn_array *tn_hinge_embedding_loss(const tn_array *input, const tn_array *target, double margin,
				  uint32_t reduction)
{
	static const struct tn_formula formula = {
		.text = "h = margin - x\n"
			"loss = (y != 1 ? (h <= 0 ? 0 : h) : 0) + (y != -1 ? x : 0)",
		.inputs = "x y",
		.scalars = "margin"};
	return run_loss(&(struct element_loss){.operation = "hinge_embedding_loss",
					       .formula = &formula,
					       .input = input,
					       .target = target,
					       .scalars = {margin},
					       .reduction = reduction,
					       .is_signed = 1});
}
