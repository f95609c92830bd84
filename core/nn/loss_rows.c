/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Losses of rows of scores with a label each: checks the labels, weighs them, picks the score of
 * each label and reduces the losses.
 */
#include "nn/loss_rows.h"

#include "array/make.h"
#include "array/shape.h"
#include "autograd/node.h"
#include "base/dtype.h"
#include "dispatch/ledger.h"
#include "nn/loss.h"
#include "ops/formula.h"
#include "ops/index_check.h"
#include "ops/reduce_run.h"
#include "ops/take.h"

/* Are the labels' axes those of the input without axis 1, or none besides classes alone? */
static int have_labels(const tn_array *input, const tn_array *labels)
{
	if (!input->rank || labels->rank != input->rank - 1)
		return 0;
	for (int i = 0; i < labels->rank; i++) {
		if (labels->shape[i] != input->shape[i ? i + 1 : 0])
			return 0;
	}
	return 1;
}

tn_status tn_loss_rows_of(struct tn_loss_rows *rows, const struct tn_check *check,
			  const tn_array *input, const tn_array *labels, int64_t ignored)
{
	struct tn_runtime *rt = input->runtime;
	char x[TN_SHAPE_TEXT], y[TN_SHAPE_TEXT];
	tn_status status = tn_loss_check_input(check->operation, input);
	if (status)
		return status;
	if (!have_labels(input, labels))
		return tn_runtime_fail(rt, TN_SHAPE, check->operation,
				       "expected an input (N, C), (N, C, ...) or (C) and labels "
				       "(N), (N, ...) or (), found %s and %s",
				       tn_array_text(input, x), tn_array_text(labels, y));
	if (labels->dtype != TN_I32)
		return tn_runtime_fail(rt, TN_DTYPE, check->operation,
				       "labels: expected i32, found %s",
				       tn_dtype_name(labels->dtype));
	*rows = (struct tn_loss_rows){.check = check,
				      .input = input,
				      .labels = labels,
				      .ignored = ignored,
				      .dtype = input->dtype == TN_F64 ? TN_F64 : TN_F32};
	if (input->rank == 2)
		return TN_OK;
	const int64_t line[] = {labels->size};
	const int64_t matrix[] = {labels->size, input->shape[input->rank > 1]};
	if (input->rank > 2) {
		int axes[TN_MAX_RANK] = {0};
		for (int i = 1; i < input->rank; i++)
			axes[i] = i < input->rank - 1 ? i + 1 : 1;
		rows->input = tn_transpose(input, axes);
	}
	rows->input = tn_reshape(rows->input, 2, matrix);
	rows->labels = tn_reshape(labels, 1, line);
	return tn_runtime_ready(rt);
}

tn_status tn_loss_rows_check(const struct tn_loss_rows *rows)
{
	struct tn_runtime *rt = rows->input->runtime;
	const struct tn_index_range range = {.operation =
						     tn_operation_named(rt, rows->check->operation),
					     .check = rows->check,
					     .limit = rows->input->shape[1],
					     .ignored = rows->ignored};
	return tn_end_into(rt, tn_indices_in_range(rt, &range, rows->labels));
}

/* x is (rows, C), the labels are a column. */
static const struct tn_formula of_class = {.text = "x_label = index(1) == i64(label) ? x : 0",
					   .inputs = "x label"};

/* Each label's weight, 0 where the label is not a class.  Without a gather, which not every
 * backend can capture. */
static tn_status weigh_labels(struct tn_loss_rows *rows, const tn_array *weight)
{
	struct tn_runtime *rt = rows->input->runtime;
	const tn_array *inputs[] = {
		tn_broadcast_to(tn_loss_in_dtype(weight, rows->dtype), 2, rows->input->shape),
		tn_expand_dims(rows->known, 1)};
	const struct tn_formula_reduction reduction = {.prologue = &of_class,
						       .inputs = inputs,
						       .outputs = &rows->factors,
						       .axes = 1u << 1,
						       .combiners = {TN_REDUCE_SUM}};
	if (tn_runtime_ready(rt))
		return rt->error.status;
	rows->factors =
		tn_array_make(rt, tn_array_home(rows->input), rows->dtype, 1, rows->labels->shape);
	tn_status status = rows->factors ? TN_OK : rt->report.status;
	if (!status && rows->factors->size)
		status = tn_formula_reduce(rt, tn_operation_named(rt, rows->check->operation),
					   &reduction);
	return tn_end_into(rt, status);
}

tn_status tn_loss_rows_weigh(struct tn_loss_rows *rows, const tn_array *weight)
{
	static const struct tn_formula known = {
		.text = "k = i64(label)\n"
			"known = k == ignored ? -1 : k < 0 || k >= n_classes ? -2 : k",
		.inputs = "label",
		.scalars = "ignored n_classes",
		.scalar_dtype = TN_I64};
	static const struct tn_formula ones = {.text = "factor = known < 0 ? 0.0 : 1.0",
					       .inputs = "known"};
	const char *name = rows->check->operation;
	const double scalars[] = {(double)rows->ignored, (double)rows->input->shape[1]};
	rows->known = tn_formula_operation(name, &known, TN_I32, &rows->labels, scalars);
	if (weight)
		return weigh_labels(rows, weight);
	rows->factors = tn_formula_operation(name, &ones, rows->dtype,
					     (const tn_array *const *)&rows->known, NULL);
	return tn_runtime_ready(rows->input->runtime);
}

/* ---- The label's element ---------------------------------------------------------------------*/

struct pick {
	const char *operation;
	int64_t n_classes;
	tn_dtype dtype; /* of the input */
};

/* The number of each label's element in the input as a line; its row's first where there is no
 * label. */
static tn_array *element_numbers(const char *operation, const tn_array *known, int64_t n_classes)
{
	static const struct tn_formula number = {
		.text = "number = index(0) * n_classes + (known < 0 ? 0 : i64(known))",
		.inputs = "known",
		.scalars = "n_classes",
		.scalar_dtype = TN_I64};
	const double row = (double)n_classes;
	return tn_formula_operation(operation, &number, TN_I64, &known, &row);
}

/* Zeros, and dy in the label's place. */
static tn_array *scatter(const struct pick *pick, const tn_array *known, const tn_array *dy)
{
	static const struct tn_formula of_label = {.text = "dx = known < 0 ? 0 : dy",
						   .inputs = "dy known"};
	const tn_array *inputs[] = {dy, known};
	const int64_t shape[] = {known->shape[0], pick->n_classes};
	tn_array *dx = tn_zeros(tn_array_context(dy), pick->dtype, 2, shape);
	if (!dx || !dx->size)
		return dx;
	tn_array *line = tn_reshape(dx, 1, &dx->size);
	const tn_array *numbers = element_numbers(pick->operation, known, pick->n_classes);
	const tn_array *given =
		tn_formula_operation(pick->operation, &of_label, pick->dtype, inputs, NULL);
	if (!line || !numbers || !given || tn_scatter_add(line, numbers, 0, given))
		return NULL;
	return dx;
}

/* (rows, C): dy in the label's place, else 0; by recorded operations, or where a call costs little
 * by writing only what is not 0. */
static tn_status pick_backward(struct tn_node *node, tn_array *dy)
{
	const struct pick *pick = node->state;
	tn_array *known = node->saved[0].array;
	const int64_t shape[] = {known->shape[0], pick->n_classes};
	const struct tn_device *device = tn_array_home(dy);
	if (!tn_node_records(node) && device->host_memory && dy->dtype == pick->dtype &&
	    tn_backend_has(device->backend, TN_SLOT_SCATTER_ADD))
		return tn_node_give(node, 0, scatter(pick, known, dy));
	const tn_array *inputs[] = {tn_broadcast_to(tn_expand_dims(dy, 1), 2, shape),
				    tn_expand_dims(known, 1)};
	return tn_node_give(
		node, 0,
		tn_formula_operation(pick->operation, &of_class, pick->dtype, inputs, NULL));
}

/* By a gather of element numbers. */
static tn_array *gather(const struct tn_loss_rows *rows)
{
	struct tn_runtime *rt = rows->input->runtime;
	const tn_array *known = rows->known;
	const tn_array *numbers =
		element_numbers(rows->check->operation, known, rows->input->shape[1]);
	tn_array *line = tn_reshape(rows->input, 1, &rows->input->size);
	tn_array *picked = tn_empty(rt->context, rows->input->dtype, 1, known->shape);
	if (!numbers || !line || !picked)
		return NULL;
	tn_status status =
		tn_gather_run(rt, TN_DO_TAKE_ALONG_AXIS, TN_SLOT_GATHER, line, numbers, picked, 0);
	return tn_end_into(rt, status) ? NULL : picked;
}

/* By a reduction along the rows: work that is captured has no gather where the backend has none. */
static tn_array *sum_of_one(const struct tn_loss_rows *rows)
{
	struct tn_runtime *rt = rows->input->runtime;
	const tn_array *inputs[] = {rows->input, tn_expand_dims(rows->known, 1)};
	tn_array *picked = tn_empty(rt->context, rows->dtype, 1, rows->known->shape);
	const struct tn_formula_reduction reduction = {.prologue = &of_class,
						       .inputs = inputs,
						       .outputs = &picked,
						       .axes = 1u << 1,
						       .combiners = {TN_REDUCE_SUM}};
	if (!inputs[1] || !picked)
		return NULL;
	return tn_end_into(rt, tn_formula_reduce(rt, tn_operation_named(rt, rows->check->operation),
						 &reduction))
		       ? NULL
		       : picked;
}

tn_array *tn_loss_rows_pick(const struct tn_loss_rows *rows)
{
	const struct pick pick = {rows->check->operation, rows->input->shape[1],
				  rows->input->dtype};
	struct tn_suspension suspension = tn_tape_suspend(rows->input);
	if (!suspension.runtime)
		return NULL;
	const struct tn_backend *backend = tn_array_home(rows->input)->backend;
	tn_array *picked = !rows->input->size ? tn_zeros(suspension.runtime->context, rows->dtype,
							 1, rows->known->shape)
			   : rows->input->contiguous && tn_backend_has(backend, TN_SLOT_GATHER)
				   ? gather(rows)
				   : sum_of_one(rows);
	if (picked && picked->dtype != rows->dtype)
		picked = tn_astype(picked, rows->dtype);
	return tn_tape_resume(suspension, picked,
			      &(struct tn_node_request){.operation = pick.operation,
							.backward = pick_backward,
							.is_twice = 1,
							.n_inputs = 1,
							.inputs = {rows->input},
							.n_saved = 1,
							.saved = {rows->known},
							.state = &pick,
							.state_size = sizeof(pick)});
}

/* ---- Reductions ------------------------------------------------------------------------------*/

tn_array *tn_loss_rows_reduce(const struct tn_loss_rows *rows, const tn_array *losses,
			      const tn_array *labels, uint32_t reduction)
{
	if (!losses)
		return NULL;
	if (reduction == TN_REDUCTION_NONE)
		return tn_reshape(losses, labels->rank, labels->shape);
	tn_array *sum = tn_sum(losses, TN_ALL_AXES, NULL, 0);
	if (reduction == TN_REDUCTION_SUM)
		return sum;
	return tn_divide(sum, tn_sum(rows->factors, TN_ALL_AXES, NULL, 0));
}
