/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fisher and Yates's shuffle (Knuth, The Art of Computer Programming, volume 2, algorithm P) over
 * words of tn_random, taken in order.  Numbers below a bound are drawn without bias by rejection:
 * D. Lemire, "Fast random integer generation in an interval", ACM TOMACS 29 (2019).
 */
#include "data/shuffle.h"

#include "program/random.h"

#define BLOCK 256

/* A stream of random words. */
struct words {
	uint64_t seed;
	uint64_t stream;
	uint64_t next; /* the first word after the block */
	uint32_t used;
	uint32_t block[BLOCK];
};

static uint32_t next_word(struct words *words)
{
	if (words->used == BLOCK) {
		tn_random_block(words->seed, words->stream, words->next, words->block, BLOCK);
		words->next += BLOCK;
		words->used = 0;
	}
	return words->block[words->used++];
}

/* Uniform from 0 to bound - 1: products word * bound whose low half falls into the uneven rest of
 * 2^32 are drawn again. */
static uint32_t draw_below(struct words *words, uint32_t bound)
{
	uint64_t product = (uint64_t)next_word(words) * bound;
	if ((uint32_t)product < bound) {
		uint32_t rest = (uint32_t)-bound % bound;
		while ((uint32_t)product < rest)
			product = (uint64_t)next_word(words) * bound;
	}
	return (uint32_t)(product >> 32);
}

void tn_shuffle(uint64_t seed, uint64_t epoch, uint32_t *order, uint64_t n)
{
	struct words words = {.seed = seed, .stream = TN_STREAM_SHUFFLE + epoch, .used = BLOCK};
	for (uint64_t i = 0; i < n; i++)
		order[i] = (uint32_t)i;
	for (uint64_t i = n; i > 1; i--) {
		uint32_t j = draw_below(&words, (uint32_t)i);
		uint32_t taken = order[i - 1];
		order[i - 1] = order[j];
		order[j] = taken;
	}
}
