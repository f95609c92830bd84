/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Cross-entropy.  Labels take the backend's own operation, whose node is
 *
 *     loss = -log softmax of the label, of each row, or the mean over the n rows that count:
 *     dlogits = (softmax - one-hot) dloss, or dloss / n
 *
 * and weights and smoothing are formulas over its rows; probabilities take a log-softmax.
 */
#include "array/make.h"
#include "array/shape.h"
#include "autograd/node.h"
#include "base/dtype.h"
#include "base/options.h"
#include "layers/cross_entropy.h"
#include "nn/loss.h"
#include "nn/loss_rows.h"
#include "ops/formula.h"

static const char name[] = "cross_entropy";

/* ---- The node --------------------------------------------------------------------------------*/

enum { LOGITS, LABELS, MAXIMUM, LOG_SUM, COUNT };

struct entropy_state {
	int64_t ignored;
};

/* The number of rows that are not ignored, 0-d, on the device, in the type of the losses: f16 and
 * bf16 cannot count many. */
static tn_array *count_rows(const tn_array *losses, const tn_array *labels, int64_t ignored)
{
	tn_context *context = tn_array_context(losses);
	if (ignored == TN_NO_LABEL)
		return tn_full(context, losses->dtype, 0, NULL, (double)labels->shape[0]);
	tn_array *label = tn_full(context, TN_I32, 0, NULL, (double)ignored);
	return tn_sum(tn_astype(tn_not_equal(labels, label), losses->dtype), TN_ALL_AXES, NULL, 0);
}

/* dlogits by recorded operations, for create_graph; dy has one element a row. */
static tn_array *recorded_gradient(const struct tn_node *node, const tn_array *dy)
{
	static const struct tn_formula gradient = {
		.text = "dx = label == ignored ? 0 : (p - (index(1) == label ? 1 : 0)) * dy",
		.inputs = "p label dy",
		.scalars = "ignored"};
	const struct entropy_state *state = node->state;
	const tn_array *x = node->saved[LOGITS].array;
	const int64_t column[] = {-1, 1};
	const tn_number ignored = tn_number_i64(state->ignored);
	const tn_array *inputs[] = {tn_softmax(tn_loss_in_dtype(x, dy->dtype), 1),
				    tn_reshape(node->saved[LABELS].array, 2, column),
				    tn_reshape(dy, 2, column)};
	return tn_astype(tn_formula_map_number(&gradient, inputs, &ignored), x->dtype);
}

static tn_status backward(struct tn_node *node, tn_array *dy)
{
	const struct entropy_state *state = node->state;
	const tn_array *labels = node->saved[LABELS].array, *count = node->saved[COUNT].array;
	if (count)
		dy = tn_broadcast_to(tn_divide(dy, count), 1, labels->shape);
	if (tn_node_records(node))
		return tn_node_give(node, LOGITS, dy ? recorded_gradient(node, dy) : NULL);
	return tn_node_give(node, LOGITS,
			    tn_cross_entropy_backward(
				    node->saved[LOGITS].array, labels, node->saved[MAXIMUM].array,
				    node->saved[LOG_SUM].array, dy, state->ignored));
}

/* The loss of each row, or their mean. */
static tn_array *losses_of(const tn_array *logits, const tn_array *labels, int64_t ignored,
			   int is_mean)
{
	struct entropy_state state = {ignored};
	struct tn_suspension suspension = tn_tape_suspend(logits);
	if (!suspension.runtime)
		return NULL;
	tn_array *loss = NULL, *maximum = NULL, *log_sum = NULL, *count = NULL;
	if (!tn_cross_entropy_forward(logits, labels, ignored, &loss, &maximum, &log_sum) &&
	    is_mean) {
		tn_array *rows = loss, *sum = tn_sum(rows, TN_ALL_AXES, NULL, 0);
		count = count_rows(rows, labels, ignored);
		loss = tn_divide(sum, count);
		tn_array_destroy(sum);
		tn_array_destroy(rows);
	}
	loss = tn_tape_resume(
		suspension, loss,
		&(struct tn_node_request){.operation = name,
					  .backward = backward,
					  .is_twice = 1,
					  .n_inputs = 1,
					  .inputs = {logits},
					  .n_saved = 5,
					  .saved = {logits, labels, maximum, log_sum, count},
					  .state = &state,
					  .state_size = sizeof(state)});
	tn_array_destroy(maximum);
	tn_array_destroy(log_sum);
	tn_array_destroy(count);
	return loss;
}

/* ---- Labels ----------------------------------------------------------------------------------*/

/* (1 - e) loss + e times the mean over the classes of -weight log softmax(input).  With w a class's
 * weight and W the mean of all, the latter is W lse - mean of w input, lse being the log of the sum
 * of exp(input): the loss plus input[label], but for a label of a logit that is -inf. */
static tn_array *smoothed(const struct tn_loss_rows *rows, const tn_array *losses,
			  const tn_array *weight, double e)
{
	static const struct tn_formula plain = {
		.text = "smoothed = known == -1 ? 0 : (1 - e) * loss + e * (lse - mean_x)",
		.inputs = "loss lse mean_x known",
		.scalars = "e"};
	static const struct tn_formula weighted = {
		.text = "mean_loss = W * lse - mean_wx\n"
			"smoothed = known == -1 ? 0 : (1 - e) * factor * loss + e * mean_loss",
		.inputs = "loss lse mean_wx known factor W",
		.scalars = "e"};
	static const int classes[] = {1};
	const tn_array *x = rows->input;
	const tn_array *w = tn_loss_in_dtype(weight, rows->dtype);
	const tn_array *inputs[] = {
		losses,
		tn_logsumexp(x, 1, classes, 0),
		tn_mean(w ? tn_multiply(x, w) : x, 1, classes, 0),
		rows->known,
		rows->factors,
		w ? tn_mean(w, TN_ALL_AXES, NULL, 0) : NULL,
	};
	return tn_formula_operation(name, w ? &weighted : &plain, rows->dtype, inputs, &e);
}

/* x less its largest element in each row, a constant: sums over the classes of logits that share a
 * large offset would lose digits. */
static tn_array *shifted(const struct tn_loss_rows *rows)
{
	const tn_array *x = tn_loss_in_dtype(rows->input, rows->dtype);
	return tn_subtract(x, tn_max(tn_detach(x), 1, (const int[]){1}, 1));
}

static tn_array *of_labels(const tn_array *input, const tn_array *labels,
			   const struct tn_cross_entropy_options *o)
{
	struct tn_loss_rows rows;
	int64_t ignored = o->has_ignore_label ? o->ignore_label : TN_NO_LABEL;
	if (tn_loss_rows_of(&rows, &tn_label_checks[TN_LABELS_OF_CROSS_ENTROPY], input, labels,
			    ignored) ||
	    tn_loss_check_weight(name, input, o->weight, rows.input->shape[1]))
		return NULL;
	int is_plain = !o->weight && o->label_smoothing == 0.0;
	if (o->label_smoothing > 0.0)
		rows.input = shifted(&rows);
	if (!rows.input)
		return NULL;
	if (is_plain && o->reduction == TN_REDUCTION_MEAN)
		return losses_of(rows.input, rows.labels, ignored, 1);
	tn_array *losses = losses_of(rows.input, rows.labels, ignored, 0);
	if (!is_plain && (!losses || tn_loss_rows_weigh(&rows, o->weight)))
		return NULL;
	if (o->label_smoothing > 0.0)
		losses = smoothed(&rows, losses, o->weight, o->label_smoothing);
	else if (o->weight)
		losses = tn_multiply(losses, rows.factors);
	return tn_loss_rows_reduce(&rows, losses, labels, o->reduction);
}

/* ---- Probabilities ---------------------------------------------------------------------------*/

static tn_status check_probabilities(const tn_array *input, const tn_array *target,
				     const struct tn_cross_entropy_options *o, int axis)
{
	char expected[TN_SHAPE_TEXT], found[TN_SHAPE_TEXT];
	tn_status status = tn_loss_check_input(name, input);
	if (!status)
		status = tn_loss_check_weight(name, input, o->weight,
					      input->rank ? input->shape[axis] : 0);
	if (status)
		return status;
	if (!input->rank || !tn_shape_equal(input->rank, input->shape, target->rank, target->shape))
		return tn_runtime_fail(input->runtime, TN_SHAPE, name,
				       "target: expected the probabilities of an input of shape "
				       "%s, found shape %s",
				       tn_array_text(input, expected),
				       tn_array_text(target, found));
	if (target->dtype != input->dtype && target->dtype != TN_BOOL &&
	    !tn_is_integer(target->dtype))
		return tn_runtime_fail(input->runtime, TN_DTYPE, name,
				       "target: expected probabilities of %s like the input, or an "
				       "integer or bool, found %s",
				       tn_dtype_name(input->dtype), tn_dtype_name(target->dtype));
	if (o->has_ignore_label)
		return tn_runtime_fail(input->runtime, TN_INVALID_ARGUMENT, name,
				       "has_ignore_label: expected 0 for a target of "
				       "probabilities, found %d",
				       o->has_ignore_label);
	return TN_OK;
}

static tn_array *of_probabilities(const tn_array *input, const tn_array *target,
				  const struct tn_cross_entropy_options *o)
{
	/* p is the softmax; the smoothed target is (1 - e) target + e / C. */
	static const struct tn_formula plain = {.text = "term = -log_p * (keep * target + spread)",
						.inputs = "log_p target",
						.scalars = "keep spread"};
	static const struct tn_formula weighted = {
		.text = "term = -log_p * (keep * target + spread) * weight",
		.inputs = "log_p target weight",
		.scalars = "keep spread"};
	const int axis = input->rank > 1;
	tn_dtype dtype = input->dtype == TN_F64 ? TN_F64 : TN_F32;
	if (check_probabilities(input, target, o, axis))
		return NULL;
	int64_t shape[TN_MAX_RANK];
	for (int i = 0; i < input->rank; i++)
		shape[i] = i == axis ? input->shape[i] : 1;
	const double scalars[] = {1.0 - o->label_smoothing,
				  o->label_smoothing / (double)input->shape[axis]};
	const tn_array *weight = tn_loss_in_dtype(o->weight, dtype);
	const tn_array *inputs[] = {tn_log_softmax(tn_loss_in_dtype(input, dtype), axis), target,
				    weight ? tn_reshape(weight, input->rank, shape) : NULL};
	tn_array *terms =
		tn_formula_operation(name, weight ? &weighted : &plain, dtype, inputs, scalars);
	return tn_loss_reduce(tn_sum(terms, 1, &axis, 0), o->reduction);
}

/* ---- The public function ---------------------------------------------------------------------*/

static const struct tn_option members[] = {
	{TN_MEMBER(struct tn_cross_entropy_options, label_smoothing), .most = 1},
	{0},
};

tn_array *tn_cross_entropy(const tn_array *input, const tn_array *target,
			   const struct tn_cross_entropy_options *options)
{
	struct tn_cross_entropy_options o = tn_cross_entropy_defaults();
	if (tn_arrays_given(2, (const tn_array *[]){input, target}, name))
		return NULL;
	struct tn_runtime *rt = input->runtime;
	if (tn_runtime_take(rt, &o, sizeof(o), options, "struct tn_cross_entropy_options", name) ||
	    tn_loss_check_reduction(rt, name, o.reduction, TN_REDUCTION_NONE) ||
	    tn_runtime_check(rt, &o, members, name) || tn_scope_begin(tn_array_context(input)))
		return NULL;
	/* No gradient flows to it. */
	if (o.weight)
		o.weight = tn_detach(o.weight);
	return tn_scope_end(tn_array_context(input), target->rank == input->rank
							     ? of_probabilities(input, target, &o)
							     : of_labels(input, target, &o));
}
