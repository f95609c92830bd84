/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Gradient of the weights of a convolution of few channels, in planes (conv_few.h):
 *
 *     gradient[o][c][r][s] = sum over i of out[o][i] in[c][i + r pitch + s]
 *
 * A tile is HEIGHT out channels x WIDTH taps of one in channel, each a register of partial sums
 * along i: 20 of 32 registers (10 of 16).  For each vector of positions that is HEIGHT + WIDTH
 * loads, of which WIDTH cross a line: 14 line accesses, 7 cycles, for 20 multiply-adds, 10 cycles.
 * Sums stay in L1 or L2 from image to image; lanes are added once, at the end.
 */
#include "conv_few.h"

#include "variant.h"
#include "vector.h"

#define WIDTH 5
#if VECTOR_REGISTERS == 32
#define HEIGHT 4
#else
#define HEIGHT 2
#endif
#define VECTORS (HEIGHT * WIDTH)

static int64_t groups_of_taps(const struct cpu_few *f)
{
	return (f->rows * f->columns + WIDTH - 1) / WIDTH;
}

/* The largest height that leaves the fewest rows empty. */
static int64_t height_of(int64_t channels)
{
	int64_t blocks = (channels + HEIGHT - 1) / HEIGHT;
	return (channels + blocks - 1) / blocks;
}

int64_t VARIANT(cpu_few_sums)(const struct cpu_few *f)
{
	int64_t height = height_of(f->out_channels);
	return (f->out_channels + height - 1) / height * f->in_channels * groups_of_taps(f) *
	       VECTORS * LANES;
}

/* The taps of a tile; those after the last repeat it, and their sums are ignored. */
static void find_taps(const struct cpu_few *f, const float *in, int64_t first,
		      const float *taps[WIDTH])
{
	int64_t last = f->rows * f->columns - 1;
	for (int64_t t = 0; t < WIDTH; t++) {
		int64_t tap = first + t < last ? first + t : last;
		taps[t] = in + tap / f->columns * f->pitch + tap % f->columns;
	}
}

__attribute__((always_inline)) static inline void add(const struct cpu_few *f,
						      const float *const taps[WIDTH],
						      const float *out, float *sums,
						      const int height)
{
	const float *t0 = taps[0], *t1 = taps[1], *t2 = taps[2], *t3 = taps[3], *t4 = taps[4];
	vf acc[HEIGHT][WIDTH];
#pragma GCC unroll 4
	for (int h = 0; h < height; h++) {
#pragma GCC unroll 5
		for (int t = 0; t < WIDTH; t++)
			acc[h][t] = vf_load(sums + (h * WIDTH + t) * LANES);
	}
	for (int64_t i = 0; i < f->positions; i += LANES) {
		vf d[HEIGHT];
		const vf x[WIDTH] = {vf_load(t0 + i), vf_load(t1 + i), vf_load(t2 + i),
				     vf_load(t3 + i), vf_load(t4 + i)};
#pragma GCC unroll 4
		for (int h = 0; h < height; h++)
			d[h] = vf_load(out + h * f->out_plane + i);
#pragma GCC unroll 5
		for (int t = 0; t < WIDTH; t++) {
#pragma GCC unroll 4
			for (int h = 0; h < height; h++)
				acc[h][t] += d[h] * x[t];
		}
	}
#pragma GCC unroll 4
	for (int h = 0; h < height; h++) {
#pragma GCC unroll 5
		for (int t = 0; t < WIDTH; t++)
			vf_store(sums + (h * WIDTH + t) * LANES, acc[h][t]);
	}
}

static void add_rows(const struct cpu_few *f, const float *const taps[WIDTH], const float *out,
		     float *sums, int64_t height)
{
	if (height == 1)
		add(f, taps, out, sums, 1);
	else if (height == 2)
		add(f, taps, out, sums, 2);
#if HEIGHT == 4
	else if (height == 3)
		add(f, taps, out, sums, 3);
	else
		add(f, taps, out, sums, 4);
#endif
}

void VARIANT(cpu_few_gradient)(const struct cpu_few *f, const float *in, const float *out,
			       float *sums)
{
	int64_t height = height_of(f->out_channels), groups = groups_of_taps(f);
	for (int64_t o = 0; o < f->out_channels; o += height) {
		int64_t n = f->out_channels - o < height ? f->out_channels - o : height;
		for (int64_t c = 0; c < f->in_channels; c++) {
			for (int64_t g = 0; g < groups; g++, sums += VECTORS * LANES) {
				const float *taps[WIDTH];
				find_taps(f, in + c * f->in_plane, g * WIDTH, taps);
				add_rows(f, taps, out + o * f->out_plane, sums, n);
			}
		}
	}
}

void VARIANT(cpu_few_fold)(const struct cpu_few *f, const float *sums, float *gradient)
{
	int64_t height = height_of(f->out_channels), groups = groups_of_taps(f);
	int64_t taps = f->rows * f->columns;
	for (int64_t o = 0; o < f->out_channels; o++) {
		for (int64_t c = 0; c < f->in_channels; c++) {
			const float *from =
				sums +
				((o / height * f->in_channels + c) * groups * HEIGHT + o % height) *
					WIDTH * LANES;
			for (int64_t t = 0; t < taps; t++)
				*gradient++ = vf_sum(
					vf_load(from + (t / WIDTH * VECTORS + t % WIDTH) * LANES));
		}
	}
}
