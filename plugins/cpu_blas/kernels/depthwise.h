/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Convolution of each channel with a window of its own, channels last:
 *
 *     y[n,p,q,c] = sum over r, s of  weights[r,s,c]
 *                  x[n, p stride0 + r dilation0 - top, q stride1 + s dilation1 - left, c]
 */
#ifndef CPU_DEPTHWISE_H
#define CPU_DEPTHWISE_H

#include <stdint.h>

/* Padding after the channels of weights and bias, to fill a vector if there are few channels. */
#define CPU_DEPTHWISE_LANES 16

struct cpu_depthwise {
	int64_t c, h, w, p, q, r, s;
	int64_t stride[2], dilation[2];
	int64_t padding[2]; /* top, left */
	float *x, *y;
	int64_t x_image, x_row, x_pixel; /* strides, in elements */
	int64_t y_image, y_row, y_pixel;
	float *weights; /* rows of `weights_row` channels, one per tap */
	int64_t weights_row;
	/* Forward: y := min(max(sum + bias + residual, low), high), where NaN stays. */
	const float *bias, *residual; /* NULL: none */
	int64_t residual_image, residual_row, residual_pixel;
	float low, high;
	int accumulate; /* input gradient: x += */
};

/* Images, rows (of y; for the input gradient, of x) and channels of one piece of work.  Channels
 * begin at multiples of CPU_DEPTHWISE_LANES. */
struct cpu_depthwise_box {
	int64_t image, images, row, rows, channel, channels;
};

struct cpu_depthwise_kernels {
	void (*forward)(const struct cpu_depthwise *d, const struct cpu_depthwise_box *box);
	void (*input_gradient)(const struct cpu_depthwise *d, const struct cpu_depthwise_box *box);
	/* weights += the contribution of the box. */
	void (*weight_gradient)(const struct cpu_depthwise *d, const struct cpu_depthwise_box *box);
};

#endif
