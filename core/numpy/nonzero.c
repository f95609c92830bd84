/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Which elements are true?  The host looks where it can read them.  Elsewhere a running count gives
 * each its place in the list, where a scatter-add puts its number; the others' place is behind the
 * list, where nothing is added.
 */
#include "numpy/nonzero.h"

#include <tenon/index.h>

#include "array/make.h"
#include "array/shape.h"
#include "base/dtype.h"
#include "ops/copy.h"
#include "ops/formula.h"
#include "ops/host_access.h"
#include "ops/host_read.h"
#include "ops/index_formula.h"
#include "ops/take.h"

static tn_array *list_on_host(const char *operation, const tn_array *line)
{
	struct tn_runtime *runtime = line->runtime;
	const unsigned char *truth = line->storage->block.address;
	const int64_t stride = line->strides[0];
	int64_t n = 0, size;
	truth += line->offset;
	for (int64_t i = 0; i < line->size; i++)
		n += truth[i * stride] != 0;
	tn_status status = tn_shape_check(runtime, operation, TN_I64, 1, &n, &size);
	tn_array *list = status ? NULL : tn_array_make(runtime, tn_array_home(line), TN_I64, 1, &n);
	if (!list)
		return tn_end(runtime, status ? status : runtime->report.status, NULL);
	tn_observe_unrepeatable(runtime);
	int64_t *numbers = n ? list->storage->block.address : NULL;
	for (int64_t i = 0, k = 0; k < n; i++) {
		numbers[k] = i;
		k += truth[i * stride] != 0;
	}
	return list;
}

static tn_array *list_numbers(const char *operation, const tn_array *line, int64_t n)
{
	static const struct tn_formula place = {.text = "z = bool(truth) ? count - 1 : n",
						.inputs = "truth count",
						.scalars = "n",
						.scalar_dtype = TN_I64};
	static const struct tn_formula number = {.text = "z = index(0)"};
	tn_number count = tn_number_i64(n);
	const tn_array *counts = line->size ? tn_cumsum(line, 0) : line;
	if (n < 0 && line->size) {
		const tn_array *last = tn_slice(counts, 0, line->size - 1, line->size, 1);
		if (tn_item_number(last, &count))
			return NULL;
	}
	n = line->size ? count.i64 : 0;
	tn_array *list = tn_array_filled(line, TN_I64, 1, &n, 0);
	if (!n || !list)
		return list;
	const tn_array *inputs[] = {line, counts};
	const double end = (double)n;
	const tn_array *places = tn_formula_operation(operation, &place, TN_I64, inputs, &end);
	const tn_array *numbers = tn_index_formula_make(tn_array_home(line), operation, TN_I64, 1,
							line->shape, &number, NULL);
	return tn_scatter_add(list, places, 0, numbers) ? NULL : list;
}

tn_array *tn_true_numbers(const char *operation, const tn_array *a, int64_t n)
{
	const int64_t all[] = {-1};
	if (!a || tn_scope_begin(a->runtime->context))
		return NULL;
	const tn_array *truth = a->dtype == TN_BOOL ? a : tn_astype(a, TN_BOOL);
	const tn_array *line = tn_reshape(truth, 1, all);
	tn_array *list = NULL;
	if (line)
		list = tn_host_may_read(line) ? list_on_host(operation, line)
					      : list_numbers(operation, line, n);
	if (list && n < 0)
		tn_host_read_count(operation, line, sizeof(int64_t));
	return tn_scope_end(a->runtime->context, list);
}

/* ---- Several results -------------------------------------------------------------------------*/

tn_status tn_scope_begin_all(struct tn_runtime *runtime, const char *operation, int n,
			     tn_array **arrays)
{
	if (!arrays)
		return tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, operation,
				       "indices: expected room for %d arrays, found NULL", n);
	return tn_scope_begin(runtime->context);
}

/* ---- By axis ---------------------------------------------------------------------------------*/

tn_array *tn_unraveled(const char *operation, const tn_array *numbers, int rank,
		       const int64_t *shape, int i)
{
	static const struct tn_formula index = {.text = "z = i64(number) / each % length",
						.inputs = "number",
						.scalars = "each length",
						.scalar_dtype = TN_I64};
	int64_t each = 1;
	for (int k = i + 1; k < rank; k++)
		each *= shape[k];
	/* An empty shape has no elements to number. */
	const double scalars[] = {each ? (double)each : 1, shape[i] ? (double)shape[i] : 1};
	return tn_formula_operation(operation, &index, TN_I64, &numbers, scalars);
}

tn_status tn_nonzero(const tn_array *a, tn_array **indices)
{
	for (int i = 0; a && indices && i < a->rank; i++)
		indices[i] = NULL;
	tn_status status = tn_begin_into(1, &a, "nonzero");
	if (status)
		return status;
	struct tn_runtime *runtime = a->runtime;
	if (!a->rank)
		return tn_runtime_fail(runtime, TN_SHAPE, "nonzero",
				       "a: expected at least one axis, found a 0-d array");
	status = tn_scope_begin_all(runtime, "nonzero", a->rank, indices);
	if (status)
		return status;
	const tn_array *numbers = tn_true_numbers("nonzero", a, -1);
	for (int i = 0; i < a->rank && numbers; i++)
		indices[i] = tn_unraveled("nonzero", numbers, a->rank, a->shape, i);
	return tn_scope_end_all(runtime->context, TN_OK, a->rank, indices);
}

static tn_array *rows_of_indices(const tn_array *a)
{
	const tn_array *numbers = tn_true_numbers("argwhere", a, -1);
	const tn_array *columns[TN_MAX_RANK];
	if (!numbers)
		return NULL;
	if (!a->rank) {
		const int64_t shape[] = {numbers->size, 0};
		return tn_reshape(tn_slice(numbers, 0, 0, 0, 1), 2, shape);
	}
	for (int i = 0; i < a->rank; i++)
		columns[i] =
			tn_expand_dims(tn_unraveled("argwhere", numbers, a->rank, a->shape, i), 1);
	return tn_concatenate(a->rank, columns, 1);
}

tn_array *tn_argwhere(const tn_array *a)
{
	struct tn_runtime *runtime = tn_begin(1, &a, "argwhere");
	if (!runtime || tn_scope_begin(runtime->context))
		return NULL;
	return tn_scope_end(runtime->context, rows_of_indices(a));
}

tn_array *tn_flatnonzero(const tn_array *a)
{
	return tn_begin(1, &a, "flatnonzero") ? tn_true_numbers("flatnonzero", a, -1) : NULL;
}
