/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The window of a convolution or of pooling.
 */
#ifndef TN_LAYERS_WINDOW_H
#define TN_LAYERS_WINDOW_H

#include <stdint.h>

/* Zero is the default: a convolution's strides, dilations and groups are then 1, a pooling's stride
 * is its kernel. */
struct tn_window {
	int64_t kernel[2]; /* pooling */
	int64_t stride[2];
	int64_t dilation[2]; /* convolution */
	int64_t padding[4];  /* top, left, bottom, right */
	uint32_t groups;     /* convolution */
	uint32_t kind;       /* pooling: TN_POOL_MAX or TN_POOL_AVERAGE */
	uint32_t count_padding;
};

#endif
