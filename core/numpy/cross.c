/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Cross products.
 */
#include <tenon/signal.h>

#include <inttypes.h>
#include <tenon/manipulate.h>

#include "array/make.h"
#include "base/dtype.h"
#include "ops/axes.h"

/* The elements of the vectors, an array each; NULL for a third element that is 0. */
struct elements {
	const tn_array *at[3];
};

static tn_status check_vectors(const char *name, const tn_array *a, int *axis)
{
	tn_status status = tn_axis_check(a, "cross", "axis", axis);
	if (status)
		return status;
	if (a->dtype == TN_BOOL)
		return tn_runtime_fail(a->runtime, TN_DTYPE, "cross",
				       "%s: expected numbers, found bool", name);
	if (a->shape[*axis] != 2 && a->shape[*axis] != 3)
		return tn_runtime_fail(a->runtime, TN_SHAPE, "cross",
				       "%s: expected 2 or 3 elements along axis %d, found %" PRId64,
				       name, *axis, a->shape[*axis]);
	return TN_OK;
}

static struct elements elements_of(const tn_array *a, int axis)
{
	struct elements e = {{NULL, NULL, NULL}};
	for (int i = 0; i < a->shape[axis]; i++)
		e.at[i] = tn_squeeze(tn_slice(a, axis, i, i + 1, 1), axis);
	return e;
}

/* a[i] b[j] - a[j] b[i]; of the third element, where it is 0, only the other product. */
static tn_array *minor_of(const struct elements *a, const struct elements *b, int i, int j)
{
	tn_array *first = a->at[i] && b->at[j] ? tn_multiply(a->at[i], b->at[j]) : NULL;
	tn_array *second = a->at[j] && b->at[i] ? tn_multiply(a->at[j], b->at[i]) : NULL;
	if (first && second)
		return tn_subtract(first, second);
	return first ? first : tn_negative(second);
}

tn_array *tn_cross(const tn_array *a, const tn_array *b, int axis)
{
	const tn_array *both[] = {a, b};
	struct tn_runtime *runtime = tn_begin(2, both, "cross");
	int axis_a = axis, axis_b = axis;
	if (!runtime || check_vectors("a", a, &axis_a) || check_vectors("b", b, &axis_b) ||
	    tn_scope_begin(runtime->context))
		return NULL;
	struct elements x = elements_of(a, axis_a), y = elements_of(b, axis_b);
	tn_array *third = minor_of(&x, &y, 0, 1), *result = third;
	if (third && (x.at[2] || y.at[2])) {
		const tn_array *all[] = {minor_of(&x, &y, 1, 2), minor_of(&x, &y, 2, 0), third};
		result = all[0] && all[1] ? tn_stack(3, all, axis) : NULL;
	}
	return tn_scope_end(runtime->context, result);
}
