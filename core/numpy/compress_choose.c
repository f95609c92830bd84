/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Elements chosen by indices, by conditions, and from several arrays.
 */
#include <tenon/index.h>

#include <inttypes.h>

#include "array/make.h"
#include "array/result_type.h"
#include "array/shape.h"
#include "base/dtype.h"
#include "numpy/index_bounds.h"
#include "numpy/nonzero.h"
#include "ops/axes.h"
#include "ops/copy.h"
#include "ops/formula.h"
#include "ops/take.h"

/* ---- From one array --------------------------------------------------------------------------*/

static const struct tn_check take_check = {"take", "index", "the axis has length"};

static tn_array *take_bounded(const tn_array *a, const tn_array *indices, int axis, uint32_t bounds)
{
	const tn_array *view = tn_axis_or_flat(a, "take", &axis);
	if (!view)
		return NULL;
	const int64_t length = view->shape[axis];
	const tn_array *numbers =
		tn_index_bounded(&take_check, "indices", indices, -length, length, bounds);
	return tn_take_checked(view, numbers, axis, "take", NULL);
}

tn_array *tn_take(const tn_array *a, const tn_array *indices, int axis, uint32_t bounds)
{
	const tn_array *both[] = {a, indices};
	struct tn_runtime *runtime = tn_begin(2, both, "take");
	if (!runtime)
		return NULL;
	const int is_plain = bounds == TN_RAISE && axis != TN_AXIS_NONE &&
			     (indices->dtype == TN_I32 || indices->dtype == TN_I64);
	if (is_plain)
		return tn_take_checked(a, indices, axis, "take", &take_check);
	if (tn_scope_begin(runtime->context))
		return NULL;
	return tn_scope_end(runtime->context, take_bounded(a, indices, axis, bounds));
}

static tn_array *take_true(const struct tn_check *check, const tn_array *condition,
			   const tn_array *a, int axis)
{
	const tn_array *view = tn_axis_or_flat(a, check->operation, &axis);
	if (!view)
		return NULL;
	const tn_array *numbers = tn_true_numbers(check->operation, condition, -1);
	return tn_take_checked(view, numbers, axis, check->operation, check);
}

tn_array *tn_compress(const tn_array *condition, const tn_array *a, int axis)
{
	static const struct tn_check check = {"compress", "true element", "the axis has length"};
	const tn_array *both[] = {condition, a};
	struct tn_runtime *runtime = tn_begin(2, both, "compress");
	char text[TN_SHAPE_TEXT];
	if (!runtime)
		return NULL;
	if (condition->rank != 1) {
		tn_runtime_fail(runtime, TN_SHAPE, "compress",
				"condition: expected one axis, found shape %s",
				tn_array_text(condition, text));
		return NULL;
	}
	if (tn_scope_begin(runtime->context))
		return NULL;
	return tn_scope_end(runtime->context, take_true(&check, condition, a, axis));
}

tn_array *tn_extract(const tn_array *condition, const tn_array *a)
{
	static const struct tn_check check = {"extract", "true element", "a has size"};
	const tn_array *both[] = {condition, a};
	struct tn_runtime *runtime = tn_begin(2, both, "extract");
	if (!runtime || tn_scope_begin(runtime->context))
		return NULL;
	return tn_scope_end(runtime->context, take_true(&check, condition, a, TN_AXIS_NONE));
}

/* ---- From several arrays ---------------------------------------------------------------------*/

static const tn_array *converted(const tn_array *a, tn_dtype dtype)
{
	return a->dtype == dtype ? a : tn_astype(a, dtype);
}

/* The elements of all choices one after the other, over zeros. */
static tn_array *choose_from(const tn_array *numbers, int n, const tn_array *const *choices)
{
	static const struct tn_formula is_chosen = {.text = "z = number == choice",
						    .inputs = "number",
						    .scalars = "choice",
						    .scalar_dtype = TN_I64};
	const tn_dtype dtype = tn_arrays_result_type(n, choices);
	tn_array *chosen = numbers ? tn_array_filled(numbers, dtype, 0, NULL, 0) : NULL;
	for (int i = 0; i < n && chosen; i++) {
		const double number = i;
		const tn_array *mask =
			tn_formula_operation("choose", &is_chosen, TN_BOOL, &numbers, &number);
		chosen = tn_where(mask, converted(choices[i], dtype), chosen);
	}
	return chosen;
}

tn_array *tn_choose(const tn_array *a, int n, const tn_array *const *choices, uint32_t bounds)
{
	static const struct tn_check check = {"choose", "index", "the number of choices is"};
	const tn_array *any[] = {a, n > 0 && choices ? choices[0] : a};
	struct tn_runtime *runtime = tn_begin(2, any, "choose");
	if (!runtime)
		return NULL;
	if (!choices) {
		tn_runtime_null(runtime, "choose", "choices");
		return NULL;
	}
	if (n < 1) {
		tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, "choose",
				"n: expected 1 or more choices, found %d", n);
		return NULL;
	}
	for (int i = 0; i < n; i++) {
		if (!tn_begin(2, (const tn_array *[]){a, choices[i]}, "choose"))
			return NULL;
	}
	if (tn_scope_begin(runtime->context))
		return NULL;
	const tn_array *numbers = tn_index_bounded(&check, "a", a, 0, n, bounds);
	return tn_scope_end(runtime->context, choose_from(numbers, n, choices));
}

static tn_array *select_from(int n, const tn_array *const *conditions,
			     const tn_array *const *choices, const tn_array *otherwise)
{
	uint32_t set = otherwise ? 1u << otherwise->dtype : 0;
	for (int i = 0; i < n; i++)
		set |= 1u << choices[i]->dtype;
	const tn_dtype dtype = tn_result_type_of(set);
	tn_array *selected = otherwise ? tn_astype(otherwise, dtype)
				       : tn_array_filled(choices[0], dtype, 0, NULL, 0);
	for (int i = n - 1; i >= 0 && selected; i--)
		selected = tn_where(conditions[i], converted(choices[i], dtype), selected);
	return selected;
}

tn_array *tn_select(int n, const tn_array *const *conditions, const tn_array *const *choices,
		    const tn_array *otherwise)
{
	const tn_array *const *any = choices ? choices : conditions;
	if (n < 1 || !any)
		return NULL;
	struct tn_runtime *runtime = tn_begin((uint32_t)n, any, "select");
	if (runtime && (!conditions || !choices))
		tn_runtime_null(runtime, "select", choices ? "conditions" : "choices");
	if (!runtime || !conditions || !choices ||
	    tn_arrays_given((uint32_t)n, conditions, "select"))
		return NULL;
	if (otherwise && !tn_begin(2, (const tn_array *[]){choices[0], otherwise}, "select"))
		return NULL;
	for (int i = 0; i < n; i++) {
		if (!tn_begin(2, (const tn_array *[]){choices[0], conditions[i]}, "select"))
			return NULL;
		if (conditions[i]->dtype != TN_BOOL) {
			tn_runtime_fail(runtime, TN_DTYPE, "select",
					"conditions[%d]: expected bool, found %s", i,
					tn_dtype_name(conditions[i]->dtype));
			return NULL;
		}
	}
	if (tn_scope_begin(runtime->context))
		return NULL;
	return tn_scope_end(runtime->context, select_from(n, conditions, choices, otherwise));
}
