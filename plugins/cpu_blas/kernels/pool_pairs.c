/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Max pooling of adjacent 2x2 windows, and its gradient, for rows without gaps: channels last, or
 * the columns of a plane, which are pixels of one channel.
 *
 * A vector holds as many whole pixels of y as fit; the two vectors of x under them are split into
 * the left and the right cells of the windows, and the gradient is spread the same way.  Each cell
 * is in one window only, so no search is needed: it takes dy if the index is its own.
 *
 * Whole vectors are written while they end inside the row: surplus lanes spill into the next
 * pixels, which are written later.
 */
#include "pool.h"
#include "variant.h"
#include "vector.h"

#define INLINE static inline __attribute__((always_inline))

/* n <= LANES lanes; the others 0. */
INLINE vf load(const float *x, int64_t n)
{
	return n == LANES ? vf_load(x) : vf_load_first(x, n);
}

INLINE void store(float *x, vf v, int64_t n)
{
	if (n == LANES)
		vf_store(x, v);
	else
		vf_store_first(x, v, n);
}

INLINE int64_t at_most(int64_t n, int64_t limit)
{
	return n < limit ? n : limit;
}

/* ---- Forward ---------------------------------------------------------------------------------*/

/* Two rows of x and the row of y they make. */
struct rows {
	const float *top, *bottom;
	float *y;
	int32_t *index; /* NULL: none */
	vi place;       /* the index of the row's first element in its plane */
	int32_t below;  /* from an index to the one below it */
};

/* The cells of a vector of windows. */
struct cells {
	vf left, right;
};

INLINE void challenge(vf *best, vi *step, vf here, int32_t at)
{
	vm wins = vm_and(vf_not_at_most(here, *best), vf_equal(*best, *best));
	*best = vf_pick(wins, here, *best);
	*step = vi_pick(wins, vi_set(at), *step);
}

/* Elements at.. of y, whose first cells are at `place`: the first of equals, the first NaN before
 * all. */
INLINE void largest(const struct rows *rows, struct cells top, struct cells bottom, vi place,
		    int64_t at, int64_t n)
{
	vf best = top.left;
	vi step = {0};
	challenge(&best, &step, top.right, 1);
	challenge(&best, &step, bottom.left, rows->below);
	challenge(&best, &step, bottom.right, rows->below + 1);
	store(rows->y + at, best, n);
	if (rows->index)
		store((float *)rows->index + at, (vf)(place + step), n);
}

/* Channels that fill a vector; the last ones twice. */
INLINE void largest_deep(struct rows rows, int64_t q, int64_t c)
{
	for (int64_t i = 0; i < q; i++) {
		for (int64_t k = 0; k < c; k += LANES) {
			int64_t at = at_most(k, c - LANES), x = 2 * i * c + at;
			struct cells top = {vf_load(rows.top + x), vf_load(rows.top + x + c)};
			struct cells bottom = {vf_load(rows.bottom + x),
					       vf_load(rows.bottom + x + c)};
			largest(&rows, top, bottom, rows.place, i * c + at, LANES);
		}
		rows.place += 2;
	}
}

/* The positions of a vector of windows in two vectors of x. */
struct parting {
	vi left, right;
	vi column;
};

INLINE struct parting parting_of(int64_t c)
{
	struct parting parting = {{0}, {0}, {0}};
	for (int64_t i = 0; i < LANES; i++) {
		int64_t pixel = i / c, left = 2 * c * pixel + i % c;
		parting.left[i] = (int32_t)(left & (2 * LANES - 1));
		parting.right[i] = (int32_t)((left + c) & (2 * LANES - 1));
		parting.column[i] = (int32_t)(2 * pixel);
	}
	return parting;
}

/* n elements of a row of windows. */
INLINE struct cells part(const struct parting *parting, const float *x, int64_t n)
{
	int64_t low = at_most(2 * n, LANES), high = 2 * n - low;
	vf a = load(x, low), b = load(x + low, high);
	return (struct cells){vf_shuffle(a, b, parting->left), vf_shuffle(a, b, parting->right)};
}

INLINE void largest_group(const struct rows *rows, const struct parting *parting, vi place,
			  int64_t at, int64_t n)
{
	struct cells top = part(parting, rows->top + 2 * at, n);
	struct cells bottom = part(parting, rows->bottom + 2 * at, n);
	largest(rows, top, bottom, place, at, n);
}

INLINE void largest_shallow(struct rows rows, const struct parting *parting, int64_t q, int64_t c)
{
	int64_t pixels = LANES / c, at = 0;
	vi place = rows.place + parting->column;
	for (; at + LANES <= q * c; at += pixels * c) {
		largest_group(&rows, parting, place, at, LANES);
		place += 2 * (int32_t)pixels;
	}
	if (at < q * c)
		largest_group(&rows, parting, place, at, q * c - at);
}

INLINE void one_row(const struct cpu_pool *pool, const struct parting *parting, int64_t n,
		    int64_t p, int64_t plane, int64_t c)
{
	const int64_t *x = pool->x_stride, *y = pool->y_stride, *index = pool->index_stride;
	const float *top = pool->x + n * x[0] + plane * x[1] + 2 * p * x[2];
	struct rows rows = {.top = top,
			    .bottom = top + x[2],
			    .y = pool->y + n * y[0] + plane * y[1] + p * y[2],
			    .place = vi_set((int32_t)(2 * p * pool->w)),
			    .below = (int32_t)pool->w};
	if (pool->index)
		rows.index = pool->index + n * index[0] + plane * index[1] + p * index[2];
	if (c >= LANES)
		largest_deep(rows, pool->q, c);
	else
		largest_shallow(rows, parting, pool->q, c);
}

void VARIANT(cpu_max_pool_pairs)(const struct cpu_pool *shared, int64_t begin, int64_t end)
{
	const struct cpu_pool own = *shared, *pool = &own;
	int64_t c = pool->by_channel ? pool->c : 1, planes = pool->by_channel ? 1 : pool->c;
	const struct parting parting = parting_of(c);
	int64_t n = begin / pool->p,
		p = begin % pool->p; /* a division costs as much as a short row */
	for (int64_t unit = begin; unit < end; unit++) {
		for (int64_t plane = 0; plane < planes; plane++)
			one_row(pool, &parting, n, p, plane, c);
		if (++p == pool->p) {
			p = 0;
			n++;
		}
	}
}

/* ---- Backward --------------------------------------------------------------------------------*/

/* A row of dx, and the row of dy under it. */
struct given {
	float *dx;
	const float *dy;
	const int32_t *index;
	vi place; /* the index of dx's first element in its plane */
};

/* n elements of dx that are at `place`. */
INLINE void give(float *dx, vf dy, vi index, vi place, int accumulate, int64_t n)
{
	vf sum = vf_pick(vi_equal(index, place), dy, (vf){0});
	if (accumulate)
		sum += load(dx, n);
	store(dx, sum, n);
}

INLINE void give_deep(struct given row, int64_t q, int64_t c, int accumulate)
{
	for (int64_t i = 0; i < q; i++) {
		float *dx = row.dx + 2 * i * c;
		for (int64_t k = 0; k < c; k += LANES) {
			int64_t n = at_most(c - k, LANES);
			vf dy = load(row.dy + i * c + k, n);
			vi index = (vi)load((const float *)row.index + i * c + k, n);
			give(dx + k, dy, index, row.place, accumulate, n);
			give(dx + k + c, dy, index, row.place + 1, accumulate, n);
		}
		row.place += 2;
	}
}

/* The lanes of a vector of dy for each of two vectors of dx. */
struct spread {
	vi from[2];
	vi column[2];
};

INLINE struct spread spread_of(int64_t c)
{
	struct spread spread = {{{0}, {0}}, {{0}, {0}}};
	for (int64_t i = 0; i < 2 * LANES; i++) {
		int64_t pixel = i / c, from = pixel / 2 * c + i % c;
		spread.from[i / LANES][i % LANES] = (int32_t)(from & (LANES - 1));
		spread.column[i / LANES][i % LANES] = (int32_t)pixel;
	}
	return spread;
}

/* Reads `read` elements of dy; writes `written` of dx. */
INLINE void give_group(const struct given *row, const struct spread *spread, vi place, int64_t at,
		       int64_t read, int64_t written, int accumulate)
{
	vf dy = load(row->dy + at, read);
	vf index = load((const float *)row->index + at, read);
	int64_t low = at_most(written, LANES);
	for (int i = 0; i < 2; i++)
		give(row->dx + 2 * at + i * low, vf_shuffle(dy, dy, spread->from[i]),
		     (vi)vf_shuffle(index, index, spread->from[i]), place + spread->column[i],
		     accumulate, i ? written - low : low);
}

/* With accumulation each element is written once, without surplus lanes. */
INLINE void give_shallow(struct given row, const struct spread *spread, int64_t q, int64_t c,
			 int accumulate)
{
	int64_t pixels = LANES / c, n = pixels * c, at = 0;
	for (; at + LANES <= q * c; at += n) {
		int64_t written = accumulate ? 2 * n : 2 * LANES;
		give_group(&row, spread, row.place, at, LANES, written, accumulate);
		row.place += 2 * (int32_t)pixels;
	}
	if (at < q * c)
		give_group(&row, spread, row.place, at, q * c - at, 2 * (q * c - at), accumulate);
}

INLINE void give_row(struct given row, const struct spread *spread, int64_t q, int64_t c,
		     int accumulate)
{
	if (c >= LANES)
		give_deep(row, q, c, accumulate);
	else
		give_shallow(row, spread, q, c, accumulate);
}

/* Row h of dx; cells outside all windows get 0. */
INLINE void one_row_backward(const struct cpu_pool *pool, const struct spread *spread, int64_t n,
			     int64_t plane, int64_t h, int64_t c)
{
	int64_t p = h / 2, held = p < pool->p ? 2 * pool->q : 0;
	const int64_t *x = pool->x_stride, *y = pool->y_stride, *index = pool->index_stride;
	float *dx = pool->x + n * x[0] + plane * x[1] + h * x[2];
	struct given row = {.dx = dx,
			    .dy = pool->y + n * y[0] + plane * y[1] + p * y[2],
			    .index = pool->index + n * index[0] + plane * index[1] + p * index[2],
			    .place = vi_set((int32_t)(h * pool->w))};
	if (pool->accumulate)
		give_row(row, spread, held / 2, c, 1);
	else
		give_row(row, spread, held / 2, c, 0);
	for (int64_t i = held * c; i < pool->w * c && !pool->accumulate; i++)
		dx[i] = 0;
}

void VARIANT(cpu_max_pool_pairs_backward)(const struct cpu_pool *shared, int64_t begin, int64_t end)
{
	const struct cpu_pool own = *shared, *pool = &own;
	int64_t c = pool->by_channel ? pool->c : 1;
	const struct spread spread = spread_of(c);
	int64_t n = begin / pool->h, h = begin % pool->h;
	for (int64_t unit = begin; unit < end && pool->by_channel; unit++) {
		one_row_backward(pool, &spread, n, 0, h, c);
		if (++h == pool->h) {
			h = 0;
			n++;
		}
	}
	for (int64_t unit = begin; unit < end && !pool->by_channel; unit++)
		for (h = 0; h < pool->h; h++)
			one_row_backward(pool, &spread, unit / pool->c, unit % pool->c, h, c);
}
