/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The kernels of ARGMAX and ARGMIN: the largest or smallest value with its number.
 */
#ifndef TN_INTERPRET_EXTREME_H
#define TN_INTERPRET_EXTREME_H

#include <tenon/backend.h>

/* For each i: if value[i] beats best[i] (or `first`), best[i] := value[i] and at[i] := step. */
typedef void (*tn_extreme_step_fn)(void *best, int32_t *at, const void *value, int32_t step,
				   size_t n, int first);
/* The same for one best and n values with the numbers number, number + 1, ... */
typedef void (*tn_extreme_fold_fn)(void *best, int64_t *index, const void *value, int64_t number,
				   size_t n, int first, tn_fold_fn fold);
/* For each i: takes the other's best and its index, if it beats this one. */
typedef void (*tn_extreme_join_fn)(void *best, int64_t *index, const void *other,
				   const int64_t *other_index, size_t n);

struct tn_extreme {
	tn_extreme_step_fn step;
	tn_extreme_fold_fn fold;
	tn_extreme_join_fn join;
};

/* largest: 1 for ARGMAX, 0 for ARGMIN. */
const struct tn_extreme *tn_extreme_kernels(int column, int largest);

#endif
