/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Convolution as an implicit matrix product.  Output pixel (n, i, j) has the window of input that
 * begins at row i step[0], column j step[1] of image n; a tap is a position in the window, `down`
 * rows and `across` pixels from there, with `depth` neighbouring elements:
 *
 *     out[n,i,j,o] = sum over taps t, k < depth of
 *                    in[n, i step[0] + down_t, j step[1] + across_t][k] weight[t,k,o]
 *
 * The input gradient has this form too (with the window rotated), and few channels become long taps
 * (a row of the window is one run of elements in a padded image).
 *
 * Weights are packed into panels of cpu_kernels.conv_panel output channels: rows of that many
 * floats, `row` of tap t first, k ascending, padded with zeros.  A last panel of no more than half
 * the width has rows of half the width.
 */
#ifndef CPU_KERNELS_CONV_H
#define CPU_KERNELS_CONV_H

#include <stdint.h>

struct cpu_tap {
	int64_t down, across;
	int64_t row; /* of a panel: its first */
};

struct cpu_taps {
	const float *in;
	int64_t in_image, in_row, in_pixel; /* strides */
	int64_t height, width;              /* outside is 0 */
	int64_t step[2];
	const struct cpu_tap *taps;
	int64_t n_taps, depth;
	const float *zeros;    /* `depth` of them */
	int64_t rows, columns; /* of output pixels in an image */
	int64_t channels;      /* of output */
	float *out;            /* gradient of the weights: read */
	int64_t out_image, out_row, out_pixel;
	const float *panels;
	int64_t panel_rows;
	/* out := clamp(sum + bias + residual), or out += sum */
	const float *bias; /* with room for whole panels */
	const float *residual;
	int64_t residual_image, residual_row, residual_pixel;
	int clamps;
	float low, high; /* a NaN passes */
	int accumulate;
};

/* Weights of `channels` output channels and a window of rows x columns taps, `depth` elements each:
 * their address and strides. */
struct cpu_weights {
	float *at;
	int64_t channels, depth, rows, columns;
	int64_t by_channel, by_depth, by_row, by_column;
};

/* Pixels are numbered over all images, row by row. */
struct cpu_conv_kernels {
	int64_t panel; /* channels of a panel, which equals its floats */
	/* out, pixels first .. last - 1, panels begin .. end - 1. */
	void (*taps)(const struct cpu_taps *t, int64_t first, int64_t last, int64_t begin,
		     int64_t end);
	/* sums[row of the panel][channel] := sum over the pixels first .. last - 1 of in * out. */
	void (*gradient)(const struct cpu_taps *t, int64_t first, int64_t last, int64_t panel,
			 float *sums);
	/* Panel number `panel` of w. */
	void (*pack)(const struct cpu_weights *w, int64_t panel, float *rows);
	/* For panel number `panel`, w := (or +=) the sum of n panels that are `step` floats apart,
	 * elements begin .. end - 1 of each channel. */
	void (*unpack)(const struct cpu_weights *w, int64_t panel, const float *rows, int64_t n,
		       int64_t step, int64_t begin, int64_t end, int accumulate);
};

#endif
