/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Convolution: tiles of up to TILE pixels x one panel of output channels are summed in registers.
 *
 * The windows of a tile's pixels are copied into TILE rows of CHUNK elements, zeros for padding:
 * they stay in L1 for all panels, and all their elements are at constant offsets from one address,
 * which saves registers.  For each element k the panel's row is loaded (two vectors) and each
 * pixel's element is broadcast to both.  Panels stream from L2, where the caller keeps their block.
 * Windows larger than CHUNK take several rounds, between which the sums of SOME_PANELS stay in L1.
 */
#include "conv_walk.h"

#if VECTOR_REGISTERS == 32
#define TILE 12
#else
#define TILE 6
#endif
#define CHUNK 256
/* Rows begin on different cache lines. */
#define PITCH (CHUNK + 16)
#define SOME_PANELS 8

/* Part of a tap, or a whole one, in a chunk. */
struct segment {
	int64_t row, n; /* of panels: the first, and how many */
};

struct chunk {
	int64_t n_segments;
	struct segment segments[CHUNK];
	_Alignas(64) float rows[TILE * PITCH];
};

struct tile {
	const struct cpu_taps *t;
	int64_t n; /* pixels */
	/* For each: its window's first row and column, and the offsets of its window, result and
	 * residual. */
	int64_t row[TILE], column[TILE];
	const float *in[TILE];
	float *out[TILE];
	const float *more[TILE];
	/* The start of the next chunk. */
	int64_t tap, k;
	int begun; /* sums hold something */
	vf sums[SOME_PANELS][TILE * 2];
	struct chunk chunk;
	float spare[WIDE]; /* takes the results of surplus rows */
};

/* ---- A chunk ---------------------------------------------------------------------------------*/

/* Whole vectors are written: the values after the end are overwritten later, or lie beyond the
 * chunk. */
static inline void copy(float *to, const float *from, int64_t n)
{
	int64_t i = 0;
	for (; i + LANES <= n; i += LANES)
		vf_store(to + i, vf_load(from + i));
	if (i < n)
		vf_store(to + i, vf_load_first(from + i, n - i));
}

static inline int is_inside(const struct tile *tile, int64_t i, const struct cpu_tap *tap)
{
	return (uint64_t)(tile->row[i] + tap->down) < (uint64_t)tile->t->height &&
	       (uint64_t)(tile->column[i] + tap->across) < (uint64_t)tile->t->width;
}

/* Copies n elements of a tap, from k on, to position `at` of the rows. */
static inline void copy_tap(struct tile *tile, const struct cpu_tap *tap, int64_t k, int64_t n,
			    int64_t at)
{
	const struct cpu_taps *t = tile->t;
	int64_t offset = tap->down * t->in_row + tap->across * t->in_pixel + k;
	float *to = tile->chunk.rows + at;
	for (int64_t i = 0; i < tile->n; i++, to += PITCH)
		copy(to, is_inside(tile, i, tap) ? tile->in[i] + offset : t->zeros, n);
}

/* The next chunk; as many elements as fit. */
static void fill(struct tile *tile)
{
	const struct cpu_taps *t = tile->t;
	struct chunk *chunk = &tile->chunk;
	chunk->n_segments = 0;
	for (int64_t at = 0; tile->tap < t->n_taps && at < CHUNK;) {
		const struct cpu_tap *tap = &t->taps[tile->tap];
		int64_t n = t->depth - tile->k < CHUNK - at ? t->depth - tile->k : CHUNK - at;
		copy_tap(tile, tap, tile->k, n, at);
		chunk->segments[chunk->n_segments++] = (struct segment){tap->row + tile->k, n};
		at += n;
		tile->k += n;
		if (tile->k == t->depth) {
			tile->k = 0;
			tile->tap++;
		}
	}
}

/* ---- Results ---------------------------------------------------------------------------------*/

static inline vf finish(const struct cpu_taps *t, vf x)
{
	if (!t->clamps)
		return x;
	x = vf_select(x < t->low, vf_set(t->low), x);
	return vf_select(x > t->high, vf_set(t->high), x);
}

static inline vf load_some(const float *p, int64_t n)
{
	return n >= LANES ? vf_load(p) : vf_load_first(p, n);
}

static inline void store_some(float *p, vf x, int64_t n)
{
	if (n >= LANES)
		vf_store(p, x);
	else
		vf_store_first(p, x, n);
}

/* The n results of each pixel from its sums. */
__attribute__((always_inline)) static inline void store(struct tile *tile, vf acc[TILE][2],
							int64_t channel, int64_t n,
							const int height, const int vectors)
{
	const struct cpu_taps *t = tile->t;
#pragma GCC unroll 2
	for (int j = 0; j < vectors; j++) {
		int64_t at = channel + j * LANES, left = n - j * LANES;
		vf bias = vf_load(t->bias + at);
#pragma GCC unroll 12
		for (int i = 0; i < height; i++) {
			vf x = acc[i][j] + bias;
			float *out = i < tile->n ? tile->out[i] + at : tile->spare;
			if (tile->more[0] && i < tile->n)
				x += load_some(tile->more[i] + at, left);
			store_some(out, finish(t, x), left);
		}
	}
}

/* ---- Products --------------------------------------------------------------------------------*/

/* sums[i][..] := (or +=) the chunk's row i times its rows of the panel. */
__attribute__((always_inline)) static inline void multiply(struct tile *tile, const float *panel,
							   vf *sums, int64_t channel,
							   const int height, const int vectors)
{
	const struct chunk *chunk = &tile->chunk;
	int64_t n = tile->t->channels - channel;
	vf acc[TILE][2];
	const float *a = chunk->rows;
#pragma GCC unroll 12
	for (int i = 0; i < height; i++) {
#pragma GCC unroll 2
		for (int j = 0; j < vectors; j++)
			acc[i][j] = tile->begun ? sums[i * vectors + j] : (vf){0};
	}
	for (int64_t s = 0; s < chunk->n_segments; s++) {
		const float *b = panel + chunk->segments[s].row * vectors * LANES;
		const float *end = a + chunk->segments[s].n;
		for (; a < end; a++, b += vectors * LANES) {
			vf w[2];
#pragma GCC unroll 2
			for (int j = 0; j < vectors; j++)
				w[j] = vf_load(b + j * LANES);
#pragma GCC unroll 12
			for (int i = 0; i < height; i++) {
#pragma GCC unroll 2
				for (int j = 0; j < vectors; j++)
					acc[i][j] += a[i * PITCH] * w[j];
			}
		}
	}
	if (tile->tap == tile->t->n_taps) {
		if (n >= vectors * LANES)
			store(tile, acc, channel, vectors * LANES, height, vectors);
		else
			store(tile, acc, channel, n, height, vectors);
		return;
	}
#pragma GCC unroll 12
	for (int i = 0; i < height; i++) {
#pragma GCC unroll 2
		for (int j = 0; j < vectors; j++)
			sums[i * vectors + j] = acc[i][j];
	}
}

static void multiply_panel(struct tile *tile, int64_t panel, vf *sums)
{
	const struct cpu_taps *t = tile->t;
	const float *weights = t->panels + panel * t->panel_rows * WIDE;
	int64_t channel = panel * WIDE;
	if (panel_width(t->channels, panel) == NARROW)
		multiply(tile, weights, sums, channel, TILE, 1);
	else if (tile->n > TILE / 3 * 2)
		multiply(tile, weights, sums, channel, TILE, 2);
	else if (tile->n > TILE / 3)
		multiply(tile, weights, sums, channel, TILE / 3 * 2, 2);
	else
		multiply(tile, weights, sums, channel, TILE / 3, 2);
}

static void run_tile(struct tile *tile, int64_t begin, int64_t end)
{
	const struct cpu_taps *t = tile->t;
	int64_t some = t->n_taps * t->depth <= CHUNK ? end - begin : SOME_PANELS;
	for (int64_t panel = begin; panel < end; panel += some) {
		tile->tap = tile->k = 0;
		tile->begun = 0;
		do {
			fill(tile);
			for (int64_t i = 0; i < some && panel + i < end; i++)
				multiply_panel(tile, panel + i, tile->sums[i % SOME_PANELS]);
			tile->begun = 1;
		} while (tile->tap < t->n_taps);
	}
}

static void take_pixel(struct tile *tile, int64_t i, const struct pixel *p)
{
	const struct cpu_taps *t = tile->t;
	tile->row[i] = p->row * t->step[0];
	tile->column[i] = p->column * t->step[1];
	tile->in[i] = t->in + p->image * t->in_image + tile->row[i] * t->in_row +
		      tile->column[i] * t->in_pixel;
	tile->out[i] = out_of(t, p);
	tile->more[i] = t->accumulate ? tile->out[i] : NULL;
	if (t->residual)
		tile->more[i] = t->residual + p->image * t->residual_image +
				p->row * t->residual_row + p->column * t->residual_pixel;
}

void VARIANT(cpu_conv_taps)(const struct cpu_taps *t, int64_t first, int64_t last, int64_t begin,
			    int64_t end)
{
	struct tile tile;
	struct pixel next = pixel_at(t, first);
	tile.t = t;
	/* cppcheck-suppress uninitvar */
	memset(tile.chunk.rows, 0, sizeof(tile.chunk.rows));
	for (int64_t i = first; i < last; i += tile.n) {
		tile.n = last - i < TILE ? last - i : TILE;
		for (int64_t j = 0; j < tile.n; j++, pixel_next(t, &next))
			take_pixel(&tile, j, &next);
		run_tile(&tile, begin, end);
	}
}
