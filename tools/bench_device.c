/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The peaks of a device that only its own operations can measure: products of square matrices and
 * copies, which grow until one takes long enough.
 */
#include "bench_parts.h"

#define LONG_ENOUGH 0.02
enum { ROUNDS = 3, LEAST_SIDE = 64, MOST_SIDE = 8192 };
enum { LEAST_COPY = 1 << 16, MOST_COPY = 1 << 28 }; /* elements */

static tn_array *product(const tn_array *a)
{
	return tn_matmul(a, a);
}

/* The best of a few runs in seconds; negative: an error, kept by the context. */
static double best_time(tn_context *context, const tn_array *a, tn_array *(*run)(const tn_array *))
{
	double best = -1;
	for (int i = 0; i <= ROUNDS; i++) {
		const double start = bench_seconds();
		tn_array *result = run(a);
		const int failed = !result || tn_synchronize(context);
		const double seconds = bench_seconds() - start;
		tn_array_destroy(result);
		if (failed)
			return -1;
		if (i && (best < 0 || seconds < best)) /* the first one warms up */
			best = seconds;
	}
	return best;
}

/* The best rate, in 1e9 a second, over growing arrays; negative: an error, kept. */
static double best_rate(tn_context *context, int is_product)
{
	double best = -1, seconds = 0;
	int64_t n = is_product ? LEAST_SIDE : LEAST_COPY;
	while (seconds < LONG_ENOUGH && n <= (is_product ? MOST_SIDE : MOST_COPY)) {
		const int64_t shape[] = {n, n};
		tn_array *a = tn_ones(context, TN_F32, is_product ? 2 : 1, shape);
		seconds = a ? best_time(context, a, is_product ? product : tn_copy) : -1;
		tn_array_destroy(a);
		if (seconds < 0)
			return -1;
		const double amount =
			is_product ? 2.0 * (double)n * (double)n * (double)n : 8.0 * (double)n;
		best = 1e-9 * amount / seconds > best ? 1e-9 * amount / seconds : best;
		n *= 2;
	}
	return best;
}

int bench_device_peaks(tn_context *context, struct bench_rates *rates)
{
	rates->gflops = best_rate(context, 1);
	rates->gbytes = rates->gflops < 0 ? -1 : best_rate(context, 0);
	return rates->gbytes > 0;
}
