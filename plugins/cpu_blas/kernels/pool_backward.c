/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The gradient of pooling.
 *
 * By channel, each element of dx gathers from the windows over it, in the order of the windows, so
 * it is written once and rows of dx are independent.  Few channels move whole vectors, as in
 * pool.c, but not with accumulation: surplus lanes would be added twice.
 *
 * Otherwise each window adds to its cells, one plane at a time.
 *
 * pool_pairs.c has max pooling of adjacent windows, pool_apart.c averages of disjoint windows.
 */
#include "pool.h"
#include "variant.h"
#include "vector.h"

#define INLINE static inline __attribute__((always_inline))

enum kind { MAX, AVERAGE };

struct span {
	int64_t begin, end;
};

INLINE struct span clip(int64_t start, int64_t kernel, int64_t length)
{
	return (struct span){start > 0 ? start : 0,
			     start + kernel < length ? start + kernel : length};
}

INLINE int64_t length(struct span span)
{
	return span.end - span.begin;
}

/* The gradient of each cell of window (p, q) of an average. */
INLINE float part_of(const struct cpu_pool *pool, int64_t p, int64_t q)
{
	if (pool->count_padding)
		return 1.0f / ((float)pool->kernel[0] * (float)pool->kernel[1]);
	int64_t top = p * pool->stride[0] - pool->padding[0];
	int64_t left = q * pool->stride[1] - pool->padding[1];
	return 1.0f / ((float)length(clip(top, pool->kernel[0], pool->h)) *
		       (float)length(clip(left, pool->kernel[1], pool->w)));
}

/* ---- By channel: gather ----------------------------------------------------------------------*/

/* One row of dx, and the rows of y with windows over it. */
struct band {
	const struct cpu_pool *pool;
	float *dx;
	const float *dy; /* of the image */
	const int32_t *index;
	int32_t place; /* the index of the row's first element in its plane */
	struct span p;
	int64_t room; /* pixels that hold all vectors of one */
	float part;   /* the factor for each cell of a window; 0: windows differ */
};

/* Advances the windows that contain position `at` of an axis. */
INLINE struct span over(struct span windows, int64_t at, int64_t kernel, int64_t stride, int64_t n)
{
	while (windows.begin * stride + kernel <= at)
		windows.begin++;
	while (windows.end < n && windows.end * stride <= at)
		windows.end++;
	return windows;
}

/* Lanes c..c+n-1 of the element w of the row. */
INLINE vf gather(const struct band *band, enum kind kind, int64_t w, int64_t c, int64_t n,
		 struct span rows, struct span columns)
{
	const struct cpu_pool *pool = band->pool;
	const int64_t *stride = pool->y_stride, *index_stride = pool->index_stride;
	vi place = vi_set(band->place + (int32_t)w);
	vf sum = {0};
	for (int64_t p = rows.begin; p < rows.end; p++) {
		for (int64_t q = columns.begin; q < columns.end; q++) {
			const float *dy = band->dy + p * stride[2] + q * stride[3] + c;
			vf part = n == LANES ? vf_load(dy) : vf_load_first(dy, n);
			if (kind == AVERAGE) {
				sum += part * (band->part > 0 ? band->part : part_of(pool, p, q));
				continue;
			}
			const float *at = (const float *)(band->index + p * index_stride[2] +
							  q * index_stride[3] + c);
			vi index = (vi)(n == LANES ? vf_load(at) : vf_load_first(at, n));
			sum += vf_pick(vi_equal(index, place), part, (vf){0});
		}
	}
	return sum;
}

INLINE void pixel(const struct band *band, enum kind kind, int64_t w, struct span rows,
		  struct span columns)
{
	const struct cpu_pool *pool = band->pool;
	float *dx = band->dx + w * pool->x_stride[3];
	int wide = w + band->room <= pool->w && columns.end - 1 + band->room <= pool->q;
	for (int64_t c = 0; c < pool->c; c += LANES) {
		int64_t n = wide || pool->c - c >= LANES ? LANES : pool->c - c;
		vf sum = gather(band, kind, w, c, n, rows, columns);
		if (pool->accumulate)
			sum += n == LANES ? vf_load(dx + c) : vf_load_first(dx + c, n);
		if (n == LANES)
			vf_store(dx + c, sum);
		else
			vf_store_first(dx + c, sum, n);
	}
}

/* One window over the pixel, the usual case, is compiled separately. */
INLINE void any_pixel(const struct band *band, enum kind kind, int64_t w, struct span columns)
{
	struct span p = {band->p.begin, band->p.begin + 1};
	struct span q = {columns.begin, columns.begin + 1};
	if (length(band->p) == 1 && length(columns) == 1)
		pixel(band, kind, w, p, q);
	else
		pixel(band, kind, w, band->p, columns);
}

INLINE int64_t room(const struct cpu_pool *pool)
{
	int64_t c = pool->c;
	if (pool->accumulate || pool->x_stride[3] != c || pool->y_stride[3] != c ||
	    (pool->index && pool->index_stride[3] != c))
		return INT64_MAX / 4;
	return ((c + LANES - 1) / LANES * LANES + c - 1) / c;
}

/* All windows are whole, or count as if they were. */
INLINE int uniform(const struct cpu_pool *pool)
{
	const int64_t *padding = pool->padding, *stride = pool->stride, *kernel = pool->kernel;
	if (pool->count_padding)
		return 1;
	return !padding[0] && !padding[1] && (pool->p - 1) * stride[0] + kernel[0] <= pool->h &&
	       (pool->q - 1) * stride[1] + kernel[1] <= pool->w;
}

/* Row h of image n, under windows `p` along H. */
INLINE void row(struct band band, enum kind kind, int64_t n, int64_t h, struct span p)
{
	const struct cpu_pool *pool = band.pool;
	band.dx = pool->x + n * pool->x_stride[0] + h * pool->x_stride[2];
	band.dy = pool->y + n * pool->y_stride[0];
	band.place = (int32_t)(h * pool->w);
	band.p = p;
	if (kind == MAX)
		band.index = pool->index + n * pool->index_stride[0];
	struct span columns = {0, 0};
	for (int64_t w = 0; w < pool->w; w++) {
		columns = over(columns, w + pool->padding[1], pool->kernel[1], pool->stride[1],
			       pool->q);
		any_pixel(&band, kind, w, columns);
	}
}

/* A local copy of `shared`: vector stores may alias anything else, and would force all its members
 * to be reloaded. */
INLINE void rows(const struct cpu_pool *shared, enum kind kind, int64_t begin, int64_t end)
{
	const struct cpu_pool own = *shared, *pool = &own;
	const struct band band = {
		.pool = pool, .room = room(pool), .part = uniform(pool) ? part_of(pool, 0, 0) : 0};
	int64_t n = begin / pool->h, h = begin % pool->h;
	struct span p = {0, 0};
	for (int64_t unit = begin; unit < end; unit++) {
		p = over(p, h + pool->padding[0], pool->kernel[0], pool->stride[0], pool->p);
		row(band, kind, n, h, p);
		if (++h == pool->h) {
			p = (struct span){0, 0};
			h = 0;
			n++;
		}
	}
}

/* ---- Other layouts: a plane at a time --------------------------------------------------------*/

struct plane {
	float *dx;
	const float *dy;
	const int32_t *index;
};

static struct plane plane_of(const struct cpu_pool *pool, int64_t unit)
{
	int64_t n = unit / pool->c, c = unit % pool->c;
	struct plane plane = {
		.dx = pool->x + n * pool->x_stride[0] + c * pool->x_stride[1],
		.dy = pool->y + n * pool->y_stride[0] + c * pool->y_stride[1],
	};
	if (pool->index)
		plane.index = pool->index + n * pool->index_stride[0] + c * pool->index_stride[1];
	return plane;
}

static void clear(const struct cpu_pool *pool, float *dx)
{
	for (int64_t h = 0; h < pool->h; h++)
		for (int64_t w = 0; w < pool->w; w++)
			dx[h * pool->x_stride[2] + w * pool->x_stride[3]] = 0;
}

/* An index outside the plane is ignored. */
static void give_largest(const struct cpu_pool *pool, const struct plane *plane, int64_t p)
{
	const int64_t *x = pool->x_stride, *y = pool->y_stride, *i = pool->index_stride;
	int dense = x[2] == pool->w * x[3];
	for (int64_t q = 0; q < pool->q; q++) {
		int64_t place = plane->index[p * i[2] + q * i[3]];
		if (place < 0 || place >= pool->h * pool->w)
			continue;
		int64_t at = dense ? place * x[3] : place / pool->w * x[2] + place % pool->w * x[3];
		plane->dx[at] += plane->dy[p * y[2] + q * y[3]];
	}
}

static void give_parts(const struct cpu_pool *pool, const struct plane *plane, int64_t p)
{
	const int64_t *x = pool->x_stride, *y = pool->y_stride;
	struct span rows = clip(p * pool->stride[0] - pool->padding[0], pool->kernel[0], pool->h);
	for (int64_t q = 0; q < pool->q; q++) {
		float part = plane->dy[p * y[2] + q * y[3]] * part_of(pool, p, q);
		struct span columns =
			clip(q * pool->stride[1] - pool->padding[1], pool->kernel[1], pool->w);
		for (int64_t h = rows.begin; h < rows.end; h++)
			for (int64_t w = columns.begin; w < columns.end; w++)
				plane->dx[h * x[2] + w * x[3]] += part;
	}
}

static void one_plane(const struct cpu_pool *pool, enum kind kind, int64_t unit)
{
	struct plane plane = plane_of(pool, unit);
	if (!pool->accumulate)
		clear(pool, plane.dx);
	for (int64_t p = 0; p < pool->p; p++) {
		if (kind == MAX)
			give_largest(pool, &plane, p);
		else
			give_parts(pool, &plane, p);
	}
}

INLINE void backward(const struct cpu_pool *pool, enum kind kind, int64_t begin, int64_t end)
{
	if (pool->by_channel) {
		rows(pool, kind, begin, end);
		return;
	}
	for (int64_t unit = begin; unit < end; unit++)
		one_plane(pool, kind, unit);
}

void VARIANT(cpu_max_pool_backward)(const struct cpu_pool *pool, int64_t begin, int64_t end)
{
	if (cpu_pool_is_pairs(pool))
		VARIANT(cpu_max_pool_pairs_backward)(pool, begin, end);
	else
		backward(pool, MAX, begin, end);
}

void VARIANT(cpu_average_pool_backward)(const struct cpu_pool *pool, int64_t begin, int64_t end)
{
	if (cpu_pool_is_apart(pool))
		VARIANT(cpu_average_pool_apart_backward)(pool, begin, end);
	else
		backward(pool, AVERAGE, begin, end);
}
