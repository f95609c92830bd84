/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Convolution of few channels: see conv_few.h.
 *
 * A tile is `height` out channels x `width` vectors of positions in 24 registers (of 32; 12 of 16).
 * For each tap its vectors are loaded, most of them across two cache lines, and its weights are
 * broadcast.  With height 6 and width 4 that is 14 line accesses, 7 cycles, for 24 multiply-adds,
 * 12 cycles: arithmetic is the bottleneck.  An image's planes stay in L1.
 */
#include "conv_few.h"

#include "variant.h"
#include "vector.h"

#if VECTOR_REGISTERS == 32
#define TILE 24
#else
#define TILE 12
#endif

/* ---- Between images and planes ---------------------------------------------------------------*/

static inline vf load_some(const float *p, int64_t n)
{
	return n >= LANES ? vf_load(p) : vf_load_first(p, n);
}

/* `pixels` <= LANES pixels' channels from `channel` on, at most LANES. */
static inline void spread_block(const struct cpu_few_image *image, const float *from,
				int64_t channel, int64_t pixels, float *to, int64_t plane)
{
	int64_t n = image->channels - channel < LANES ? image->channels - channel : LANES;
	vf x[VECTOR_BYTES / 4];
	for (int64_t i = 0; i < LANES; i++)
		x[i] = i < pixels ? load_some(from + i * image->pixel + channel, n) : (vf){0};
	vf_transpose(x);
	for (int64_t i = 0; i < n; i++)
		vf_store(to + (channel + i) * plane, x[i]);
}

static void spread(const struct cpu_few_image *image, float *planes, int64_t plane, int64_t pitch)
{
	for (int64_t row = 0; row < image->rows; row++) {
		const float *from = image->data + row * image->row;
		float *to = planes + row * pitch;
		if (image->channels == 1 && image->pixel == 1) {
			memcpy(to, from, (size_t)image->columns * sizeof(float));
			continue;
		}
		for (int64_t q = 0; q < image->columns; q += LANES) {
			int64_t left = image->columns - q < LANES ? image->columns - q : LANES;
			for (int64_t c = 0; c < image->channels; c += LANES)
				spread_block(image, from + q * image->pixel, c, left, to + q,
					     plane);
		}
	}
}

/* x[0 .. n - 1] are channels, of which register k gets LANES / n pixels, n lanes each. */
__attribute__((always_inline)) static inline void weave(vf *x, const int n)
{
	vf y[VECTOR_BYTES / 4];
#pragma GCC unroll 4
	for (int step = 1; step < n; step *= 2) {
#pragma GCC unroll 8
		for (int i = 0; i < n / 2; i++) {
			y[2 * i] = vf_weave_low(x[i], x[i + n / 2]);
			y[2 * i + 1] = vf_weave_high(x[i], x[i + n / 2]);
		}
		/* cppcheck-suppress uninitvar ; the first n are written */
		memcpy(x, y, (size_t)n * sizeof(*x));
	}
}

/* Stores are whole vectors: wrong values after the channels are overwritten later. */
__attribute__((always_inline)) static inline void join(const float *from, int64_t plane,
						       int64_t columns, int64_t channels,
						       int64_t step, float *to, const int n)
{
	vi packed = vi_set(0);
	for (int64_t i = 0; i < LANES; i++)
		packed[i] =
			(int32_t)(i < LANES / n * channels ? i / channels * n + i % channels : 0);
	for (int64_t q = 0; q < columns; q += LANES) {
		vf x[VECTOR_BYTES / 4];
#pragma GCC unroll 16
		for (int i = 0; i < n; i++)
			x[i] = i < channels ? vf_load(from + i * plane + q) : (vf){0};
		weave(x, n);
#pragma GCC unroll 16
		for (int i = 0; i < n; i++, to += LANES / n * step)
			vf_store(to, n == LANES ? x[i] : vf_shuffle(x[i], x[i], packed));
	}
}

/* Copies a row of planes to a compact row of pixels. */
static void join_row(const float *from, int64_t plane, int64_t columns, int64_t channels, float *to)
{
	int64_t last = (channels - 1) / LANES * LANES;
	if (channels == 1) {
		memcpy(to, from, (size_t)columns * sizeof(float));
	} else if (channels <= 2 && LANES > 2) {
		join(from, plane, columns, channels, channels, to, 2);
	} else if (channels <= 4 && LANES > 4) {
		join(from, plane, columns, channels, channels, to, 4);
#if VECTOR_BYTES == 64
	} else if (channels <= 8) {
		join(from, plane, columns, channels, channels, to, 8);
#endif
	} else {
		for (int64_t c = last; c >= 0; c -= LANES)
			join(from + c * plane, plane, columns, channels - c, channels, to + c,
			     (int)LANES);
	}
}

/* n contiguous elements. */
static inline void finish(const struct cpu_few_epilogue *e, const float *from, const float *bias,
			  const float *residual, float *to, int64_t n)
{
	vf low = vf_set(e->low), high = vf_set(e->high);
	for (int64_t i = 0; i < n; i += LANES) {
		vf x = vf_load(from + i) + load_some(bias + i, n - i);
		if (residual)
			x += load_some(residual + i, n - i);
		x = vf_clamp(x, low, high);
		if (n - i >= LANES)
			vf_store(to + i, x);
		else
			vf_store_first(to + i, x, n - i);
	}
}

static void collect(const struct cpu_few_image *image, const float *planes, int64_t plane,
		    int64_t pitch, const struct cpu_few_epilogue *e, float *spare)
{
	int64_t n = image->channels;
	int compact = image->pixel == n && (!e->residual || e->residual_pixel == n);
	int64_t pixels = compact ? 1 : image->columns, length = compact ? image->columns * n : n;
	for (int64_t row = 0; row < image->rows; row++) {
		join_row(planes + row * pitch, plane, image->columns, n, spare);
		for (int64_t q = 0; q < pixels; q++)
			finish(e, spare + q * n, e->bias,
			       e->residual
				       ? e->residual + row * e->residual_row + q * e->residual_pixel
				       : NULL,
			       image->data + row * image->row + q * image->pixel, length);
	}
}

/* ---- Forward and input gradient --------------------------------------------------------------*/

/* The height that leaves the fewest rows empty, the largest of these. */
static int64_t block_of(int64_t channels)
{
	int64_t best = 2;
	for (int64_t h = 4; h <= (TILE == 24 ? 8 : 6); h += 2) {
		if ((channels + h - 1) / h * h <= (channels + best - 1) / best * best)
			best = h;
	}
	return best;
}

__attribute__((always_inline)) static inline void tile(const struct cpu_few *f, const float *in,
						       const float *weights, float *out,
						       int64_t channels, const int height,
						       const int width)
{
	vf acc[TILE / 2][TILE / 2];
#pragma GCC unroll 8
	for (int h = 0; h < height; h++) {
#pragma GCC unroll 12
		for (int v = 0; v < width; v++)
			acc[h][v] = (vf){0};
	}
	for (int64_t c = 0; c < f->in_channels; c++) {
		for (int64_t r = 0; r < f->rows; r++) {
			const float *from = in + c * f->in_plane + r * f->pitch;
			for (int64_t s = 0; s < f->columns; s++, weights += height) {
				vf x[TILE / 2];
#pragma GCC unroll 12
				for (int v = 0; v < width; v++)
					x[v] = vf_load(from + s + v * LANES);
#pragma GCC unroll 8
				for (int h = 0; h < height; h++) {
					vf w = vf_set(weights[h]);
#pragma GCC unroll 12
					for (int v = 0; v < width; v++)
						acc[h][v] += w * x[v];
				}
			}
		}
	}
#pragma GCC unroll 8
	for (int h = 0; h < height; h++) {
		if (h >= channels)
			break;
#pragma GCC unroll 12
		for (int v = 0; v < width; v++)
			vf_store(out + h * f->out_plane + v * LANES, acc[h][v]);
	}
}

__attribute__((always_inline)) static inline void strip(const struct cpu_few *f, const float *in,
							const float *weights, float *out,
							int64_t channels, const int height,
							const int width)
{
	int64_t i = 0;
	for (; i + width * LANES <= f->positions; i += width * LANES)
		tile(f, in + i, weights, out + i, channels, height, width);
	for (; i < f->positions; i += LANES)
		tile(f, in + i, weights, out + i, channels, height, 1);
}

static void correlate(const struct cpu_few *f, const float *in, const float *weights, float *out)
{
	int64_t height = block_of(f->out_channels);
	int64_t step = f->in_channels * f->rows * f->columns * height;
	for (int64_t o = 0; o < f->out_channels; o += height, weights += step) {
		int64_t left = f->out_channels - o;
		float *to = out + o * f->out_plane;
		if (height == 2)
			strip(f, in, weights, to, left, 2, TILE / 3);
		else if (height == 4)
			strip(f, in, weights, to, left, 4, TILE / 4);
		else if (height == 6)
			strip(f, in, weights, to, left, 6, TILE / 6);
#if TILE == 24
		else
			strip(f, in, weights, to, left, 8, TILE / 8);
#endif
	}
}

const struct cpu_few_kernels VARIANT(cpu_few) = {
	.spread = spread,
	.collect = collect,
	.block = block_of,
	.correlate = correlate,
	.sums = VARIANT(cpu_few_sums),
	.gradient = VARIANT(cpu_few_gradient),
	.fold = VARIANT(cpu_few_fold),
};
