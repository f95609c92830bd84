/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Winograd's output transform: tiles of M to pixels, and the forward epilogue before they are
 * stored.  A register holds LANES channels of one tile; only the pixels inside the image are
 * stored.
 */
#include "winograd_family.h"
#include "winograd_place.h"
#include "winograd_points.h"

enum { PATCH = WINOGRAD_PATCH, TILE = WINOGRAD_TILE };

struct pixels {
	const struct cpu_winograd_image *y;
	const struct cpu_winograd_finish *finish;
	int64_t at, residual;  /* offsets of the tile's first pixel */
	int64_t rows, columns; /* of the tile, inside the image */
	vf low, high;
};

static struct pixels pixels_of(const struct cpu_winograd_image *y, struct winograd_place place,
			       const struct cpu_winograd_finish *finish)
{
	struct pixels p = {.y = y, .finish = finish};
	const struct cpu_winograd_image *residual = finish->residual;
	int64_t rows = y->height - place.row, columns = y->width - place.column;
	p.at = place.image * y->image + place.row * y->down + place.column * y->across;
	if (residual)
		p.residual = place.image * residual->image + place.row * residual->down +
			     place.column * residual->across;
	p.rows = rows < TILE ? rows : TILE;
	p.columns = columns < TILE ? columns : TILE;
	p.low = vf_set(finish->low);
	p.high = vf_set(finish->high);
	return p;
}

static inline vf load(const float *p, int64_t n)
{
	return n == LANES ? vf_load(p) : vf_load_first(p, n);
}

static inline void store(float *p, vf x, int64_t n)
{
	if (n == LANES)
		vf_store(p, x);
	else
		vf_store_first(p, x, n);
}

/* n <= LANES channels from c on of one tile. */
static inline __attribute__((always_inline)) void inverse(const struct pixels *p, int64_t rows,
							  int64_t columns, int64_t c, int64_t n,
							  const float *m, int64_t plane)
{
	vf half[TILE * PATCH];
	vf bias = p->finish->bias ? load(p->finish->bias + c, n) : (vf){0};
	const struct cpu_winograd_image *y = p->y, *residual = p->finish->residual;
#pragma GCC unroll 6
	for (int j = 0; j < PATCH; j++) {
		vf x[PATCH];
#pragma GCC unroll 6
		for (int i = 0; i < PATCH; i++)
			x[i] = vf_load(m + (i * PATCH + j) * plane);
		winograd_at(half + j, PATCH, x, 1);
	}
#pragma GCC unroll 4
	for (int64_t i = 0; i < rows; i++) {
		vf row[TILE];
		float *to = y->data + p->at + i * y->down + c;
		winograd_at(row, 1, half + i * PATCH, 1);
#pragma GCC unroll 4
		for (int64_t j = 0; j < columns; j++, to += y->across) {
			vf sum = row[j] + bias;
			if (residual)
				sum += load(residual->data + p->residual + i * residual->down +
						    j * residual->across + c,
					    n);
			store(to, vf_clamp(sum, p->low, p->high), n);
		}
	}
}

void VARIANT(cpu_winograd_pixels)(const struct cpu_winograd_image *y,
				  const struct cpu_winograd_grid *grid, int64_t first, int64_t n,
				  int64_t c0, int64_t c1, const struct cpu_winograd_tiles *m,
				  const struct cpu_winograd_finish *finish)
{
	struct winograd_place place = winograd_place(grid, first, 0, 0);
	for (int64_t t = 0; t < n; t++, winograd_next(grid, &place, 0)) {
		struct pixels p = pixels_of(y, place, finish);
		const float *from = m->data + t * m->row;
		for (int64_t c = c0; c < c1; c += LANES, from += LANES) {
			int64_t channels = c1 - c < LANES ? c1 - c : LANES;
			if (p.rows == TILE && p.columns == TILE && channels == LANES)
				inverse(&p, TILE, TILE, c, LANES, from, m->plane);
			else
				inverse(&p, p.rows, p.columns, c, channels, from, m->plane);
		}
	}
}
