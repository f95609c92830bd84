/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Convolution of few channels, stride 1, one image at a time, in planes: each channel is a separate
 * plane, whose rows are `pitch` floats apart with zeros between them.  The padding at a row's end
 * is also that at the next row's start, and an output element has one index in flat planes:
 *
 *     out[o][i] = sum over c, r, s of in[c][i + r pitch + s] weights[o][c][r][s],
 *     i = row pitch + column
 *
 * Registers hold elements along i, whatever the number of channels.
 */
#ifndef CPU_KERNELS_CONV_FEW_H
#define CPU_KERNELS_CONV_FEW_H

#include <stdint.h>

#define CPU_FEW_CHANNELS 16
#define CPU_FEW_WINDOW 7
/* Positions are computed in whole vectors, of no more floats than this. */
#define CPU_FEW_STEP 16

struct cpu_few {
	int64_t in_channels, out_channels;
	int64_t rows, columns; /* of the window */
	int64_t pitch;
	int64_t positions; /* of an out plane: a multiple of CPU_FEW_STEP */
	/* From plane to plane.  An in plane holds (rows - 1) pitch + columns floats after the last
	 * position. */
	int64_t in_plane, out_plane;
};

/* Channels last; strides in elements. */
struct cpu_few_image {
	float *data;
	int64_t row, pixel;
	int64_t rows, columns, channels;
};

/* image := clamp(planes + bias + residual); bias is given for each element of a row. */
struct cpu_few_epilogue {
	const float *bias;
	const float *residual; /* NULL: none; input gradient: the image itself, to add to */
	int64_t residual_row, residual_pixel;
	float low, high; /* a NaN passes */
};

struct cpu_few_kernels {
	/* Copies to planes, whose first element is at `planes`; the zeros between rows stay.  Up to
	 * CPU_FEW_STEP zeros are written after a row. */
	void (*spread)(const struct cpu_few_image *image, float *planes, int64_t plane,
		       int64_t pitch);
	/* Copies from planes; `spare` holds a row and CPU_FEW_STEP floats. */
	void (*collect)(const struct cpu_few_image *image, const float *planes, int64_t plane,
			int64_t pitch, const struct cpu_few_epilogue *epilogue, float *spare);
	/* The number of out channels in a block of packed weights, which are [out channel /
	 * block][in channel][row][column][out channel % block], padded with zeros. */
	int64_t (*block)(int64_t out_channels);
	void (*correlate)(const struct cpu_few *f, const float *in, const float *weights,
			  float *out);
	/* Size of a gradient's sums in floats. */
	int64_t (*sums)(const struct cpu_few *f);
	/* sums += in x out of one image, whose out planes are 0 between elements. */
	void (*gradient)(const struct cpu_few *f, const float *in, const float *out, float *sums);
	/* The gradient [out channel][in channel][row][column] from the sums. */
	void (*fold)(const struct cpu_few *f, const float *sums, float *gradient);
};

#endif
