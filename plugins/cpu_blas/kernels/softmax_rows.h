/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Shared by softmax and cross-entropy: operations on a contiguous row, with PARTS independent
 * registers so that additions do not wait for each other.
 */
#ifndef CPU_SOFTMAX_ROWS_H
#define CPU_SOFTMAX_ROWS_H

#include "vector_math.h"

#define PARTS 4

/* The maximum of a row; NaN is ignored. */
static inline float row_largest(const float *x, int64_t n)
{
	vf lowest = vf_set(-__builtin_inff()), most[PARTS] = {lowest, lowest, lowest, lowest};
	int64_t i = 0;
	for (; i + PARTS * LANES <= n; i += PARTS * LANES) {
#pragma GCC unroll 4
		for (int p = 0; p < PARTS; p++)
			most[p] = vf_max(vf_load(x + i + p * LANES), most[p]);
	}
	for (; i + LANES <= n; i += LANES)
		most[0] = vf_max(vf_load(x + i), most[0]);
	if (i < n)
		most[1] = vf_max(vf_first(vf_load_first(x + i, n - i), lowest, n - i), most[1]);
	return vf_largest(vf_max(vf_max(most[0], most[1]), vf_max(most[2], most[3])));
}

/* The sum of e^(x - about); the terms are stored in `out` unless it is NULL. */
static inline float row_exp(const float *x, int64_t n, float about, float *out)
{
	vf sum[PARTS] = {{0}};
	int64_t i = 0;
	for (; i + PARTS * LANES <= n; i += PARTS * LANES) {
#pragma GCC unroll 4
		for (int p = 0; p < PARTS; p++) {
			vf e = vf_exp(vf_load(x + i + p * LANES) - about);
			sum[p] += e;
			if (out)
				vf_store(out + i + p * LANES, e);
		}
	}
	for (; i < n; i += LANES) {
		vf e = vf_exp(vf_load_some(x + i, n - i) - about);
		sum[0] += n - i < LANES ? vf_first(e, (vf){0}, n - i) : e;
		if (out)
			vf_store_some(out + i, e, n - i);
	}
	return vf_total((sum[0] + sum[1]) + (sum[2] + sum[3]));
}

#endif
