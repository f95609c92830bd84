/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Shared by the three passes of depthwise convolution: blocks of neighbouring columns of a row,
 * some of whose neighbours are outside the plane.
 */
#ifndef CPU_DEPTHWISE_BLOCK_H
#define CPU_DEPTHWISE_BLOCK_H

#include "depthwise.h"
#include "variant.h"
#include "vector.h"

#define INLINE static inline __attribute__((always_inline))
#define WIDEST 8 /* columns of a block */

/* Columns begin..end-1 that a block reads are inside the plane. */
struct reach {
	int begin, end;
};

INLINE struct reach reach_of(int64_t first, int64_t length, int columns)
{
	int64_t end = length - first;
	return (struct reach){first < 0 ? (int)(-first < columns ? -first : columns) : 0,
			      end < columns ? (int)(end > 0 ? end : 0) : columns};
}

/* The first n elements, at most a vector. */
static inline vf load(const float *x, int64_t n)
{
	return n == LANES ? vf_load(x) : vf_load_first(x, n);
}

#endif
