/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Largest and smallest values with their numbers, for one column and one direction.  The including
 * file defines T, IS_NAN(x), BEATS(x, y) (x > y or x < y) and NAME(x).  A value replaces the best
 * one when it beats it, or when it is the first NaN; numbers are visited in ascending order, so the
 * lowest number of equal values is kept.
 */

#include "interpret/move.h"
static inline int NAME(replaces)(T x, T best)
{
	return (BEATS(x, best) | IS_NAN(x)) & !IS_NAN(best);
}

static void NAME(step)(void *best, int32_t *at, const void *value, int32_t step, size_t n,
		       int first)
{
	T *top = best;
	const T *x = value;
	if (first) {
		memcpy(best, value, n * sizeof(T));
		tn_move_fill(at, &step, sizeof(step), n);
		return;
	}
	TN_BLOCK_LOOP
	for (size_t i = 0; i < n; i++) {
		int won = NAME(replaces)(x[i], top[i]);
		top[i] = won ? x[i] : top[i];
		at[i] = won ? step : at[i];
	}
}

/* The first position of a value that x contains, or of a NaN for a NaN. */
static inline size_t NAME(place)(const T *x, size_t n, T found)
{
	size_t i = 0;
	for (; !IS_NAN(found) && i + 16 <= n; i += 16) {
		int hits = 0;
		for (size_t j = 0; j < 16; j++)
			hits |= x[i + j] == found;
		if (hits)
			break;
	}
	while (i + 1 < n && !(IS_NAN(found) ? IS_NAN(x[i]) : x[i] == found))
		i++;
	return i;
}

/* The fold finds the block's best value quickly; its position is searched only if that value
 * replaces the best so far. */
static void NAME(fold)(void *best, int64_t *index, const void *value, int64_t number, size_t n,
		       int first, tn_fold_fn fold)
{
	T *top = best;
	const T *x = value;
	T found = x[0];
	if (fold)
		fold(&found, x, n);
	for (size_t i = 1; !fold && i < n; i++)
		found = BEATS(x[i], found) ? x[i] : found;
	if (!first && !NAME(replaces)(found, *top))
		return;
	size_t i = NAME(place)(x, n, found);
	*top = x[i];
	*index = number + (int64_t)i;
}

static void NAME(join)(void *best, int64_t *index, const void *other, const int64_t *other_index,
		       size_t n)
{
	T *top = best;
	const T *x = other;
	for (size_t i = 0; i < n; i++) {
		if (!NAME(replaces)(x[i], top[i]))
			continue;
		top[i] = x[i];
		index[i] = other_index[i];
	}
}

#undef BEATS
#undef NAME
