/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Sorts rows, compares each with the one before, and derives the distinct rows, their positions
 * and counts.
 */
#include "numpy/distinct.h"

#include <tenon/statistics.h>

#include "array/make.h"
#include "base/dtype.h"
#include "numpy/nonzero.h"
#include "numpy/sorted_search.h"
#include "ops/copy.h"
#include "ops/formula.h"
#include "ops/index_formula.h"
#include "ops/sort.h"
#include "ops/take.h"

/* By equal_nan. */
static const struct tn_formula differ[] = {
	{.text = "z = x != y", .inputs = "x y"},
	{.text = "z = x != y && (x == x || y == y)", .inputs = "x y"},
};
static const struct tn_formula complex_differ[] = {
	{.text = "z = x_real != y_real || x_imag != y_imag",
	 .inputs = "x_real x_imag y_real y_imag"},
	{.text = "z = (x_real != y_real || x_imag != y_imag)"
		 " && ((x_real == x_real && x_imag == x_imag)"
		 " || (y_real == y_real && y_imag == y_imag))",
	 .inputs = "x_real x_imag y_real y_imag"},
};

tn_array *tn_distinct_differs(const char *operation, const tn_array *sorted, int equal_nan)
{
	const int64_t n = sorted ? sorted->shape[0] : 0;
	const tn_array *untracked = sorted ? tn_array_untracked(operation, sorted) : NULL;
	const tn_array *both[] = {tn_slice(untracked, 0, 1, n, 1),
				  tn_slice(untracked, 0, 0, n ? n - 1 : 0, 1)};
	const tn_array *parts[] = {both[0], both[1], NULL, NULL};
	const int is_complex = untracked && tn_is_complex(untracked->dtype);
	const int has_nan = equal_nan && untracked && tn_is_inexact(untracked->dtype);
	if (is_complex) {
		for (int i = 0; i < 2; i++) {
			parts[2 * i] = tn_real(both[i]);
			parts[2 * i + 1] = tn_imag(both[i]);
		}
	}
	tn_array *differs = tn_formula_operation(
		operation, is_complex ? &complex_differ[has_nan] : &differ[has_nan], TN_BOOL, parts,
		NULL);
	return differs && differs->rank > 1 ? tn_any(differs, 1, (const int[]){1}, 0) : differs;
}

/* ---- Sorting ---------------------------------------------------------------------------------*/

/* By the first element of each row, then by the second, ...: by the last one first. */
static tn_array *order_of(const char *operation, const tn_array *rows)
{
	static const struct tn_formula place = {.text = "z = index(0)"};
	tn_array *order = NULL;
	if (rows->rank == 1)
		return tn_order_by(operation, NULL, rows, 0, 0);
	for (int64_t i = rows->shape[1]; i > 0; i--) {
		order = tn_order_by(operation, order, tn_squeeze(tn_slice(rows, 1, i - 1, i, 1), 1),
				    0, 0);
		if (!order)
			return NULL;
	}
	return order ? order
		     : tn_index_formula_make(tn_array_home(rows), operation, TN_I64, 1, rows->shape,
					     &place, NULL);
}

static const tn_array *first_ones(const struct tn_distinct *d, int equal_nan)
{
	const int64_t one = d->sorted->shape[0] > 0;
	const tn_array *both[] = {tn_array_filled(d->sorted, TN_BOOL, 1, &one, 1),
				  tn_distinct_differs(d->operation, d->sorted, equal_nan)};
	return both[0] && both[1] ? tn_concatenate(2, both, 0) : NULL;
}

tn_status tn_distinct_sort(struct tn_distinct *d, const char *operation, const tn_array *rows,
			   int equal_nan, int needs_order)
{
	*d = (struct tn_distinct){.operation = operation};
	if (!rows)
		return TN_PENDING_ERROR;
	if (needs_order || rows->rank > 1 || tn_is_complex(rows->dtype)) {
		d->order = order_of(operation, rows);
		d->sorted = d->order ? tn_take(rows, d->order, 0, TN_RAISE) : NULL;
	} else {
		d->sorted = tn_sort(rows, 0, 0);
	}
	d->is_first = d->sorted ? first_ones(d, equal_nan) : NULL;
	return d->is_first ? TN_OK : TN_PENDING_ERROR;
}

tn_status tn_distinct_find(struct tn_distinct *d)
{
	d->starts = tn_true_numbers(d->operation, d->is_first, -1);
	return d->starts ? TN_OK : TN_PENDING_ERROR;
}

/* ---- Results ---------------------------------------------------------------------------------*/

tn_array *tn_distinct_rows(const struct tn_distinct *d)
{
	return tn_take(d->sorted, d->starts, 0, TN_RAISE);
}

tn_array *tn_distinct_index(const struct tn_distinct *d)
{
	return tn_elements_at(d->order, d->starts);
}

tn_array *tn_distinct_counts(const struct tn_distinct *d)
{
	const int64_t one = 1;
	const tn_array *both[] = {d->starts, tn_array_filled(d->starts, TN_I64, 1, &one,
							     (double)d->sorted->shape[0])};
	return both[1] ? tn_diff(tn_concatenate(2, both, 0), 1, 0) : NULL;
}

tn_array *tn_distinct_inverse(const struct tn_distinct *d)
{
	static const struct tn_formula number = {.text = "z = count - 1", .inputs = "count"};
	const tn_array *so_far = tn_cumsum(d->is_first, 0);
	const tn_array *numbers =
		tn_formula_operation(d->operation, &number, TN_I64, &so_far, NULL);
	tn_array *inverse = tn_array_filled(d->order, TN_I64, 1, d->order->shape, 0);
	return numbers && inverse && !tn_scatter_add(inverse, d->order, 0, numbers) ? inverse
										    : NULL;
}
