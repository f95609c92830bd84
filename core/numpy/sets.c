/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Distinct elements, and arrays as sets.
 */
#include <tenon/manipulate.h>
#include <tenon/sets.h>
#include <tenon/ufunc.h>

#include "array/make.h"
#include "array/result_type.h"
#include "base/dtype.h"
#include "numpy/distinct.h"
#include "numpy/nonzero.h"
#include "numpy/sorted_search.h"
#include "ops/axes.h"
#include "ops/copy.h"
#include "ops/formula.h"
#include "ops/sort.h"

static const tn_array *line_of(const tn_array *a)
{
	return a ? tn_reshape(a, 1, &a->size) : NULL;
}

/* ---- Unique ----------------------------------------------------------------------------------*/

/* Each sub-array along an axis, counted from 0, as a row. */
static tn_array *rows_along(const tn_array *a, int axis)
{
	int64_t shape[] = {a->shape[axis], 1};
	for (int i = 0; i < a->rank; i++)
		shape[1] *= i == axis ? 1 : a->shape[i];
	return tn_reshape(tn_moveaxis(a, 1, &axis, (const int[]){0}), 2, shape);
}

/* Rows as sub-arrays along the axis of a again. */
static tn_array *along_axis(const tn_array *rows, const tn_array *a, int axis)
{
	int64_t shape[TN_MAX_RANK];
	int rank = 1;
	if (!rows)
		return NULL;
	shape[0] = rows->shape[0];
	for (int i = 0; i < a->rank; i++) {
		if (i != axis)
			shape[rank++] = a->shape[i];
	}
	tn_array *moved = tn_moveaxis(tn_reshape(rows, rank, shape), 1, (const int[]){0}, &axis);
	return moved ? tn_contiguous(moved) : NULL;
}

/* The results of one call; those that are not wanted have no place. */
struct unique {
	const tn_array *a;
	int axis; /* counted from 0, or TN_AXIS_NONE */
	tn_array **index, **inverse, **counts;
};

static tn_array *inverse_of(const struct unique *u, const struct tn_distinct *d)
{
	tn_array *inverse = tn_distinct_inverse(d);
	return u->axis == TN_AXIS_NONE ? tn_reshape(inverse, u->a->rank, u->a->shape) : inverse;
}

/* The distinct values; the wanted others in *parts, NULL in place of the rest. */
static tn_array *unique_of(const struct unique *u, int equal_nan, tn_array *parts[3])
{
	const int is_flat = u->axis == TN_AXIS_NONE;
	struct tn_distinct d;
	if (tn_distinct_sort(&d, "unique", is_flat ? line_of(u->a) : rows_along(u->a, u->axis),
			     equal_nan, u->index || u->inverse) ||
	    tn_distinct_find(&d))
		return NULL;
	parts[0] = u->index ? tn_distinct_index(&d) : NULL;
	parts[1] = u->inverse ? inverse_of(u, &d) : NULL;
	parts[2] = u->counts ? tn_distinct_counts(&d) : NULL;
	if ((u->index && !parts[0]) || (u->inverse && !parts[1]) || (u->counts && !parts[2]))
		return NULL;
	tn_array *rows = tn_distinct_rows(&d);
	return is_flat ? rows : along_axis(rows, u->a, u->axis);
}

/* Hands second results to the caller's scope, or none of them without a first one. */
static void hand_over(const tn_array *first, int n, tn_array **const *to, tn_array *const *parts)
{
	for (int i = 0; i < n; i++) {
		if (!to[i])
			continue;
		if (first)
			tn_array_lift(parts[i]);
		*to[i] = first ? parts[i] : NULL;
	}
}

tn_array *tn_unique(const tn_array *a, int axis, int equal_nan, tn_array **index,
		    tn_array **inverse, tn_array **counts)
{
	struct unique u = {a, axis, index, inverse, counts};
	tn_array **const to[] = {index, inverse, counts};
	tn_array *parts[3] = {NULL};
	hand_over(NULL, 3, to, parts);
	struct tn_runtime *runtime = tn_begin(1, &a, "unique");
	if (!runtime || (axis != TN_AXIS_NONE && tn_axis_check(a, "unique", "axis", &u.axis)) ||
	    tn_scope_begin(runtime->context))
		return NULL;
	tn_array *values = unique_of(&u, equal_nan != 0, parts);
	hand_over(values, 3, to, parts);
	return tn_scope_end(runtime->context, values);
}

/* The distinct elements of an array of any shape, as a line; NaN is one of them. */
static tn_array *distinct_line(const char *operation, const tn_array *a, tn_array **index)
{
	struct tn_distinct d;
	if (tn_distinct_sort(&d, operation, line_of(a), 1, index != NULL) || tn_distinct_find(&d))
		return NULL;
	if (index)
		*index = tn_distinct_index(&d);
	return tn_distinct_rows(&d);
}

/* ---- Membership ------------------------------------------------------------------------------*/

/* Complex lines as numbers that are equal where the elements are. */
static tn_status number_elements(const char *operation, const tn_array **a, const tn_array **test)
{
	const int64_t n = (*a)->size;
	const tn_array *both[] = {*a, *test};
	struct tn_distinct d;
	if (tn_distinct_sort(&d, operation, tn_concatenate(2, both, 0), 0, 1))
		return TN_PENDING_ERROR;
	const tn_array *numbers = tn_distinct_inverse(&d);
	*a = tn_slice(numbers, 0, 0, n, 1);
	*test = tn_slice(numbers, 0, n, d.order->size, 1);
	return *a && *test ? TN_OK : TN_PENDING_ERROR;
}

/* Is each element of the line a one of the line `sorted`, which is not empty? */
static tn_array *is_found(const char *operation, const tn_array *a, const tn_array *sorted,
			  int invert)
{
	/* The place is where an element would be: n is behind the last one. */
	static const struct tn_formula at = {.text = "z = place < n ? place : n - 1",
					     .inputs = "place",
					     .scalars = "n",
					     .scalar_dtype = TN_I64};
	static const struct tn_formula same[] = {{.text = "z = place < n && found == sought",
						  .inputs = "place found sought",
						  .scalars = "n",
						  .scalar_dtype = TN_I64},
						 {.text = "z = place >= n || found != sought",
						  .inputs = "place found sought",
						  .scalars = "n",
						  .scalar_dtype = TN_I64}};
	const double n = sorted ? (double)sorted->size : 0;
	const tn_array *place = tn_sorted_search(operation, sorted, a, 0);
	const tn_array *inside = tn_formula_operation(operation, &at, TN_I64, &place, &n);
	const tn_array *inputs[] = {place, tn_elements_at(sorted, inside), a};
	return tn_formula_operation(operation, &same[invert != 0], TN_BOOL, inputs, &n);
}

/* bool, a line for the elements of a; see tn_isin. */
static tn_array *membership(const char *operation, const tn_array *a, const tn_array *test,
			    int invert)
{
	tn_dtype dtype = tn_result_type(a->dtype, test->dtype);
	dtype = dtype == TN_BOOL ? TN_U8 : dtype;
	const tn_array *x = tn_array_untracked(operation, a);
	const tn_array *y = tn_array_untracked(operation, test);
	x = x ? line_of(tn_astype(x, dtype)) : NULL;
	y = y ? line_of(tn_astype(y, dtype)) : NULL;
	if (!x || !y)
		return NULL;
	if (!y->size)
		return tn_array_filled(x, TN_BOOL, 1, &x->size, invert != 0);
	if (tn_is_complex(dtype) && number_elements(operation, &x, &y))
		return NULL;
	return is_found(operation, x, tn_sort(y, 0, 0), invert);
}

tn_array *tn_isin(const tn_array *a, const tn_array *test, int invert)
{
	const tn_array *both[] = {a, test};
	struct tn_runtime *runtime = tn_begin(2, both, "isin");
	if (!runtime || tn_scope_begin(runtime->context))
		return NULL;
	tn_array *found = membership("isin", a, test, invert);
	return tn_scope_end(runtime->context, tn_reshape(found, a->rank, a->shape));
}

/* ---- Two sets --------------------------------------------------------------------------------*/

tn_array *tn_union1d(const tn_array *a, const tn_array *b)
{
	const tn_array *both[] = {a, b};
	struct tn_runtime *runtime = tn_begin(2, both, "union1d");
	if (!runtime || tn_scope_begin(runtime->context))
		return NULL;
	const tn_array *lines[] = {line_of(a), line_of(b)};
	return tn_scope_end(runtime->context,
			    distinct_line("union1d", tn_concatenate(2, lines, 0), NULL));
}

/* Two lines of distinct elements, sorted as one. */
struct joined {
	const char *operation;
	const tn_array *lines[2];
	tn_array *index[2]; /* where their elements were; NULL: as given, or not requested */
	const tn_array *sorted, *order;
	const tn_array *differs; /* does element i + 1 differ from element i? */
};

static tn_status join(struct joined *j, const char *operation, const tn_array *a, const tn_array *b,
		      int assume_unique, int needs_index)
{
	const tn_array *both[] = {a, b};
	*j = (struct joined){.operation = operation};
	for (int i = 0; i < 2; i++) {
		j->lines[i] = assume_unique ? line_of(both[i])
					    : distinct_line(operation, both[i],
							    needs_index ? &j->index[i] : NULL);
		if (!j->lines[i])
			return TN_PENDING_ERROR;
	}
	const tn_array *all = tn_concatenate(2, j->lines, 0);
	j->order = all ? tn_order_by(operation, NULL, all, 0, 0) : NULL;
	j->sorted = j->order ? tn_take(all, j->order, 0, TN_RAISE) : NULL;
	j->differs = j->sorted ? tn_distinct_differs(operation, j->sorted, 0) : NULL;
	return j->differs ? TN_OK : TN_PENDING_ERROR;
}

/* The indices in line i of the elements at places of the order. */
static tn_array *indices_of(const struct joined *j, int i, const tn_array *places)
{
	static const struct tn_formula less = {.text = "z = place - before",
					       .inputs = "place",
					       .scalars = "before",
					       .scalar_dtype = TN_I64};
	const double before = i ? (double)j->lines[0]->size : 0;
	const tn_array *at = tn_elements_at(j->order, places);
	tn_array *own = tn_formula_operation(j->operation, &less, TN_I64, &at, &before);
	return j->index[i] ? tn_elements_at(j->index[i], own) : own;
}

static tn_array *intersection(const struct joined *j, int needs_index, tn_array *parts[2])
{
	static const struct tn_formula next = {.text = "z = place + 1", .inputs = "place"};
	const tn_array *first = tn_true_numbers(j->operation, tn_logical_not(j->differs), -1);
	if (!first)
		return NULL;
	if (needs_index) {
		parts[0] = indices_of(j, 0, first);
		parts[1] = indices_of(
			j, 1, tn_formula_operation(j->operation, &next, TN_I64, &first, NULL));
		if (!parts[0] || !parts[1])
			return NULL;
	}
	return tn_take(j->sorted, first, 0, TN_RAISE);
}

tn_array *tn_intersect1d(const tn_array *a, const tn_array *b, int assume_unique,
			 tn_array **a_indices, tn_array **b_indices)
{
	const tn_array *both[] = {a, b};
	tn_array **const to[] = {a_indices, b_indices};
	tn_array *parts[2] = {NULL}, *values = NULL;
	const int needs_index = a_indices || b_indices;
	struct joined j;
	hand_over(NULL, 2, to, parts);
	struct tn_runtime *runtime = tn_begin(2, both, "intersect1d");
	if (!runtime || tn_scope_begin(runtime->context))
		return NULL;
	if (!join(&j, "intersect1d", a, b, assume_unique, needs_index))
		values = intersection(&j, needs_index, parts);
	hand_over(values, 2, to, parts);
	return tn_scope_end(runtime->context, values);
}

tn_array *tn_setdiff1d(const tn_array *a, const tn_array *b, int assume_unique)
{
	static const char operation[] = "setdiff1d";
	const tn_array *both[] = {a, b};
	struct tn_runtime *runtime = tn_begin(2, both, operation);
	if (!runtime || tn_scope_begin(runtime->context))
		return NULL;
	const tn_array *line = assume_unique ? line_of(a) : distinct_line(operation, a, NULL);
	const tn_array *is_alone = line ? membership(operation, line, b, 1) : NULL;
	const tn_array *places = tn_true_numbers(operation, is_alone, -1);
	return tn_scope_end(runtime->context, places ? tn_take(line, places, 0, TN_RAISE) : NULL);
}

/* Elements that differ from both their neighbours. */
static tn_array *alone(const struct joined *j)
{
	const int64_t one = 1;
	if (!j->sorted->size)
		return tn_copy(j->sorted);
	const tn_array *end = tn_array_filled(j->sorted, TN_BOOL, 1, &one, 1);
	const tn_array *before[] = {end, j->differs}, *after[] = {j->differs, end};
	if (!end)
		return NULL;
	const tn_array *is_alone =
		tn_logical_and(tn_concatenate(2, before, 0), tn_concatenate(2, after, 0));
	const tn_array *places = tn_true_numbers(j->operation, is_alone, -1);
	return places ? tn_take(j->sorted, places, 0, TN_RAISE) : NULL;
}

tn_array *tn_setxor1d(const tn_array *a, const tn_array *b, int assume_unique)
{
	const tn_array *both[] = {a, b};
	struct joined j;
	struct tn_runtime *runtime = tn_begin(2, both, "setxor1d");
	if (!runtime || tn_scope_begin(runtime->context))
		return NULL;
	const int is_ready = !join(&j, "setxor1d", a, b, assume_unique, 0);
	return tn_scope_end(runtime->context, is_ready ? alone(&j) : NULL);
}
