/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Pooling over windows of planes, in any layout.  Axes are N, C, H, W; strides are in elements.
 */
#ifndef CPU_POOL_H
#define CPU_POOL_H

#include <stdint.h>

struct cpu_pool {
	int64_t n, c, h, w; /* of x */
	int64_t p, q;       /* rows and columns of y */
	int64_t kernel[2], stride[2];
	int64_t padding[2]; /* top, left */
	float *x, *y;
	int32_t *index; /* NULL: none */
	int64_t x_stride[4], y_stride[4], index_stride[4];
	int by_channel; /* C > 1 and the channels of x, y and index are contiguous */
	int count_padding;
	int accumulate; /* backward */
};

/* Each call does the units begin..end-1: forward n p rows of y; backward n h rows of x by channel,
 * else n c planes of x. */
struct cpu_pool_kernels {
	void (*max)(const struct cpu_pool *pool, int64_t begin, int64_t end);
	void (*average)(const struct cpu_pool *pool, int64_t begin, int64_t end);
	void (*max_backward)(const struct cpu_pool *pool, int64_t begin, int64_t end);
	void (*average_backward)(const struct cpu_pool *pool, int64_t begin, int64_t end);
};

/* Adjacent windows of 2x2, all whole, and rows of x, y and index without gaps. */
static inline int cpu_pool_is_pairs(const struct cpu_pool *pool)
{
	int64_t c = pool->by_channel ? pool->c : 1;
	return pool->kernel[0] == 2 && pool->kernel[1] == 2 && pool->stride[0] == 2 &&
	       pool->stride[1] == 2 && !pool->padding[0] && !pool->padding[1] &&
	       2 * pool->p <= pool->h && 2 * pool->q <= pool->w && pool->x_stride[3] == c &&
	       pool->y_stride[3] == c && (!pool->index || pool->index_stride[3] == c);
}

/* Channels last, and whole windows that do not overlap. */
static inline int cpu_pool_is_apart(const struct cpu_pool *pool)
{
	const int64_t *kernel = pool->kernel, *stride = pool->stride;
	return pool->by_channel && stride[0] >= kernel[0] && stride[1] >= kernel[1] &&
	       !pool->padding[0] && !pool->padding[1] &&
	       (pool->p - 1) * stride[0] + kernel[0] <= pool->h &&
	       (pool->q - 1) * stride[1] + kernel[1] <= pool->w;
}

#endif
