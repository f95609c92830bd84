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
	tn_permute(seed, TN_STREAM_SHUFFLE + epoch, order, n);
}

void tn_permute(uint64_t seed, uint64_t stream, uint32_t *order, uint64_t n)
{
	struct words words = {.seed = seed, .stream = stream, .used = BLOCK};
	for (uint64_t i = 0; i < n; i++)
		order[i] = (uint32_t)i;
	for (uint64_t i = n; i > 1; i--) {
		uint32_t j = draw_below(&words, (uint32_t)i);
		uint32_t taken = order[i - 1];
		order[i - 1] = order[j];
		order[j] = taken;
	}
}

/* Number i is drawn if until[i - 1] <= u < until[i], for a u of 53 random bits below the sum of all
 * weights: a weight of 0 is never drawn. */
void tn_draw_weighted(uint64_t seed, uint64_t epoch, const double *until, uint32_t *order,
		      uint64_t n)
{
	struct words words = {.seed = seed, .stream = TN_STREAM_WEIGHTED + epoch, .used = BLOCK};
	for (uint64_t k = 0; k < n; k++) {
		uint64_t high = next_word(&words), bits = high << 21 | next_word(&words) >> 11;
		double u = (double)bits * 0x1p-53 * until[n - 1];
		uint64_t first = 0, last = n - 1;
		while (first < last) {
			uint64_t middle = first + (last - first) / 2;
			if (u < until[middle])
				last = middle;
			else
				first = middle + 1;
		}
		order[k] = (uint32_t)first;
	}
}
