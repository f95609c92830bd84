/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The terms of an index, brought to one form: a view of the array, some axes of which, next to each
 * other, are indexed by one array of numbers.
 */
#ifndef TN_NUMPY_INDEX_TERMS_H
#define TN_NUMPY_INDEX_TERMS_H

#include <tenon/index.h>

#include "array/array.h"

struct tn_index_selection {
	/* Without index arrays a[terms] itself.  Else the slices of a, with the indexed axes as
	 * neighbours. */
	tn_array *view;
	/* NULL, or an element number within the indexed axes for each choice, i32 or i64, in a
	 * line.  One out of range has been reported, and is out of range here too. */
	tn_array *numbers;
	int is_unique; /* no number is there twice */
	int first;     /* the first indexed axis of the view, and where the choices are listed */
	int n_indexed; /* axes */
	int rank;      /* of a[terms] */
	int64_t shape[TN_MAX_RANK];
};

/* Checks that the terms, and their arrays, are usable beside `a`: n in range, no second ellipsis,
 * arrays of integers or bool that are there and on a's device.  Errors are kept. */
tn_status tn_terms_check(const char *operation, const tn_array *a, int n,
			 const struct tn_index_term *terms);
/* Applies checked terms to a, for tn_index, or with is_put for tn_index_put, whose numbers are 0 or
 * more.  Arrays are made in the innermost scope, views of `a` recorded; errors are kept. */
tn_status tn_terms_apply(int is_put, const tn_array *a, int n, const struct tn_index_term *terms,
			 struct tn_index_selection *chosen);
/* The view with the indexed axes as one: a view if strides allow it, else a copy; recorded.  NULL
 * with the error kept. */
tn_array *tn_index_selection_base(const struct tn_index_selection *chosen);

#endif
