/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Pooling, forward.
 *
 * A vector holds LANES neighbouring outputs: channels of one pixel if channels are contiguous in
 * memory (NHWC), else columns of one plane, for windows that lie inside it.  A row of y is computed
 * from left to right; the windows at its edges are cut to the plane one by one.
 *
 * Few channels do not fill a vector.  If rows have no gaps, whole vectors are written nevertheless:
 * surplus lanes spill into the next pixels, which are written later.
 *
 * pool_pairs.c has max pooling of adjacent windows.
 */
#include "pool.h"
#include "variant.h"
#include "vector.h"

#define INLINE static inline __attribute__((always_inline))

/* A row of y, and the rows of x under it. */
struct band {
	const struct cpu_pool *pool;
	const float *x; /* its first row inside the plane, column 0 */
	float *y;
	int32_t *index;
	int32_t place; /* the index of the element at x in its plane */
	int64_t rows;
	int64_t room; /* pixels that hold a vector */
	float parts;  /* 1 / kernel elements */
};

/* Outputs q..end-1, whose windows have `columns` columns inside the plane, `skip` before it. */
struct run {
	int64_t q, end;
	int64_t skip, columns;
};

/* The lanes of a vector of outputs: n of them, `step` apart in x, `y_step` in y. */
struct lanes {
	int64_t n, step;
	int64_t y_step, index_step;
};

INLINE vf load(const float *x, struct lanes lanes)
{
	vf v = {0};
	if (lanes.step == 1)
		return lanes.n == LANES ? vf_load(x) : vf_load_first(x, lanes.n);
	if (lanes.step == 2 && lanes.n == LANES)
		return vf_load_alternate(x);
	for (int64_t i = 0; i < lanes.n; i++)
		v[i] = x[i * lanes.step];
	return v;
}

INLINE void store(float *y, int64_t step, vf v, int64_t n)
{
	if (step == 1 && n == LANES) {
		vf_store(y, v);
	} else if (step == 1) {
		vf_store_first(y, v, n);
	} else {
		for (int64_t i = 0; i < n; i++)
			y[i * step] = v[i];
	}
}

/* ---- Windows: one vector of outputs ----------------------------------------------------------*/

/* The maximum of each lane's window and its index: the first of equals, and the first NaN before
 * all. */
INLINE void largest(const struct band *band, const float *x, struct lanes lanes, vi place,
		    int64_t rows, int64_t columns, float *y, int32_t *index)
{
	const int64_t *stride = band->pool->x_stride;
	vf best = load(x, lanes);
	vi best_place = place;
	for (int64_t r = 0; r < rows; r++) {
		for (int64_t s = r == 0; s < columns; s++) {
			vf here = load(x + r * stride[2] + s * stride[3], lanes);
			vm wins = vm_and(vf_not_at_most(here, best), vf_equal(best, best));
			best = vf_pick(wins, here, best);
			best_place = vi_pick(wins, place + vi_set((int32_t)(r * band->pool->w + s)),
					     best_place);
		}
	}
	store(y, lanes.y_step, best, lanes.n);
	if (index)
		store((float *)index, lanes.index_step, (vf)best_place, lanes.n);
}

/* The sum of `many` vectors of windows, row by row, times `part`. */
INLINE void mean(const struct band *band, const float *x, struct lanes lanes, int many,
		 int64_t rows, int64_t columns, float part, float *y)
{
	const int64_t *stride = band->pool->x_stride;
	vf total[4] = {{0}};
	for (int64_t r = 0; r < rows; r++) {
		vf sum[4] = {{0}};
		for (int64_t s = 0; s < columns; s++)
			for (int i = 0; i < many; i++)
				sum[i] +=
					load(x + r * stride[2] + s * stride[3] + i * LANES, lanes);
		for (int i = 0; i < many; i++)
			total[i] += sum[i];
	}
	for (int i = 0; i < many; i++)
		store(y + i * LANES, lanes.y_step, total[i] * part, lanes.n);
}

/* ---- Runs of windows of one size -------------------------------------------------------------*/

enum kind { MAX, AVERAGE };

/* All channels of the window whose first cell inside the plane is at column w. */
INLINE void pixel(const struct band *band, enum kind kind, int64_t q, int64_t w, int64_t rows,
		  int64_t columns, float part)
{
	const struct cpu_pool *pool = band->pool;
	const float *x = band->x + w * pool->x_stride[3];
	float *y = band->y + q * pool->y_stride[3];
	int32_t *index = band->index ? band->index + q * pool->index_stride[3] : NULL;
	vi place = vi_set(band->place + (int32_t)w);
	struct lanes lanes = {.n = LANES, .step = 1, .y_step = 1, .index_step = 1};
	int64_t c = 0, last = pool->c - LANES;
	if (last < 0 && (q + band->room > pool->q || w + columns - 1 + band->room > pool->w))
		lanes.n = pool->c;
	for (; kind == AVERAGE && c + 4 * LANES <= pool->c; c += 4 * LANES)
		mean(band, x + c, lanes, 4, rows, columns, part, y + c);
	for (; c < pool->c; c += LANES) {
		int64_t at = c <= last || last < 0 ? c : last; /* the last ones twice */
		if (kind == AVERAGE)
			mean(band, x + at, lanes, 1, rows, columns, part, y + at);
		else
			largest(band, x + at, lanes, place, rows, columns, y + at,
				index ? index + at : NULL);
	}
}

/* Columns q.. of one channel, whose first window begins at column w. */
INLINE void columns_of(const struct band *band, enum kind kind, struct run run, int64_t channel,
		       int64_t rows, int64_t columns, float part)
{
	const struct cpu_pool *pool = band->pool;
	struct lanes lanes = {.step = pool->stride[1] * pool->x_stride[3],
			      .y_step = pool->y_stride[3],
			      .index_step = pool->index_stride[3]};
	for (int64_t q = run.q; q < run.end; q += LANES) {
		int64_t w = q * pool->stride[1] - pool->padding[1] + run.skip;
		const float *x = band->x + channel * pool->x_stride[1] + w * pool->x_stride[3];
		float *y = band->y + channel * pool->y_stride[1] + q * pool->y_stride[3];
		lanes.n = run.end - q < LANES ? run.end - q : LANES;
		if (kind == AVERAGE) {
			mean(band, x, lanes, 1, rows, columns, part, y);
			continue;
		}
		int32_t *index = band->index;
		if (index)
			index += channel * pool->index_stride[1] + q * pool->index_stride[3];
		vi place = vi_set(band->place + (int32_t)w) + vi_ramp() * (int32_t)pool->stride[1];
		largest(band, x, lanes, place, rows, columns, y, index);
	}
}

INLINE void windows(const struct band *band, enum kind kind, struct run run, int64_t rows,
		    int64_t columns)
{
	const struct cpu_pool *pool = band->pool;
	float part = pool->count_padding ? band->parts : 1.0f / (float)(rows * columns);
	if (!pool->by_channel) {
		for (int64_t c = 0; c < pool->c; c++)
			columns_of(band, kind, run, c, rows, columns, part);
		return;
	}
	for (int64_t q = run.q; q < run.end; q++) {
		int64_t w = q * pool->stride[1] - pool->padding[1] + run.skip;
		pixel(band, kind, q, w, rows, columns, part);
	}
}

/* The usual sizes are compiled separately. */
INLINE void any_windows(const struct band *band, enum kind kind, struct run run)
{
	if (band->rows == 2 && run.columns == 2)
		windows(band, kind, run, 2, 2);
	else if (band->rows == 3 && run.columns == 3)
		windows(band, kind, run, 3, 3);
	else
		windows(band, kind, run, band->rows, run.columns);
}

/* ---- Rows ------------------------------------------------------------------------------------*/

struct span {
	int64_t begin, end;
};

/* The part of a window at `start` that is inside an axis. */
INLINE struct span clip(int64_t start, int64_t kernel, int64_t length)
{
	return (struct span){start > 0 ? start : 0,
			     start + kernel < length ? start + kernel : length};
}

/* Outputs begin..end-1 along W have whole windows. */
INLINE struct span whole(const struct cpu_pool *pool)
{
	int64_t left = pool->padding[1], stride = pool->stride[1];
	int64_t room = pool->w + left - pool->kernel[1];
	struct span span = {(left + stride - 1) / stride, room < 0 ? 0 : room / stride + 1};
	if (span.end > pool->q)
		span.end = pool->q;
	if (span.begin > span.end)
		span.begin = span.end;
	return span;
}

INLINE void edge(const struct band *band, enum kind kind, int64_t q)
{
	const struct cpu_pool *pool = band->pool;
	int64_t start = q * pool->stride[1] - pool->padding[1];
	struct span span = clip(start, pool->kernel[1], pool->w);
	struct run run = {q, q + 1, span.begin - start, span.end - span.begin};
	windows(band, kind, run, band->rows, run.columns);
}

/* The number of pixels that hold a vector; more than there are if rows have gaps. */
INLINE int64_t room(const struct cpu_pool *pool)
{
	int64_t c = pool->c;
	if (pool->x_stride[3] != c || pool->y_stride[3] != c ||
	    (pool->index && pool->index_stride[3] != c))
		return INT64_MAX / 4;
	return (LANES + c - 1) / c;
}

INLINE struct band band_of(const struct cpu_pool *pool, int64_t n, int64_t p)
{
	struct span rows = clip(p * pool->stride[0] - pool->padding[0], pool->kernel[0], pool->h);
	struct band band = {.pool = pool,
			    .x = pool->x + n * pool->x_stride[0] + rows.begin * pool->x_stride[2],
			    .y = pool->y + n * pool->y_stride[0] + p * pool->y_stride[2],
			    .place = (int32_t)(rows.begin * pool->w),
			    .rows = rows.end - rows.begin,
			    .room = room(pool),
			    .parts = 1.0f / ((float)pool->kernel[0] * (float)pool->kernel[1])};
	if (pool->index)
		band.index = pool->index + n * pool->index_stride[0] + p * pool->index_stride[2];
	return band;
}

/* A local copy of `shared`: vector stores may alias anything else, and would force all its members
 * to be reloaded. */
INLINE void rows(const struct cpu_pool *shared, enum kind kind, int64_t begin, int64_t end)
{
	const struct cpu_pool own = *shared, *pool = &own;
	struct span inner = whole(pool);
	struct run run = {inner.begin, inner.end, 0, pool->kernel[1]};
	int64_t n = begin / pool->p,
		p = begin % pool->p; /* a division costs as much as a short row */
	for (int64_t unit = begin; unit < end; unit++) {
		struct band band = band_of(pool, n, p);
		for (int64_t q = 0; q < inner.begin; q++)
			edge(&band, kind, q);
		any_windows(&band, kind, run);
		for (int64_t q = inner.end; q < pool->q; q++)
			edge(&band, kind, q);
		if (++p == pool->p) {
			p = 0;
			n++;
		}
	}
}

static void max_rows(const struct cpu_pool *pool, int64_t begin, int64_t end)
{
	if (cpu_pool_is_pairs(pool))
		VARIANT(cpu_max_pool_pairs)(pool, begin, end);
	else
		rows(pool, MAX, begin, end);
}

static void average_rows(const struct cpu_pool *pool, int64_t begin, int64_t end)
{
	rows(pool, AVERAGE, begin, end);
}

const struct cpu_pool_kernels VARIANT(cpu_pool) = {
	.max = max_rows,
	.average = average_rows,
	.max_backward = VARIANT(cpu_max_pool_backward),
	.average_backward = VARIANT(cpu_average_pool_backward),
};
