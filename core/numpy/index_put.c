/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Elements written by index.
 */
#include <inttypes.h>
#include <tenon/index.h>

#include "array/make.h"
#include "base/dtype.h"
#include "numpy/index_gather.h"
#include "numpy/index_terms.h"
#include "numpy/put_axis.h"
#include "program/cast.h"

static const char operation[] = "index_put";

static tn_status check(const tn_array *a, const tn_array *values, uint32_t mode)
{
	struct tn_runtime *runtime = a->runtime;
	if (mode > TN_PUT_MAX)
		return tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, operation,
				       "mode: expected one of enum tn_index_mode, found %" PRIu32,
				       mode);
	if (mode != TN_PUT_ASSIGN && !tn_is_same_kind(values->dtype, a->dtype))
		return tn_runtime_fail(runtime, TN_DTYPE, operation,
				       "values: %s are of a higher kind than a's %s: a lower kind "
				       "needs tn_astype",
				       tn_dtype_name(values->dtype), tn_dtype_name(a->dtype));
	if (mode > TN_PUT_ADD && tn_is_complex(a->dtype))
		return tn_runtime_fail(runtime, TN_DTYPE, operation,
				       "a: %s has no order, and no extremes",
				       tn_dtype_name(a->dtype));
	return tn_put_check(operation, a, values);
}

/* Values are apart from the view, or the same elements. */
static tn_status put_view(tn_array *view, const tn_array *values, uint32_t mode)
{
	if (mode == TN_PUT_ADD)
		return tn_add_into(view, view, values);
	if (mode == TN_PUT_ASSIGN)
		return tn_assign(view, values);
	const tn_array *extremes =
		mode == TN_PUT_MIN ? tn_minimum(view, values) : tn_maximum(view, values);
	return extremes ? tn_assign(view, extremes) : view->runtime->error.status;
}

static tn_status put_gathered(const struct tn_index_selection *chosen, struct tn_put *put)
{
	struct tn_index_gather gather;
	const int64_t all[] = {-1};
	tn_status status = tn_index_gather_make(operation, chosen, &gather);
	if (status)
		return status;
	put->target = gather.line;
	put->axis = 0;
	put->numbers = gather.numbers;
	put->values = tn_reshape(put->values, 1, all);
	return put->values ? tn_put_run(put) : chosen->view->runtime->error.status;
}

static tn_status put_along(const struct tn_index_selection *chosen, struct tn_put *put)
{
	tn_array *base = tn_index_selection_base(chosen);
	int64_t shape[TN_MAX_RANK];
	if (!base)
		return chosen->view->runtime->error.status;
	for (int i = 0; i < base->rank; i++)
		shape[i] = i == chosen->first ? chosen->numbers->size : base->shape[i];
	put->target = base;
	put->values = tn_reshape(put->values, base->rank, shape);
	tn_status status = put->values ? tn_put_run(put) : base->runtime->error.status;
	return status ? status : tn_line_return(chosen->view, base);
}

/* Values of a[terms]' shape at the numbers. */
static tn_status put_numbers(const struct tn_index_selection *chosen, const tn_array *values,
			     uint32_t mode)
{
	/* Sorting the numbers of single elements costs more than copying as many. */
	enum { WORTH_SORTING = 8 };
	if (!tn_storages_are_apart(values->storage, chosen->view->storage))
		values = tn_copy(values);
	if (!values)
		return chosen->view->runtime->error.status;
	struct tn_put put = {.operation = operation,
			     .axis = chosen->first,
			     .numbers = chosen->numbers,
			     .is_unique = chosen->is_unique,
			     .values = values,
			     .mode = (enum tn_index_mode)mode};
	return tn_index_gather_pays(chosen, WORTH_SORTING) ? put_gathered(chosen, &put)
							   : put_along(chosen, &put);
}

static tn_status put_in_scope(tn_array *a, int n, const struct tn_index_term *terms,
			      const tn_array *values, uint32_t mode)
{
	struct tn_index_selection chosen;
	const tn_array *untracked = tn_array_untracked(operation, a);
	if (!untracked)
		return a->runtime->error.status;
	tn_status status = tn_terms_apply(1, untracked, n, terms, &chosen);
	if (status)
		return status;
	const tn_array *fitted =
		tn_values_fit(operation, "values", values, a->dtype, chosen.rank, chosen.shape);
	if (!fitted)
		return a->runtime->error.status;
	return chosen.numbers ? put_numbers(&chosen, fitted, mode)
			      : put_view(chosen.view, fitted, mode);
}

tn_status tn_index_put(tn_array *a, int n, const struct tn_index_term *terms,
		       const tn_array *values, uint32_t mode)
{
	const tn_array *both[] = {a, values};
	tn_status status = tn_begin_into(2, both, operation);
	if (!status)
		status = tn_terms_check(operation, a, n, terms);
	if (!status)
		status = check(a, values, mode);
	if (!status)
		status = tn_scope_begin(a->runtime->context);
	if (status)
		return status;
	status = put_in_scope(a, n, terms, values, mode);
	tn_scope_end(a->runtime->context, NULL);
	return status;
}
