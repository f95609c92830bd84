/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Reduces and scans with any function of two arrays, pairwise or in order, one call for many
 * elements.
 */
#include "ops/combine.h"

#include <inttypes.h>
#include <tenon/manipulate.h>

#include "base/memory.h"
#include "ops/axes.h"

tn_array *tn_combine_all(tn_array *a, tn_combiner combine, const void *user)
{
	const int axis = tn_array_rank(a) - 1;
	for (int64_t n = a ? a->shape[axis] : 0; a && n > 1; n -= n / 2) {
		tn_array *low = tn_slice(a, axis, 0, n / 2, 1);
		tn_array *high = tn_slice(a, axis, n - n / 2, n, 1);
		tn_array *both = combine(user, low, high);
		if (n % 2) {
			const tn_array *parts[] = {both, tn_slice(a, axis, n / 2, n / 2 + 1, 1)};
			both = tn_concatenate(2, parts, axis);
		}
		a = both;
	}
	return a;
}

/* ---- Scans -----------------------------------------------------------------------------------
 * Of arrays of three axes, along the second. */

static tn_array *elements(const tn_array *a, int64_t start, int64_t stop, int64_t step)
{
	return tn_slice(a, 1, start, stop, step);
}

static tn_array *join(tn_array *first, tn_array *second)
{
	const tn_array *parts[] = {first, second};
	return first && second ? tn_concatenate(2, parts, 1) : NULL;
}

/* even[0], odd[0], even[1], odd[1], ...: as many of both, or one more of the first. */
static tn_array *interleave(tn_array *even, tn_array *odd)
{
	if (!even || !odd)
		return NULL;
	const int64_t n = odd->shape[1], shape[] = {odd->shape[0], 2 * n, odd->shape[2]};
	const tn_array *pairs[] = {elements(even, 0, n, 1), odd};
	tn_array *both = tn_reshape(tn_stack(2, pairs, 2), 3, shape);
	return even->shape[1] == n ? both : join(both, elements(even, n, n + 1, 1));
}

/* The scan of the pairs gives every second element, and one call more those between. */
static tn_array *scan_pairs(tn_array *a, tn_combiner combine, const void *user)
{
	const int64_t n = a ? a->shape[1] : 0, half = n / 2;
	if (n < 2)
		return a;
	tn_array *pairs = combine(user, elements(a, 0, 2 * half, 2), elements(a, 1, 2 * half, 2));
	tn_array *odd = scan_pairs(pairs, combine, user), *even = elements(a, 0, 1, 1);
	if (n > 2)
		even = join(even,
			    combine(user, elements(odd, 0, (n - 1) / 2, 1), elements(a, 2, n, 2)));
	return interleave(even, odd);
}

/* All n arrays in a row, by as many at a time as a node has inputs.  Overwrites the list. */
static tn_array *join_all(const tn_array **all, int64_t n)
{
	while (n > 1) {
		int64_t joined = 0;
		for (int64_t i = 0; i < n; i += TN_PROGRAM_MAX_INPUTS) {
			const int64_t left = n - i;
			const int count =
				left < TN_PROGRAM_MAX_INPUTS ? (int)left : TN_PROGRAM_MAX_INPUTS;
			all[joined] = tn_concatenate(count, all + i, 1);
			if (!all[joined++])
				return NULL;
		}
		n = joined;
	}
	return tn_array_const_cast(all[0]);
}

static tn_array *scan_in_order(tn_array *a, tn_combiner combine, const void *user)
{
	const int64_t n = a->shape[1];
	const tn_array **all = tn_mem_zeroed((size_t)n, sizeof(const tn_array *));
	if (!all) {
		tn_runtime_fail(a->runtime, TN_OUT_OF_MEMORY, "accumulate",
				"no host memory for %" PRId64 " arrays", n);
		return NULL;
	}
	tn_array *last = elements(a, 0, 1, 1);
	all[0] = last;
	for (int64_t i = 1; last && i < n; i++) {
		tn_array *next = elements(a, i, i + 1, 1);
		last = combine(user, last, next);
		all[i] = last;
		tn_array_discard(next);
	}
	tn_array *out = last ? join_all(all, n) : NULL;
	tn_mem_free((void *)all);
	return out;
}

typedef tn_array *(*line_scan)(tn_array *a, tn_combiner combine, const void *user);

static tn_array *scan_axis(tn_array *a, int axis, line_scan scan, tn_combiner combine,
			   const void *user)
{
	if (!a || !a->size)
		return a;
	const int64_t shape[] = {tn_axes_size(a, 0, axis), a->shape[axis],
				 tn_axes_size(a, axis + 1, a->rank)};
	tn_array *line = tn_reshape(a, 3, shape);
	return tn_reshape(scan(line, combine, user), a->rank, a->shape);
}

tn_array *tn_combine_scan(tn_array *a, int axis, tn_combiner combine, const void *user)
{
	return scan_axis(a, axis, scan_pairs, combine, user);
}

tn_array *tn_combine_scan_in_order(tn_array *a, int axis, tn_combiner combine, const void *user)
{
	return scan_axis(a, axis, scan_in_order, combine, user);
}
