/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Cross-entropy of rows of logits with labels: the route, and compositions of two reductions
 * (forward) and one map (backward).
 */
#include "layers/cross_entropy.h"

#include <inttypes.h>

#include "array/make.h"
#include "array/shape.h"
#include "base/dtype.h"
#include "dispatch/operand.h"
#include "dispatch/route.h"
#include "ops/index_check.h"
#include "ops/map.h"
#include "ops/reduce_run.h"

struct cross_entropy {
	struct tn_runtime *runtime;
	tn_array *x;      /* (N, C) */
	tn_array *labels; /* (N) */
	tn_array *maximum;
	tn_array *log_sum;
	tn_array *loss;       /* backward: dloss */
	tn_array *dx;         /* NULL: forward */
	int64_t ignore_label; /* TN_NO_LABEL: none */
};

/* (N) as (N, 1). */
static tn_array *as_column(const tn_array *a)
{
	const int64_t shape[] = {a->shape[0], 1}, strides[] = {a->strides[0], 1};
	return tn_array_view(a, 2, shape, strides, a->offset);
}

/* ---- Forward ---------------------------------------------------------------------------------*/

/* maximum, then in one pass  sum exp(x - maximum)  and  x[label] - maximum. */
static const struct tn_formula as_is = {.text = "term = x", .inputs = "x"};
static const struct tn_formula terms = {
	.text = "away = x - maximum\n"
		"exp_away = exp(away); of_label = index(1) == i64(label) ? away : 0",
	.inputs = "x maximum label",
	.outputs = "exp_away of_label"};

static const struct tn_formula losses = {
	.text = "log_sum = log(sum)\n"
		"k = i64(label)\n"
		"loss = k == ignored ? 0 : k < 0 || k >= n_classes ? nan : log_sum - of_label",
	.inputs = "sum of_label label",
	.scalars = "ignored n_classes",
	.outputs = "log_sum loss",
	.scalar_dtype = TN_I64};

static tn_status compose_forward(void *argument)
{
	const struct cross_entropy *e = argument;
	const double scalars[] = {(double)e->ignore_label, (double)e->x->shape[1]};
	const tn_array *inputs[] = {e->x, as_column(e->maximum), as_column(e->labels)};
	const tn_array *kept[] = {inputs[2]};
	tn_array *const outputs[] = {e->log_sum, e->loss};
	struct tn_formula_reduction largest = {.prologue = &as_is,
					       .inputs = inputs,
					       .outputs = (tn_array *const *)&e->maximum,
					       .axes = 1u << 1,
					       .combiners = {TN_REDUCE_MAX}};
	struct tn_formula_reduction sums = {.prologue = &terms,
					    .epilogue = &losses,
					    .inputs = inputs,
					    .epilogue_inputs = kept,
					    .outputs = outputs,
					    .epilogue_scalars = scalars,
					    .axes = 1u << 1,
					    .combiners = {TN_REDUCE_SUM, TN_REDUCE_SUM}};
	tn_status status;
	if (!inputs[1] || !inputs[2])
		return tn_report_status(e->runtime);
	status = tn_formula_reduce(e->runtime, TN_DO_MAX, &largest);
	return status ? status : tn_formula_reduce(e->runtime, TN_DO_CROSS_ENTROPY, &sums);
}

/* ---- Backward --------------------------------------------------------------------------------*/

static const struct tn_formula gradient = {
	.text = "k = i64(label); softmax = exp((x - maximum) - log_sum)\n"
		"g = (softmax - (index(1) == k ? 1 : 0)) * dloss\n"
		"dx = k == ignored ? 0 : k < 0 || k >= n_classes ? nan : g",
	.inputs = "x label maximum log_sum dloss",
	.scalars = "ignored n_classes",
	.scalar_dtype = TN_I64};

static tn_status compose_backward(void *argument)
{
	const struct cross_entropy *e = argument;
	const double scalars[] = {(double)e->ignore_label, (double)e->x->shape[1]};
	const tn_array *inputs[] = {e->x, as_column(e->labels), as_column(e->maximum),
				    as_column(e->log_sum), as_column(e->loss)};
	if (!inputs[1] || !inputs[2] || !inputs[3] || !inputs[4])
		return tn_report_status(e->runtime);
	return tn_formula_map(e->runtime, TN_DO_CROSS_ENTROPY_BACKWARD, &gradient, inputs,
			      (tn_array *const *)&e->dx, scalars);
}

/* ---- Public functions ------------------------------------------------------------------------*/

static tn_status check_logits(struct cross_entropy *e, const char *name)
{
	struct tn_error_info *error = &e->runtime->report;
	char x[TN_SHAPE_TEXT], labels[TN_SHAPE_TEXT];
	if (!tn_is_floating(e->x->dtype))
		return tn_fail(error, TN_DTYPE, name, "x: expected a floating type, found %s",
			       tn_dtype_name(e->x->dtype));
	if (e->labels->dtype != TN_I32)
		return tn_fail(error, TN_DTYPE, name, "labels: expected i32, found %s",
			       tn_dtype_name(e->labels->dtype));
	if (e->x->rank != 2 || e->labels->rank != 1 || e->x->shape[0] != e->labels->shape[0] ||
	    (!e->x->shape[1] && e->x->shape[0]))
		return tn_fail(error, TN_SHAPE, name,
			       "expected logits (N, C) and labels (N), found %s and %s",
			       tn_array_text(e->x, x), tn_array_text(e->labels, labels));
	return TN_OK;
}

static tn_status check_row(struct cross_entropy *e, const char *which, const tn_array *row)
{
	char text[TN_SHAPE_TEXT];
	tn_dtype dtype = e->x->dtype == TN_F64 ? TN_F64 : TN_F32;
	if (row->rank == 1 && row->shape[0] == e->x->shape[0] && row->dtype == dtype)
		return TN_OK;
	return tn_fail(&e->runtime->report, TN_SHAPE, "cross_entropy_backward",
		       "%s: expected %" PRId64 " elements of %s, found shape %s of %s", which,
		       e->x->shape[0], tn_dtype_name(dtype), tn_array_text(row, text),
		       tn_dtype_name(row->dtype));
}

/* Those of a composition, for widened runs. */
static const uint32_t arrays_of_cross_entropy[] = {offsetof(struct cross_entropy, x),
						   offsetof(struct cross_entropy, dx), 0};

static tn_status run_cross_entropy(struct cross_entropy *e)
{
	/* Backends have no value for "none": a row with this label would be ignored, but it is
	 * reported as out of range. */
	const int none = e->ignore_label == TN_NO_LABEL;
	struct tn_cross_entropy_args args = {.call = {.struct_size = sizeof(args)},
					     .ignore_label =
						     none ? INT32_MIN : (int32_t)e->ignore_label};
	int is_forward = !e->dx;
	struct tn_route route = {
		.runtime = e->runtime,
		.device = tn_array_home(e->x),
		.operation = is_forward ? TN_DO_CROSS_ENTROPY : TN_DO_CROSS_ENTROPY_BACKWARD,
		.slot = is_forward ? TN_SLOT_CROSS_ENTROPY_FORWARD : TN_SLOT_CROSS_ENTROPY_BACKWARD,
		.call = &args.call,
		.compose = is_forward ? compose_forward : compose_backward,
		.argument = e,
		.arrays = arrays_of_cross_entropy,
		.needs = is_forward ? TN_NEEDS_MAP | TN_NEEDS_REDUCE : TN_NEEDS_MAP,
		.dtype = e->x->dtype};
	tn_operand_of(&args.x, e->x);
	tn_operand_of(&args.labels, e->labels);
	tn_operand_of(&args.maximum, e->maximum);
	tn_operand_of(&args.log_sum, e->log_sum);
	tn_operand_of(&args.loss, e->loss);
	if (!is_forward)
		tn_operand_of(&args.dx, e->dx);
	return tn_route_run(&route);
}

static const char label[] = "label", n_classes[] = "the number of classes is";
const struct tn_check tn_label_checks[] = {
	[TN_LABELS_OF_CROSS_ENTROPY] = {"cross_entropy", label, n_classes},
	[TN_LABELS_OF_NLL_LOSS] = {"nll_loss", label, n_classes},
	[TN_LABELS_OF_MULTI_MARGIN_LOSS] = {"multi_margin_loss", label, n_classes},
};

tn_status tn_cross_entropy_forward(const tn_array *x, const tn_array *labels, int64_t ignore_label,
				   tn_array **loss, tn_array **maximum, tn_array **log_sum)
{
	const tn_array *inputs[] = {x, labels};
	struct cross_entropy e = {.x = tn_array_const_cast(x),
				  .labels = tn_array_const_cast(labels),
				  .ignore_label = ignore_label};
	tn_status status = tn_begin_into(2, inputs, "cross_entropy");
	tn_dtype dtype;
	if (status)
		return status;
	e.runtime = x->runtime;
	status = check_logits(&e, "cross_entropy");
	if (!status) {
		const struct tn_index_range range = {
			.operation = TN_DO_CROSS_ENTROPY,
			.check = &tn_label_checks[TN_LABELS_OF_CROSS_ENTROPY],
			.limit = x->shape[1],
			.ignored = ignore_label};
		status = tn_indices_in_range(e.runtime, &range, labels);
	}
	if (status)
		return tn_end_into(e.runtime, status);
	dtype = x->dtype == TN_F64 ? TN_F64 : TN_F32;
	e.loss = tn_array_make(e.runtime, tn_array_home(x), dtype, 1, labels->shape);
	e.maximum = tn_array_make(e.runtime, tn_array_home(x), dtype, 1, labels->shape);
	e.log_sum = tn_array_make(e.runtime, tn_array_home(x), dtype, 1, labels->shape);
	status = e.loss && e.maximum && e.log_sum ? TN_OK : tn_report_status(e.runtime);
	if (!status && labels->size)
		status = run_cross_entropy(&e);
	if (status) {
		tn_array_discard(e.loss);
		tn_array_discard(e.maximum);
		tn_array_discard(e.log_sum);
		return tn_end_into(e.runtime, status);
	}
	*loss = e.loss;
	*maximum = e.maximum;
	*log_sum = e.log_sum;
	return TN_OK;
}

tn_array *tn_cross_entropy_backward(const tn_array *x, const tn_array *labels,
				    const tn_array *maximum, const tn_array *log_sum,
				    const tn_array *dloss, int64_t ignore_label)
{
	const tn_array *inputs[] = {x, labels, maximum, log_sum, dloss};
	struct cross_entropy e = {.runtime = tn_begin(5, inputs, "cross_entropy_backward"),
				  .x = tn_array_const_cast(x),
				  .labels = tn_array_const_cast(labels),
				  .maximum = tn_array_const_cast(maximum),
				  .log_sum = tn_array_const_cast(log_sum),
				  .loss = tn_array_const_cast(dloss),
				  .ignore_label = ignore_label};
	tn_status status;
	if (!e.runtime)
		return NULL;
	status = check_logits(&e, "cross_entropy_backward");
	if (!status)
		status = check_row(&e, "maximum", maximum);
	if (!status)
		status = check_row(&e, "log_sum", log_sum);
	if (!status)
		status = check_row(&e, "dloss", dloss);
	if (!status) {
		e.dx = tn_array_make(e.runtime, tn_array_home(x), x->dtype, 2, x->shape);
		status = e.dx ? TN_OK : tn_report_status(e.runtime);
	}
	if (!status && e.dx->size)
		status = run_cross_entropy(&e);
	return tn_end(e.runtime, status, e.dx);
}
