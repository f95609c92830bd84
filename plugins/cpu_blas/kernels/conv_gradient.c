/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Gradient of a convolution's weights for one panel of output channels:
 *
 *     sums[t depth + k][o] = sum over pixels of in[pixel, tap t][k] * out[pixel][o]
 *
 * Pixels are taken BLOCK at a time, whose panel of `out` is copied into compact rows that stay in
 * L1 for all taps.  A tile of up to TILE elements of a tap x the panel is summed in registers over
 * the block: each pixel's row of `out` is loaded (two vectors) and its elements are broadcast.  The
 * sums stay in L2 from block to block.
 */
#include "conv_walk.h"

#if VECTOR_REGISTERS == 32
#define TILE 12
#else
#define TILE 6
#endif
#define BLOCK 128

struct block {
	int64_t n;
	/* For each: its window's first row and column, its address, and the current elements. */
	int64_t row[BLOCK], column[BLOCK];
	const float *window[BLOCK];
	const float *in[BLOCK];
	_Alignas(64) float out[BLOCK * WIDE];
};

/* sums[i] += over the block's pixels: in[pixel][i] * out[pixel]. */
__attribute__((always_inline)) static inline void accumulate(float *sums, const struct block *block,
							     const int height, const int vectors)
{
	vf acc[TILE][2];
	const float *out = block->out;
#pragma GCC unroll 12
	for (int i = 0; i < height; i++) {
#pragma GCC unroll 2
		for (int j = 0; j < vectors; j++)
			acc[i][j] = vf_load(sums + (i * vectors + j) * LANES);
	}
	for (int64_t p = 0; p < block->n; p++, out += vectors * LANES) {
		const float *in = block->in[p];
		vf d[2];
#pragma GCC unroll 2
		for (int j = 0; j < vectors; j++)
			d[j] = vf_load(out + j * LANES);
#pragma GCC unroll 12
		for (int i = 0; i < height; i++) {
#pragma GCC unroll 2
			for (int j = 0; j < vectors; j++)
				acc[i][j] += in[i] * d[j];
		}
	}
#pragma GCC unroll 12
	for (int i = 0; i < height; i++) {
#pragma GCC unroll 2
		for (int j = 0; j < vectors; j++)
			vf_store(sums + (i * vectors + j) * LANES, acc[i][j]);
	}
}

/* The n current elements, at most TILE. */
__attribute__((always_inline)) static inline void
accumulate_rows(float *sums, const struct block *block, int64_t n, const int vectors)
{
	switch (n) {
#if TILE == 12
	case 12:
		accumulate(sums, block, 12, vectors);
		break;
	case 11:
		accumulate(sums, block, 11, vectors);
		break;
	case 10:
		accumulate(sums, block, 10, vectors);
		break;
	case 9:
		accumulate(sums, block, 9, vectors);
		break;
	case 8:
		accumulate(sums, block, 8, vectors);
		break;
	case 7:
		accumulate(sums, block, 7, vectors);
		break;
#endif
	case 6:
		accumulate(sums, block, 6, vectors);
		break;
	case 5:
		accumulate(sums, block, 5, vectors);
		break;
	case 4:
		accumulate(sums, block, 4, vectors);
		break;
	case 3:
		accumulate(sums, block, 3, vectors);
		break;
	case 2:
		accumulate(sums, block, 2, vectors);
		break;
	default:
		accumulate(sums, block, 1, vectors);
	}
}

/* The next pixels, and their compact rows of `out`. */
static void fill(struct block *block, const struct cpu_taps *t, struct pixel *next, int64_t n,
		 int64_t channel, int64_t width)
{
	int64_t left = t->channels - channel < width ? t->channels - channel : width;
	block->n = n;
	for (int64_t p = 0; p < n; p++, pixel_next(t, next)) {
		const float *from = out_of(t, next) + channel;
		float *to = block->out + p * width;
		block->row[p] = next->row * t->step[0];
		block->column[p] = next->column * t->step[1];
		block->window[p] = t->in + next->image * t->in_image + block->row[p] * t->in_row +
				   block->column[p] * t->in_pixel;
		for (int64_t j = 0; j < width; j += LANES)
			vf_store(to + j, left - j >= LANES ? vf_load(from + j)
					 : left > j        ? vf_load_first(from + j, left - j)
							   : (vf){0});
	}
}

/* The address of each pixel's tap. */
static void find(const struct cpu_taps *t, struct block *block, const struct cpu_tap *tap)
{
	int64_t offset = tap->down * t->in_row + tap->across * t->in_pixel;
	for (int64_t p = 0; p < block->n; p++) {
		int inside = (uint64_t)(block->row[p] + tap->down) < (uint64_t)t->height &&
			     (uint64_t)(block->column[p] + tap->across) < (uint64_t)t->width;
		block->in[p] = inside ? block->window[p] + offset : t->zeros;
	}
}

static void add_tap(const struct cpu_taps *t, struct block *block, const struct cpu_tap *tap,
		    int64_t width, float *sums)
{
	/* Tiles of about equal height. */
	int64_t tiles = (t->depth + TILE - 1) / TILE;
	find(t, block, tap);
	for (int64_t k = 0, n; k < t->depth; k += n, tiles--) {
		n = (t->depth - k + tiles - 1) / tiles;
		float *to = sums + (tap->row + k) * width;
		if (width == WIDE)
			accumulate_rows(to, block, n, 2);
		else
			accumulate_rows(to, block, n, 1);
		for (int64_t p = 0; p < block->n; p++)
			block->in[p] += n;
	}
}

void VARIANT(cpu_conv_gradient)(const struct cpu_taps *t, int64_t first, int64_t last,
				int64_t panel, float *sums)
{
	struct block block;
	struct pixel next = pixel_at(t, first);
	int64_t width = panel_width(t->channels, panel);
	memset(sums, 0, (size_t)(t->panel_rows * width) * sizeof(float));
	for (int64_t i = first; i < last; i += BLOCK) {
		fill(&block, t, &next, last - i < BLOCK ? last - i : BLOCK, panel * WIDE, width);
		for (int64_t tap = 0; tap < t->n_taps; tap++)
			add_tap(t, &block, &t->taps[tap], width, sums);
	}
}
