/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The words that one number of a host draw is made of: number i of a call has 2^20 words of its own
 * in the call's stream, so that it is a function of (seed, stream, i), however many of them a
 * rejection uses.
 */
#ifndef TN_RANDOM_WORDS_H
#define TN_RANDOM_WORDS_H

#include <stdint.h>

#include "program/exact.h"
#include "program/random.h"

struct tn_words {
	uint64_t seed;
	uint64_t stream;
	uint64_t next; /* the first word after the block */
	uint32_t used;
	uint32_t block[4];
};

static inline struct tn_words tn_words_of(uint64_t seed, uint64_t stream, uint64_t i)
{
	return (struct tn_words){.seed = seed, .stream = stream, .next = i << 20, .used = 4};
}

static inline uint32_t tn_words_next(struct tn_words *words)
{
	if (words->used == 4) {
		tn_random_block(words->seed, words->stream, words->next, words->block, 4);
		words->next += 4;
		words->used = 0;
	}
	return words->block[words->used++];
}

/* Uniform in (0, 1): (2 k + 1) / 2^53 with k of 52 bits, so that 1 - u has no rounding and is as
 * probable as u, which is never 1/2. */
static inline double tn_words_uniform(struct tn_words *words)
{
	uint64_t high = tn_words_next(words), bits = high << 20 | tn_words_next(words) >> 12;
	return (double)(2 * bits + 1) * 0x1p-53;
}

static inline double tn_words_normal(struct tn_words *words)
{
	return tn_exact_normal(tn_words_uniform(words));
}

static inline double tn_words_exponential(struct tn_words *words)
{
	return -tn_exact_log(tn_words_uniform(words));
}

#endif
