/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The gradient of an average over whole windows that do not overlap, channels last: each cell has
 * at most one window over it, so a row of dx is written from left to right without a search.
 */
#include <string.h>

#include "pool.h"
#include "variant.h"
#include "vector.h"

#define INLINE static inline __attribute__((always_inline))

INLINE void give(float *dx, const float *dy, float part, int accumulate, int64_t n)
{
	vf sum = (n == LANES ? vf_load(dy) : vf_load_first(dy, n)) * part;
	if (accumulate)
		sum += n == LANES ? vf_load(dx) : vf_load_first(dx, n);
	if (n == LANES)
		vf_store(dx, sum);
	else
		vf_store_first(dx, sum, n);
}

/* The gradient of all cells of a window in this row: dy times the part. */
INLINE void give_cells(const struct cpu_pool *pool, float *dx, const float *dy, float part,
		       int accumulate)
{
	int64_t c = pool->c, whole = c / LANES * LANES;
	for (int64_t s = 0; s < pool->kernel[1]; s++, dx += pool->x_stride[3]) {
		for (int64_t k = 0; k < whole; k += LANES)
			give(dx + k, dy + k, part, accumulate, LANES);
		if (whole < c)
			give(dx + whole, dy + whole, part, accumulate, c - whole);
	}
}

INLINE void clear(const struct cpu_pool *pool, float *dx, int64_t begin, int64_t end)
{
	for (int64_t w = begin; w < end; w++)
		memset(dx + w * pool->x_stride[3], 0, (size_t)pool->c * sizeof(float));
}

/* Row h; cells between and after windows get 0. */
INLINE void row(const struct cpu_pool *pool, int64_t n, int64_t h, float part, int accumulate)
{
	int64_t p = h / pool->stride[0], step = pool->stride[1];
	int64_t held = p < pool->p && h - p * pool->stride[0] < pool->kernel[0] ? pool->q : 0;
	float *dx = pool->x + n * pool->x_stride[0] + h * pool->x_stride[2];
	const float *dy = pool->y + n * pool->y_stride[0] + p * pool->y_stride[2];
	for (int64_t q = 0; q < held; q++) {
		give_cells(pool, dx + q * step * pool->x_stride[3], dy + q * pool->y_stride[3],
			   part, accumulate);
		if (!accumulate && pool->kernel[1] < step && q + 1 < held)
			clear(pool, dx, q * step + pool->kernel[1], (q + 1) * step);
	}
	if (!accumulate)
		clear(pool, dx, held ? (held - 1) * step + pool->kernel[1] : 0, pool->w);
}

/* A local copy of `shared`, as in pool.c. */
void VARIANT(cpu_average_pool_apart_backward)(const struct cpu_pool *shared, int64_t begin,
					      int64_t end)
{
	const struct cpu_pool own = *shared, *pool = &own;
	float part = 1.0f / ((float)pool->kernel[0] * (float)pool->kernel[1]);
	int64_t n = begin / pool->h, h = begin % pool->h;
	for (int64_t unit = begin; unit < end; unit++) {
		if (pool->accumulate)
			row(pool, n, h, part, 1);
		else
			row(pool, n, h, part, 0);
		if (++h == pool->h) {
			h = 0;
			n++;
		}
	}
}
