/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Random numbers of augmentations.  Each kind of augmentation has a stream of tn_random in each
 * epoch, and in it 2^32 words for each picture: what is drawn for one kind and picture depends on
 * nothing else.
 */
#ifndef TN_DATA_AUGMENT_DRAW_H
#define TN_DATA_AUGMENT_DRAW_H

#include <stddef.h>
#include <stdint.h>

/* Never renumbered: results would change. */
enum tn_draw_kind {
	TN_DRAW_RESIZED_CROP = 0,
	TN_DRAW_CROP = 1,
	TN_DRAW_ROLL = 2,
	TN_DRAW_ROTATE = 3,
	TN_DRAW_COLOUR = 4,
	TN_DRAW_NOISE = 5,
	TN_DRAW_CUTOUT = 6,
	TN_DRAW_RANDAUGMENT = 7,
	TN_DRAW_PARTNER = 8,
	TN_DRAW_CUTMIX = 9,
	TN_DRAW_MIXUP = 10,
};

/* The words of one kind and picture, taken in order. */
struct tn_draws {
	uint64_t seed;
	uint64_t stream;
	uint64_t next;
};

struct tn_draws tn_draws_of(enum tn_draw_kind kind, uint64_t seed, uint64_t epoch, uint64_t number);

uint32_t tn_draw_word(struct tn_draws *draws);
double tn_draw_between(struct tn_draws *draws, double low, double high); /* uniform */
/* From 0 to bound - 1, uniform to within bound / 2^32. */
uint32_t tn_draw_below(struct tn_draws *draws, uint32_t bound);
int tn_draw_chance(struct tn_draws *draws, double probability);
/* n words from the next multiple of 4 on. */
void tn_draw_block(struct tn_draws *draws, uint32_t *out, size_t n);
/* Beta(alpha, alpha), 0 < alpha <= 1000. */
double tn_draw_beta(struct tn_draws *draws, double alpha);

/* 1 with that probability, for a word: the upper words are hits. */
int tn_chance(uint32_t word, double probability);

#endif
