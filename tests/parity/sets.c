/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Sets and orders against recorded NumPy results.
 */
#include "parity/numpy_calls.h"

static tn_array *unique(struct call *c)
{
	const int axis = (int)setting(c, "axis"), equal_nan = (int)setting(c, "equal_nan");
	if (!setting(c, "all"))
		return tn_unique(c->x, axis, equal_nan, NULL, NULL, NULL);
	return tn_unique(c->x, axis, equal_nan, &c->others[0], &c->others[1], &c->others[2]);
}
static tn_array *isin(struct call *c)
{
	return tn_isin(c->x, c->y, (int)setting(c, "invert"));
}
static tn_array *union1d(struct call *c)
{
	return tn_union1d(c->x, c->y);
}
static tn_array *intersect1d(struct call *c)
{
	const int all = (int)setting(c, "all");
	return tn_intersect1d(c->x, c->y, (int)setting(c, "unique"), all ? &c->others[0] : NULL,
			      all ? &c->others[1] : NULL);
}
static tn_array *setdiff1d(struct call *c)
{
	return tn_setdiff1d(c->x, c->y, (int)setting(c, "unique"));
}
static tn_array *setxor1d(struct call *c)
{
	return tn_setxor1d(c->x, c->y, (int)setting(c, "unique"));
}

static tn_array *lexsort(struct call *c)
{
	const tn_array *keys[] = {c->x, c->y};
	return tn_lexsort(c->y ? 2 : 1, keys, (int)setting(c, "axis"));
}
static tn_array *sort_complex(struct call *c)
{
	return tn_sort_complex(c->x);
}

/* The element at the place; all, in order; of numbers the greatest before and the least behind. */
static tn_array *parts_of(struct call *c, const tn_array *elements, int axis)
{
	const int64_t length =
		tn_array_shape(elements)[axis < 0 ? axis + tn_array_rank(elements) : axis];
	const int64_t kth = setting(c, "kth"), k = kth < 0 ? kth + length : kth;
	c->others[0] = tn_sort(elements, axis, 0);
	if (record_array(c->record, "t")) {
		c->others[1] = tn_max(tn_slice(elements, axis, 0, k + 1, 1), 1, &axis, 0);
		c->others[2] = tn_min(tn_slice(elements, axis, k, length, 1), 1, &axis, 0);
	}
	return tn_squeeze(tn_slice(elements, axis, k, k + 1, 1), axis);
}

static tn_array *partition(struct call *c)
{
	const int axis = (int)setting(c, "axis");
	const int64_t kth = setting(c, "kth");
	return parts_of(c, tn_partition(c->x, 1, &kth, axis), axis == TN_AXIS_NONE ? 0 : axis);
}
static tn_array *argpartition(struct call *c)
{
	const int axis = (int)setting(c, "axis"), along = axis == TN_AXIS_NONE ? 0 : axis;
	const int64_t kth = setting(c, "kth"), all = -1;
	const tn_array *a = axis == TN_AXIS_NONE ? tn_reshape(c->x, 1, &all) : c->x;
	const tn_array *places = tn_argpartition(c->x, 1, &kth, axis);
	return parts_of(c, tn_take_along_axis(a, places, along), along);
}

static tn_array *argmax(struct call *c)
{
	return tn_argmax(c->x, (int)setting(c, "axis"), c->keepdims);
}
static tn_array *argmin(struct call *c)
{
	return tn_argmin(c->x, (int)setting(c, "axis"), c->keepdims);
}
static tn_array *nanargmax(struct call *c)
{
	return tn_nanargmax(c->x, (int)setting(c, "axis"), c->keepdims);
}
static tn_array *nanargmin(struct call *c)
{
	return tn_nanargmin(c->x, (int)setting(c, "axis"), c->keepdims);
}

static const struct call_row rows[] = {
	{"unique", NULL, unique},       {"isin", NULL, isin},
	{"union1d", NULL, union1d},     {"intersect1d", NULL, intersect1d},
	{"setdiff1d", NULL, setdiff1d}, {"setxor1d", NULL, setxor1d},
	{"lexsort", NULL, lexsort},     {"sort_complex", NULL, sort_complex},
	{"partition", NULL, partition}, {"argpartition", NULL, argpartition},
	{"argmax", NULL, argmax},       {"argmin", NULL, argmin},
	{"nanargmax", NULL, nanargmax}, {"nanargmin", NULL, nanargmin},
};

const struct parity parity = {
	.claim = "has_numpys_sets",
	.records = {{"sets.txt", 687}},
	.check = check_call,
	.rows = rows,
	.n_rows = sizeof(rows) / sizeof(rows[0]),
	.is_brief = parity_is_first_in_f32,
};
