/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Universal functions in place at indices, equal indices one after another.  The operands are
 * sorted by index, stably: those of one element of the array are neighbours, in their order.
 *
 *     sums       one scatter-add
 *     at once    products and extremes, on backends that combine them (scatter)
 *     in pairs   functions that reorder: a scan of the sorted operands, which does not cross from
 *                one index to the next; its last values are combined with the array
 *     in rounds  others: the operand r of each element, for r = 0, 1, ...
 */
#include <tenon/manipulate.h>

#include "array/make.h"
#include "array/shape.h"
#include "base/dtype.h"
#include "dispatch/operand.h"
#include "numpy/index_bounds.h"
#include "numpy/sorted_search.h"
#include "numpy/ufunc_call.h"
#include "ops/formula.h"
#include "ops/index_formula.h"
#include "ops/scatter.h"
#include "ops/take.h"

struct at {
	const tn_ufunc *ufunc;
	const char *name;
	struct tn_runtime *runtime;
	const tn_array *a;
	tn_array *line;    /* of the indices, i64, from 0 */
	tn_array *rows;    /* the operand of each index; NULL for a function of one input */
	tn_array *sorted;  /* the line, ascending */
	tn_array *operand; /* the rows, in the same order */
	tn_array *first;   /* for each element of a along its first axis, its first operand */
	tn_array *end;     /* and where the next element's begin */
};

/* ---- Operands --------------------------------------------------------------------------------*/

static tn_status check_call(const struct at *at, const tn_array *indices, const tn_array *b)
{
	const tn_array *all[] = {at->a, indices, b};
	const tn_dtype dtypes[] = {at->a->dtype, b ? b->dtype : 0};
	const int n = tn_ufunc_inputs(at->ufunc);
	tn_status status = tn_refuse_tracked(at->runtime, at->name, b ? 3 : 2, all);
	if (status)
		return tn_end_into(at->runtime, status);
	if (n > 2 || (n == 2) != (b != NULL))
		return tn_runtime_fail(at->runtime, TN_INVALID_ARGUMENT, at->name,
				       "at: expected a function of 1 array without b, or of 2 with "
				       "it, found one of %d and b %s",
				       n, b ? "given" : "NULL");
	if (!at->a->rank)
		return tn_runtime_fail(at->runtime, TN_INVALID_ARGUMENT, at->name,
				       "at: expected an array with an axis, found a 0-d array");
	status = tn_array_writable(at->runtime, at->name, at->a);
	if (status)
		return tn_end_into(at->runtime, status);
	const tn_dtype loop = tn_ufunc_loop(at->ufunc, n, dtypes);
	const tn_dtype result = at->ufunc->gives_bool ? TN_BOOL : loop;
	if (!loop)
		return tn_runtime_fail(at->runtime, TN_DTYPE, at->name,
				       "at: not defined for %s%s%s", tn_dtype_name(at->a->dtype),
				       b ? " and " : "", b ? tn_dtype_name(b->dtype) : "");
	if (tn_can_cast(result, at->a->dtype, TN_CASTING_SAME_KIND))
		return TN_OK;
	return tn_runtime_fail(at->runtime, TN_DTYPE, at->name,
			       "at: casting 'same_kind' does not allow the result, %s, to become "
			       "a's %s",
			       tn_dtype_name(result), tn_dtype_name(at->a->dtype));
}

/* The indices as a line that counts from 0. */
static tn_status take_indices(struct at *at, const tn_array *indices)
{
	static const struct tn_check check = {"ufunc_at", "index", "the axis has length"};
	const int64_t length = at->a->shape[0];
	tn_array *numbers = tn_index_bounded(&check, "indices", indices, -length, length, TN_RAISE);
	at->line = numbers ? tn_reshape(numbers, 1, &indices->size) : NULL;
	return at->line ? TN_OK : TN_PENDING_ERROR;
}

/* b for each index: an axis of indices, then a's other axes. */
static tn_status take_rows(struct at *at, const tn_array *indices, const tn_array *b)
{
	const int rank = indices->rank + at->a->rank - 1;
	int64_t shape[2 * TN_MAX_RANK];
	if (!b)
		return TN_OK;
	if (rank > TN_MAX_RANK)
		return tn_runtime_fail(at->runtime, TN_LIMIT, at->name,
				       "at: b would have %d axes, expected at most %d", rank,
				       TN_MAX_RANK);
	for (int i = 0; i < rank; i++)
		shape[i] =
			i < indices->rank ? indices->shape[i] : at->a->shape[i - indices->rank + 1];
	tn_array *whole = tn_broadcast_to(b, rank, shape);
	for (int i = 1; i < at->a->rank; i++)
		shape[i] = at->a->shape[i];
	shape[0] = indices->size;
	at->rows = tn_reshape(whole, at->a->rank, shape);
	return at->rows ? TN_OK : TN_PENDING_ERROR;
}

static tn_status sort_operands(struct at *at)
{
	static const struct tn_formula number = {.text = "z = index(0)"};
	tn_array *order = tn_argsort(at->line, 0, 0);
	tn_array *numbers = tn_index_formula_make(tn_array_home(at->a), at->name, TN_I64, 1,
						  at->a->shape, &number, NULL);
	if (!order || !numbers)
		return TN_PENDING_ERROR;
	at->sorted = tn_take(at->line, order, 0, TN_RAISE);
	at->operand = at->rows ? tn_take(at->rows, order, 0, TN_RAISE) : NULL;
	at->first = tn_sorted_search(at->name, at->sorted, numbers, 0);
	at->end = tn_sorted_search(at->name, at->sorted, numbers, 1);
	return at->first && at->end && (at->operand || !at->rows) ? TN_OK : TN_PENDING_ERROR;
}

/* A line as the first of a's axes, the others of length 1. */
static tn_array *as_column(const struct at *at, const tn_array *line)
{
	int64_t shape[TN_MAX_RANK];
	if (!line)
		return NULL;
	for (int i = 0; i < at->a->rank; i++)
		shape[i] = i ? 1 : line->size;
	return tn_reshape(line, at->a->rank, shape);
}

/* An element's operands go from the first one to before the end: the last of them, whether one is
 * left for round r, and which. */
static const struct tn_formula last_operand = {.text = "z = end > first ? end - 1 : none",
					       .inputs = "first end",
					       .scalars = "none",
					       .scalar_dtype = TN_I64};
static const struct tn_formula has_operand = {.text = "z = end - first > r",
					      .inputs = "first end",
					      .scalars = "r",
					      .scalar_dtype = TN_I64};
static const struct tn_formula next_operand = {.text = "z = end - first > r ? first + r : 0",
					       .inputs = "first end",
					       .scalars = "r",
					       .scalar_dtype = TN_I64};

static tn_array *of_ends(const struct at *at, const struct tn_formula *formula, tn_dtype dtype,
			 double scalar)
{
	const tn_array *ends[] = {at->first, at->end};
	return ends[0] && ends[1] ? tn_formula_operation(at->name, formula, dtype, ends, &scalar)
				  : NULL;
}

/* ---- The ways --------------------------------------------------------------------------*/

static tn_status add_all(struct at *at, tn_array *a)
{
	/* Converted before the sign changes, which a narrower dtype may not have. */
	tn_array *rows = tn_ufunc_cast(at->rows, a->dtype);
	if (tn_ufunc_operation(at->ufunc) == TN_DO_SUBTRACT)
		rows = tn_negative(rows);
	else if (rows && tn_array_overlap(a, rows) != TN_OVERLAP_NONE)
		rows = tn_copy(rows);
	return rows ? tn_scatter_add(a, at->line, 0, rows) : TN_PENDING_ERROR;
}

/* TN_UNSUPPORTED: another function, or the backend does not do it. */
static tn_status at_once(struct at *at, tn_array *a)
{
	static const struct {
		enum tn_operation operation;
		uint32_t mode;
	} modes[] = {{TN_DO_MULTIPLY, TN_SCATTER_MULTIPLY},
		     {TN_DO_MAXIMUM, TN_SCATTER_MAX},
		     {TN_DO_MINIMUM, TN_SCATTER_MIN}};
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (tn_ufunc_operation(at->ufunc) != modes[i].operation)
			continue;
		tn_array *rows = tn_ufunc_cast(at->rows, a->dtype);
		if (rows && tn_array_overlap(a, rows) != TN_OVERLAP_NONE)
			rows = tn_copy(rows);
		return rows ? tn_scatter(a, at->line, 0, rows, modes[i].mode) : TN_PENDING_ERROR;
	}
	return TN_UNSUPPORTED;
}

/* In each step, an operand takes in the one that many places before it, if both have one index. */
static tn_array *in_pairs(const struct at *at)
{
	const int64_t n = at->line->size;
	tn_array *all = tn_ufunc_cast(at->operand, at->a->dtype);
	for (int64_t step = 1; all && step < n; step *= 2) {
		tn_array *upper = tn_slice(all, 0, step, n, 1);
		tn_array *both =
			tn_ufunc_combine(at->ufunc, tn_slice(all, 0, 0, n - step, 1), upper);
		tn_array *same = tn_equal(tn_slice(at->sorted, 0, 0, n - step, 1),
					  tn_slice(at->sorted, 0, step, n, 1));
		const tn_array *parts[] = {tn_slice(all, 0, 0, step, 1),
					   tn_where(as_column(at, same), both, upper)};
		all = parts[0] && parts[1] ? tn_concatenate(2, parts, 0) : NULL;
	}
	tn_array *last = of_ends(at, &last_operand, TN_I64, 0);
	tn_array *has = as_column(at, tn_less(at->first, at->end));
	tn_array *total = last && all ? tn_take(all, last, 0, TN_RAISE) : NULL;
	return tn_where(has, tn_ufunc_combine(at->ufunc, at->a, total), at->a);
}

static tn_array *one_round(const struct at *at, tn_array *a, int64_t round)
{
	const double r = (double)round;
	const tn_array *inputs[] = {a, NULL};
	tn_array *has = of_ends(at, &has_operand, TN_BOOL, r);
	if (at->operand) {
		tn_array *place = of_ends(at, &next_operand, TN_I64, r);
		inputs[1] = place ? tn_take(at->operand, place, 0, TN_RAISE) : NULL;
	}
	if (at->operand && !inputs[1])
		return NULL;
	tn_array *after = tn_ufunc_cast(tn_ufunc_run(at->ufunc, inputs), a->dtype);
	return tn_where(as_column(at, has), after, a);
}

static tn_array *in_rounds(const struct at *at)
{
	tn_array *counts = tn_subtract(at->end, at->first);
	tn_array *most = tn_max(counts, TN_ALL_AXES, NULL, 0);
	tn_array *a = tn_copy(at->a);
	tn_number rounds;
	if (!most || tn_item_number(most, &rounds))
		return NULL;
	for (int64_t r = 0; a && r < rounds.i64; r++) {
		tn_array *before = a;
		a = one_round(at, before, r);
		tn_array_discard(before);
	}
	return a;
}

static tn_status run(struct at *at, tn_array *a)
{
	const enum tn_operation operation = tn_ufunc_operation(at->ufunc);
	const tn_dtype dtypes[] = {a->dtype, at->rows ? at->rows->dtype : a->dtype};
	const tn_dtype loop = tn_ufunc_loop(at->ufunc, at->rows ? 2 : 1, dtypes);
	/* Nothing is converted between one operand and the next. */
	const int is_plain =
		at->rows && loop == a->dtype && (!at->ufunc->gives_bool || loop == TN_BOOL);
	const int is_sum = operation == TN_DO_ADD || operation == TN_DO_SUBTRACT;
	const int is_number = !tn_is_complex(loop) && loop != TN_BOOL;
	if (is_plain && is_sum && is_number)
		return add_all(at, a);
	tn_status status = is_plain && is_number ? at_once(at, a) : TN_UNSUPPORTED;
	if (status != TN_UNSUPPORTED)
		return status;
	status = sort_operands(at);
	if (status)
		return status;
	const int has_pairs = is_plain && tn_operations[operation].fold.is_reorderable;
	tn_array *result = has_pairs ? in_pairs(at) : in_rounds(at);
	return result ? tn_assign(a, result) : TN_PENDING_ERROR;
}

tn_status tn_ufunc_at(const tn_ufunc *ufunc, tn_array *a, const tn_array *indices,
		      const tn_array *b)
{
	const tn_array *all[] = {a, indices, b};
	struct at at = {.ufunc = ufunc, .name = tn_ufunc_name(ufunc), .a = a};
	if (!ufunc) {
		tn_ufunc_begin("at", ufunc, b ? 3 : 2, all);
		return TN_INVALID_ARGUMENT;
	}
	tn_status status = tn_begin_into(b ? 3 : 2, all, at.name);
	if (status)
		return status;
	at.runtime = a->runtime;
	status = check_call(&at, indices, b);
	if (!status)
		status = tn_scope_begin(at.runtime->context);
	if (status)
		return status;
	status = take_indices(&at, indices);
	if (!status)
		status = take_rows(&at, indices, b);
	if (!status && indices->size && a->size)
		status = run(&at, a);
	tn_scope_end(at.runtime->context, NULL);
	return status == TN_PENDING_ERROR ? at.runtime->error.status : status;
}
