/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Random orders and numbers for the data loader, as functions of (seed, epoch).
 */
#ifndef TN_DATA_SHUFFLE_H
#define TN_DATA_SHUFFLE_H

#include <stdint.h>

/* The streams of tn_random that the data loader uses: one for each epoch, in the low bits. */
#define TN_STREAM_SHUFFLE ((uint64_t)0x5348 << 48)   /* "SH" */
#define TN_STREAM_AUGMENT ((uint64_t)0x4155 << 48)   /* "AU" */
#define TN_STREAM_TRANSFORM ((uint64_t)0x5452 << 48) /* "TR" */
#define TN_STREAM_WEIGHTED ((uint64_t)0x5745 << 48)  /* "WE" */
#define TN_STREAM_FOLD ((uint64_t)0x464f << 48)      /* "FO" */

/* order := a uniformly random permutation of the numbers 0 .. n - 1. */
void tn_shuffle(uint64_t seed, uint64_t epoch, uint32_t *order, uint64_t n);
/* The same of a stream. */
void tn_permute(uint64_t seed, uint64_t stream, uint32_t *order, uint64_t n);

/* order := n numbers drawn with replacement; `until` has the sums of the weights of 0 to i. */
void tn_draw_weighted(uint64_t seed, uint64_t epoch, const double *until, uint32_t *order,
		      uint64_t n);

/* A number from 0 to bound - 1 computed from one word, uniform to within bound / 2^32. */
static inline uint32_t tn_lot(uint32_t word, uint32_t bound)
{
	return (uint32_t)((uint64_t)word * bound >> 32);
}

#endif
