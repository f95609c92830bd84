/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Finds the interval of each element by a search, or by computation where edges lie at equal
 * distances, and adds up counts or weights by interval.
 */
#include "numpy/bins.h"

#include <inttypes.h>

#include "array/make.h"
#include "array/result_type.h"
#include "base/bits.h"
#include "base/dtype.h"
#include "numpy/sorted_search.h"
#include "ops/copy.h"
#include "ops/formula.h"
#include "ops/host_access.h"
#include "ops/index_check.h"
#include "ops/index_formula.h"
#include "ops/take.h"
#include "program/cast.h"

/* Two edges that are equal, where the bins are narrower than the numbers are apart, have the place
 * n; the others 0. */
static tn_status check_edges(const char *operation, int64_t n, const tn_array *edges)
{
	static const struct tn_formula place = {.text = "z = lower >= upper ? n : 0",
						.inputs = "lower upper",
						.scalars = "n",
						.scalar_dtype = TN_I64};
	static const struct tn_check check = {
		"histogram", "n_bins", "two edges are equal there, as a's dtype rounds them, with"};
	const struct tn_index_range range = {.operation = TN_DO_TAKE, .check = &check, .limit = n};
	const tn_array *both[] = {tn_slice(edges, 0, 0, n, 1), tn_slice(edges, 0, 1, n + 1, 1)};
	const double count = (double)n;
	if (!both[0] || !both[1])
		return TN_PENDING_ERROR;
	struct tn_runtime *runtime = edges->runtime;
	const tn_array *places = tn_formula_operation(operation, &place, TN_I64, both, &count);
	if (!places)
		return TN_PENDING_ERROR;
	return tn_end_into(runtime, tn_indices_in_range(runtime, &range, places));
}

#define EDGE                                                                                       \
	"margin = low == high ? 0.5 : 0\n"                                                         \
	"first = low - margin; last = high + margin; i = index(0)\n"                               \
	"z = i == n ? last : first + mul_rounded(i, (last - first) / n)"

/* Between numbers that the host knows: computed in f64. */
static tn_array *edges_in(const char *operation, const tn_array *a, tn_dtype dtype, int64_t n,
			  const double *range)
{
	static const struct tn_formula edge = {
		.text = EDGE, .scalars = "low high n", .scalar_dtype = TN_F64};
	const double scalars[] = {range[0], range[1], (double)n};
	const int64_t length = n + 1;
	return tn_index_formula_make(tn_array_home(a), operation, dtype, 1, &length, &edge,
				     scalars);
}

static double rounded(tn_dtype dtype, double edge)
{
	return tn_f64_of_bits(
		tn_cast_bits(dtype, TN_F64, tn_cast_bits(TN_F64, dtype, tn_bits_of_f64(edge))));
}

/* The same numbers on the host: nothing has to wait for the edges, or to be checked again where
 * captured work is repeated. */
static tn_status check_edges_in(const char *operation, const tn_array *edges, int64_t n,
				const double *range)
{
	const double margin = range[0] == range[1] ? 0.5 : 0;
	const double first = range[0] - margin, last = range[1] + margin;
	const double width = (last - first) / (double)n;
	double before = rounded(edges->dtype, first);
	for (int64_t i = 1; i <= n; i++) {
		const double edge = i == n ? last : first + (double)i * width;
		if (before >= rounded(edges->dtype, edge))
			return tn_runtime_fail(edges->runtime, TN_INVALID_ARGUMENT, operation,
					       "n_bins: %" PRId64
					       " bins between %g and %g have equal edges in %s",
					       n, first, last, tn_dtype_name(edges->dtype));
		before = rounded(edges->dtype, edge);
	}
	return TN_OK;
}

/* Between the extremes, in their dtype. */
static tn_array *edges_of(const char *operation, const tn_array *a, tn_dtype dtype, int64_t n)
{
	static const struct tn_formula edge = {
		.text = EDGE, .inputs = "low high", .scalars = "n", .scalar_dtype = TN_I64};
	const int64_t length = n + 1;
	const double count = (double)n;
	const tn_array *low = tn_astype(tn_min(a, TN_ALL_AXES, NULL, 0), dtype);
	const tn_array *high = tn_astype(tn_max(a, TN_ALL_AXES, NULL, 0), dtype);
	const tn_array *ends[] = {tn_broadcast_to(low, 1, &length), high};
	return tn_formula_operation(operation, &edge, dtype, ends, &count);
}

tn_array *tn_bins_edges(const char *operation, const tn_array *a, int64_t n, const double *range)
{
	static const double unit[] = {0, 1};
	if (!a)
		return NULL;
	const tn_dtype dtype = tn_is_floating(a->dtype) ? a->dtype : TN_F64;
	if (!range && !a->size)
		range = unit;
	tn_array *edges =
		range ? edges_in(operation, a, dtype, n, range) : edges_of(operation, a, dtype, n);
	if (!edges)
		return NULL;
	tn_status status = range ? check_edges_in(operation, edges, n, range)
				 : check_edges(operation, n, edges);
	return status ? NULL : edges;
}

/* ---- Places ----------------------------------------------------------------------------------*/

/* Searched. */
static tn_array *places_between(const struct tn_bins *h, const tn_array *a, const tn_array *edges)
{
	/* n_below edges are not above the value. */
	static const struct tn_formula place = {
		.text = "z = value == last ? n - 1 : n_below < 1 || n_below > n ? n : n_below - 1",
		.inputs = "n_below value last",
		.scalars = "n",
		.scalar_dtype = TN_I64};
	const tn_array *inputs[] = {tn_sorted_search(h->operation, edges, a, 1), a,
				    tn_slice(edges, 0, h->n, h->n + 1, 1)};
	const double n = (double)h->n;
	return tn_formula_operation(h->operation, &place, TN_I64, inputs, &n);
}

/* For edges at equal distances: computed, and corrected by the edges beside, which
 * rounding may have on the other side. */
static tn_array *places_computed(const struct tn_bins *h, const tn_array *a, const tn_array *edges)
{
	/* In range whatever rounds or overflows: nothing checks the places that are read. */
	static const struct tn_formula guess = {
		.text = "i = i64(value >= first && value <= last && first < last "
			"? (value - first) / (last - first) * n : 0)\n"
			"z = i < 0 ? 0 : i < n ? i : n - 1",
		.inputs = "value first last",
		.scalars = "n",
		.scalar_dtype = TN_I64};
	static const struct tn_formula next = {.text = "z = place + 1", .inputs = "place"};
	/* By the edges left and right of the guess. */
	static const struct tn_formula corrected = {
		.text = "i = value < left ? guess - 1"
			" : value >= right && guess < n - 1 ? guess + 1 : guess\n"
			"z = value >= first && value <= last ? i : n",
		.inputs = "guess value left right first last",
		.scalars = "n",
		.scalar_dtype = TN_I64};
	const double n = (double)h->n;
	const tn_array *first = tn_slice(edges, 0, 0, 1, 1);
	const tn_array *last = tn_slice(edges, 0, h->n, h->n + 1, 1);
	const tn_array *guesses[] = {a, first, last};
	const tn_array *at = tn_formula_operation(h->operation, &guess, TN_I64, guesses, &n);
	const tn_array *after = tn_formula_operation(h->operation, &next, TN_I64, &at, NULL);
	const tn_array *inputs[] = {
		at, a, tn_elements_at(edges, at), tn_elements_at(edges, after), first, last};
	return tn_formula_operation(h->operation, &corrected, TN_I64, inputs, &n);
}

/* The most intervals for which the computed place is at most one away from the right one. */
static int64_t most_computed(tn_dtype dtype)
{
	switch (dtype) {
	case TN_BF16:
		return 1 << 5;
	case TN_F16:
		return 1 << 8;
	case TN_F32:
		return 1 << 21;
	default:
		return INT64_C(1) << 50;
	}
}

tn_array *tn_bins_find(const struct tn_bins *bins, const tn_array *a)
{
	if (!a || !bins->edges)
		return NULL;
	const tn_dtype dtype = tn_result_type(a->dtype, bins->edges->dtype);
	const tn_array *values = tn_astype(a, dtype), *edges = tn_astype(bins->edges, dtype);
	if (!values || !edges)
		return NULL;
	return bins->is_uniform && bins->n <= most_computed(dtype)
		       ? places_computed(bins, values, edges)
		       : places_between(bins, values, edges);
}

/* ---- Sums ------------------------------------------------------------------------------------*/

tn_array *tn_bins_sums(const tn_array *places, const tn_array *weights, int64_t length)
{
	if (!places)
		return NULL;
	if (!weights)
		weights = tn_array_filled(places, TN_I64, 1, &places->size, 1);
	return tn_scattered(tn_scatter_add, 1, &length, places, 0, weights);
}

/* Counted by the host: f64 elements, edges and sums, in which those of smaller dtypes are exact. */
struct tally {
	int64_t n;
	const double *edges;
	int64_t *counts;
	double *sums; /* NULL: numbers */
};

static void tally(const struct tally *t, int64_t n, const double *values, const double *weights)
{
	const double first = t->edges[0], last = t->edges[t->n];
	const double scale = (double)t->n / (last - first);
	for (int64_t i = 0; i < n; i++) {
		const double x = values[i];
		if (!(x >= first && x <= last))
			continue;
		const double guess = (x - first) * scale;
		int64_t at = guess < (double)t->n ? (int64_t)guess : t->n - 1;
		/* Rounding may have it on the other side of an edge, an infinite scale of many. */
		while (at > 0 && x < t->edges[at])
			at--;
		while (at < t->n - 1 && x >= t->edges[at + 1])
			at++;
		if (t->sums)
			t->sums[at] += weights[i];
		else
			t->counts[at]++;
	}
}

/* f32 in blocks that stay in the cache. */
static void tally_f32(const struct tally *t, int64_t n, const float *values, const double *weights)
{
	enum { BLOCK = 1024 };
	double block[BLOCK];
	for (int64_t begin = 0; begin < n; begin += BLOCK) {
		const int64_t count = n - begin < BLOCK ? n - begin : BLOCK;
		for (int64_t i = 0; i < count; i++)
			block[i] = values[begin + i];
		tally(t, count, block, weights ? weights + begin : NULL);
	}
}

static tn_array *counts_on_host(const struct tn_bins *bins, const tn_array *a,
				const tn_array *weights)
{
	const int is_direct = a->dtype == TN_F64 || a->dtype == TN_F32;
	const tn_array *values = tn_contiguous(is_direct ? a : tn_astype(a, TN_F64));
	const tn_array *edges = tn_contiguous(tn_astype(bins->edges, TN_F64));
	const tn_array *w = weights ? tn_contiguous(weights) : NULL;
	tn_array *out = tn_array_filled(a, weights ? TN_F64 : TN_I64, 1, &bins->n, 0);
	if (!values || !edges || !out || (weights && !w))
		return NULL;
	void *sums = tn_host_address(out);
	const double *each = w && w->size ? tn_host_address(w) : NULL;
	const struct tally t = {.n = bins->n,
				.edges = tn_host_address(edges),
				.counts = w ? NULL : sums,
				.sums = w ? sums : NULL};
	if (values->size && values->dtype == TN_F32)
		tally_f32(&t, values->size, tn_host_address(values), each);
	else if (values->size)
		tally(&t, values->size, tn_host_address(values), each);
	return out;
}

tn_array *tn_bins_counts(const struct tn_bins *bins, const tn_array *a, const tn_array *weights)
{
	if (!a || !bins->edges)
		return NULL;
	if (bins->is_uniform && tn_host_may_compute(a) && tn_host_may_compute(bins->edges))
		return counts_on_host(bins, a, weights);
	const tn_array *places = tn_bins_find(bins, a);
	return tn_slice(tn_bins_sums(places, weights, bins->n + 1), 0, 0, bins->n, 1);
}
