/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Convolution: tiles of up to TILE pixels x one panel of output channels are summed in registers.
 *
 * For each element k of a tap the panel's row is loaded (two vectors) and each pixel's element is
 * broadcast to both; the pixels' addresses are kept in registers, so their places are free: a row
 * of padding reads zeros.  The input of a tile is read once for each panel and stays in L1; panels
 * stream from L2, where the caller keeps their block.
 */
#include "conv_walk.h"

#if VECTOR_REGISTERS == 32
#define TILE 12
#else
#define TILE 6
#endif
/* Taps whose addresses are written down at a time. */
#define SOME_TAPS 32

typedef const float *rows_of[TILE];

/* sum[i][..] += over the taps: rows[tap][i][k] * panel. */
__attribute__((always_inline)) static inline void
multiply(vf *sum, rows_of *rows, const struct cpu_tap *taps, int64_t n_taps, int64_t depth,
	 const float *panel, const int height, const int vectors)
{
	vf acc[TILE][2];
#pragma GCC unroll 12
	for (int i = 0; i < height; i++) {
#pragma GCC unroll 2
		for (int j = 0; j < vectors; j++)
			acc[i][j] = sum[i * vectors + j];
	}
	for (int64_t t = 0; t < n_taps; t++) {
		const float *b = panel + taps[t].row * vectors * LANES;
		const float *a[TILE];
#pragma GCC unroll 12
		for (int i = 0; i < height; i++)
			a[i] = rows[t][i];
		for (int64_t k = 0; k < depth; k++, b += vectors * LANES) {
			vf w[2];
#pragma GCC unroll 2
			for (int j = 0; j < vectors; j++)
				w[j] = vf_load(b + j * LANES);
#pragma GCC unroll 12
			for (int i = 0; i < height; i++) {
#pragma GCC unroll 2
				for (int j = 0; j < vectors; j++)
					acc[i][j] += a[i][k] * w[j];
			}
		}
	}
#pragma GCC unroll 12
	for (int i = 0; i < height; i++) {
#pragma GCC unroll 2
		for (int j = 0; j < vectors; j++)
			sum[i * vectors + j] = acc[i][j];
	}
}

static void multiply_rows(vf *sum, rows_of *rows, const struct cpu_tap *taps, int64_t n_taps,
			  int64_t depth, const float *panel, int64_t n, int64_t width)
{
	if (width == NARROW)
		multiply(sum, rows, taps, n_taps, depth, panel, TILE, 1);
	else if (n > TILE / 3 * 2)
		multiply(sum, rows, taps, n_taps, depth, panel, TILE, 2);
	else if (n > TILE / 3)
		multiply(sum, rows, taps, n_taps, depth, panel, TILE / 3 * 2, 2);
	else
		multiply(sum, rows, taps, n_taps, depth, panel, TILE / 3, 2);
}

/* Addresses of the taps of n pixels; the tile's other rows read zeros. */
static void address(const struct cpu_taps *t, const struct pixel *pixels, int64_t n, int64_t tap,
		    int64_t n_taps, rows_of *rows)
{
	for (int64_t j = 0; j < n_taps; j++) {
		for (int64_t i = 0; i < n; i++)
			rows[j][i] = in_of(t, &pixels[i], &t->taps[tap + j]);
		for (int64_t i = n; i < TILE; i++)
			rows[j][i] = t->zeros;
	}
}

static inline vf finish(const struct cpu_taps *t, vf x, vf bias, vf more)
{
	x = x + bias + more;
	x = vf_select(x < t->low, vf_set(t->low), x);
	return vf_select(x > t->high, vf_set(t->high), x);
}

/* One pixel's channels of a panel: n of them to out, from up to two vectors. */
static void store(const struct cpu_taps *t, const struct pixel *p, const vf *sum, int64_t channel,
		  int64_t n)
{
	float *out = out_of(t, p) + channel;
	const float *more = t->accumulate ? out : NULL;
	if (t->residual)
		more = t->residual + p->image * t->residual_image + p->row * t->residual_row +
		       p->column * t->residual_pixel + channel;
	for (int64_t j = 0; j < n; j += LANES, sum++) {
		vf bias = vf_load(t->bias + channel + j);
		if (n - j >= LANES)
			vf_store(out + j,
				 finish(t, *sum, bias, more ? vf_load(more + j) : (vf){0}));
		else
			vf_store_first(out + j,
				       finish(t, *sum, bias,
					      more ? vf_load_first(more + j, n - j) : (vf){0}),
				       n - j);
	}
}

static void tile(const struct cpu_taps *t, const struct pixel *pixels, int64_t n, int64_t panel,
		 rows_of *rows)
{
	vf sum[TILE * 2] = {0};
	int64_t width = panel_width(t->channels, panel), channel = panel * WIDE;
	int64_t left = t->channels - channel, vectors = width / LANES;
	const float *weights = t->panels + panel * t->panel_rows * WIDE;
	for (int64_t tap = 0; tap < t->n_taps; tap += SOME_TAPS) {
		int64_t some = t->n_taps - tap < SOME_TAPS ? t->n_taps - tap : SOME_TAPS;
		if (t->n_taps > SOME_TAPS)
			address(t, pixels, n, tap, some, rows);
		multiply_rows(sum, rows, t->taps + tap, some, t->depth, weights, n, width);
	}
	for (int64_t i = 0; i < n; i++)
		store(t, &pixels[i], sum + i * vectors, channel, left < width ? left : width);
}

void VARIANT(cpu_conv_taps)(const struct cpu_taps *t, int64_t first, int64_t last, int64_t begin,
			    int64_t end)
{
	struct pixel pixels[TILE], next = pixel_at(t, first);
	rows_of rows[SOME_TAPS];
	int64_t tiles = (last - first + TILE - 1) / TILE;
	for (int64_t i = first, n; i < last; i += n, tiles--) {
		n = (last - i + tiles - 1) / tiles;
		for (int64_t j = 0; j < n; j++, pixel_next(t, &next))
			pixels[j] = next;
		if (t->n_taps <= SOME_TAPS)
			address(t, pixels, n, 0, t->n_taps, rows);
		for (int64_t panel = begin; panel < end; panel++)
			tile(t, pixels, n, panel, rows);
	}
}
