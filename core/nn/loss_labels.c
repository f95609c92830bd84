/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Losses of rows: negative log-likelihood, the hinge loss of several classes, and cosine embedding.
 */
#include "array/make.h"
#include "array/shape.h"
#include "base/dtype.h"
#include "layers/cross_entropy.h"
#include "nn/loss.h"
#include "nn/loss_rows.h"
#include "ops/formula.h"

/* ---- Negative log-likelihood -----------------------------------------------------------------*/

static tn_array *nll_loss(const tn_array *input, const tn_array *labels,
			  const struct tn_nll_loss_options *o)
{
	const struct tn_check *check = &tn_label_checks[TN_LABELS_OF_NLL_LOSS];
	static const struct tn_formula formula = {
		.text = "loss = known == -2 ? nan : known == -1 ? 0 : -log_p * factor",
		.inputs = "log_p known factor"};
	struct tn_loss_rows rows;
	int64_t ignored = o->has_ignore_label ? o->ignore_label : TN_NO_LABEL;
	if (tn_loss_rows_of(&rows, check, input, labels, ignored) ||
	    tn_loss_check_weight(check->operation, input, o->weight, rows.input->shape[1]) ||
	    tn_loss_rows_check(&rows) || tn_loss_rows_weigh(&rows, o->weight))
		return NULL;
	const tn_array *inputs[] = {tn_loss_rows_pick(&rows), rows.known, rows.factors};
	return tn_loss_rows_reduce(
		&rows, tn_formula_operation(check->operation, &formula, rows.dtype, inputs, NULL),
		labels, o->reduction);
}

tn_array *tn_nll_loss(const tn_array *input, const tn_array *labels,
		      const struct tn_nll_loss_options *options)
{
	struct tn_nll_loss_options o = tn_nll_loss_defaults();
	if (tn_arrays_given(2, (const tn_array *[]){input, labels}, "nll_loss") ||
	    tn_runtime_take(input->runtime, &o, sizeof(o), options, "struct tn_nll_loss_options",
			    "nll_loss") ||
	    tn_loss_check_reduction(input->runtime, "nll_loss", o.reduction, TN_REDUCTION_NONE) ||
	    tn_scope_begin(tn_array_context(input)))
		return NULL;
	return tn_scope_end(tn_array_context(input), nll_loss(input, labels, &o));
}

/* ---- Hinge -----------------------------------------------------------------------------------*/

static tn_array *multi_margin(const tn_array *input, const tn_array *labels, int p, double margin,
			      const tn_array *weight, uint32_t reduction)
{
	const struct tn_check *check = &tn_label_checks[TN_LABELS_OF_MULTI_MARGIN_LOSS];
	/* By p - 1.  A derivative of 0 where h is 0, as in PyTorch. */
	static const struct tn_formula formulas[] = {
		{.text = "h = margin - x_label + x; hinge = h <= 0 ? 0 : h\n"
			 "term = index(1) == i64(known) ? 0 : factor * hinge",
		 .inputs = "x x_label known factor",
		 .scalars = "margin"},
		{.text = "h = margin - x_label + x; hinge = h <= 0 ? 0 : h\n"
			 "term = index(1) == i64(known) ? 0 : factor * hinge * hinge",
		 .inputs = "x x_label known factor",
		 .scalars = "margin"}};
	static const struct tn_formula or_nan = {.text = "loss = known == -2 ? nan : mean",
						 .inputs = "mean known"};
	struct tn_loss_rows rows;
	if (tn_loss_rows_of(&rows, check, input, labels, TN_NO_LABEL))
		return NULL;
	if (input->rank > 2) {
		char found[TN_SHAPE_TEXT];
		tn_runtime_fail(input->runtime, TN_SHAPE, check->operation,
				"input: expected (N, C) or (C), found %s",
				tn_array_text(input, found));
		return NULL;
	}
	if (tn_loss_check_weight(check->operation, input, weight, rows.input->shape[1]) ||
	    tn_loss_rows_check(&rows) || tn_loss_rows_weigh(&rows, weight))
		return NULL;
	const tn_array *inputs[] = {rows.input, tn_expand_dims(tn_loss_rows_pick(&rows), 1),
				    tn_expand_dims(rows.known, 1), tn_expand_dims(rows.factors, 1)};
	tn_array *terms = tn_formula_operation(check->operation, &formulas[p - 1], rows.dtype,
					       inputs, &margin);
	const tn_array *means[] = {tn_mean(terms, 1, (const int[]){1}, 0), rows.known};
	tn_array *losses = tn_formula_operation(check->operation, &or_nan, rows.dtype, means, NULL);
	if (losses && reduction == TN_REDUCTION_MEAN)
		return tn_mean(losses, TN_ALL_AXES, NULL, 0);
	return tn_loss_rows_reduce(&rows, losses, labels, reduction);
}

tn_array *tn_multi_margin_loss(const tn_array *input, const tn_array *labels, int p, double margin,
			       const tn_array *weight, uint32_t reduction)
{
	if (tn_arrays_given(2, (const tn_array *[]){input, labels}, "multi_margin_loss") ||
	    tn_loss_check_reduction(input->runtime, "multi_margin_loss", reduction,
				    TN_REDUCTION_NONE))
		return NULL;
	if (p != 1 && p != 2) {
		tn_runtime_fail(input->runtime, TN_INVALID_ARGUMENT, "multi_margin_loss",
				"p: expected 1 or 2, found %d", p);
		return NULL;
	}
	if (tn_scope_begin(tn_array_context(input)))
		return NULL;
	return tn_scope_end(tn_array_context(input),
			    multi_margin(input, labels, p, margin, weight, reduction));
}

/* ---- Cosine embedding ------------------------------------------------------------------------*/

/* Sums over the last axis. */
static tn_array *dot(const tn_array *a, const tn_array *b)
{
	return tn_sum(tn_multiply(a, b), 1, (const int[]){-1}, 0);
}

static tn_status check_pair(const tn_array *a, const tn_array *b, const tn_array *target)
{
	static const char name[] = "cosine_embedding_loss";
	char first[TN_SHAPE_TEXT], second[TN_SHAPE_TEXT], third[TN_SHAPE_TEXT];
	tn_status status = tn_loss_check_input(name, a);
	if (status)
		return status;
	if (a->dtype != b->dtype)
		return tn_runtime_fail(a->runtime, TN_DTYPE, name,
				       "expected rows of one type, found %s and %s",
				       tn_dtype_name(a->dtype), tn_dtype_name(b->dtype));
	if (target->dtype != a->dtype &&
	    (!tn_is_integer(target->dtype) || tn_is_unsigned(target->dtype)))
		return tn_runtime_fail(a->runtime, TN_DTYPE, name,
				       "target: expected %s like the rows, or a signed integer, "
				       "found %s",
				       tn_dtype_name(a->dtype), tn_dtype_name(target->dtype));
	if ((a->rank == 1 || a->rank == 2) &&
	    tn_shape_equal(a->rank, a->shape, b->rank, b->shape) &&
	    tn_shape_equal(a->rank - 1, a->shape, target->rank, target->shape))
		return TN_OK;
	return tn_runtime_fail(a->runtime, TN_SHAPE, name,
			       "expected rows (N, D) twice and a target (N), or (D), (D) and (), "
			       "found %s, %s and %s",
			       tn_array_text(a, first), tn_array_text(b, second),
			       tn_array_text(target, third));
}

/* The derivative of max(0, h) is 0 where h is 0, as in PyTorch. */
static tn_array *cosine_losses(const tn_array *a, const tn_array *b, const tn_array *target,
			       double margin)
{
	static const struct tn_formula formula = {
		.text = "cosine = ab / sqrt((aa + 1e-12) * (bb + 1e-12))\n"
			"h = cosine - margin\n"
			"loss = (target == 1 ? 1 - cosine : 0) +"
			" (target == -1 ? (h <= 0 ? 0 : h) : 0)",
		.inputs = "ab aa bb target",
		.scalars = "margin"};
	const tn_array *inputs[] = {dot(a, b), dot(a, a), dot(b, b), target};
	return tn_formula_operation("cosine_embedding_loss", &formula, a->dtype, inputs, &margin);
}

tn_array *tn_cosine_embedding_loss(const tn_array *a, const tn_array *b, const tn_array *target,
				   double margin, uint32_t reduction)
{
	if (tn_arrays_given(3, (const tn_array *[]){a, b, target}, "cosine_embedding_loss") ||
	    tn_loss_check_reduction(a->runtime, "cosine_embedding_loss", reduction,
				    TN_REDUCTION_NONE) ||
	    check_pair(a, b, target) || tn_scope_begin(tn_array_context(a)))
		return NULL;
	return tn_scope_end(tn_array_context(a),
			    tn_loss_reduce(cosine_losses(a, b, target, margin), reduction));
}
