/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Draws from streams of words.  Beta(a, a): for a > 1 by rejection from the uniform distribution,
 * whose envelope is the density at 1/2; for a < 1 by
 *   M. D. Johnk: Erzeugung von betaverteilten und gammaverteilten Zufallszahlen.  Metrika 8 (1964).
 */
#include "data/augment_draw.h"

#include "data/shuffle.h"
#include "program/exact.h"
#include "program/random.h"

/* Streams from 0x6100 << 48 on, besides those of shuffle.h. */
#define STREAMS ((uint64_t)0x6100 << 48)

struct tn_draws tn_draws_of(enum tn_draw_kind kind, uint64_t seed, uint64_t epoch, uint64_t number)
{
	return (struct tn_draws){.seed = seed,
				 .stream = STREAMS + ((uint64_t)kind << 48) + epoch,
				 .next = number << 32};
}

uint32_t tn_draw_word(struct tn_draws *draws)
{
	return tn_random(draws->seed, draws->stream, draws->next++);
}

double tn_draw_between(struct tn_draws *draws, double low, double high)
{
	return low + (high - low) * ((double)tn_draw_word(draws) * 0x1p-32);
}

uint32_t tn_draw_below(struct tn_draws *draws, uint32_t bound)
{
	return tn_lot(tn_draw_word(draws), bound);
}

int tn_chance(uint32_t word, double probability)
{
	return (double)word >= (1 - probability) * 0x1p32;
}

int tn_draw_chance(struct tn_draws *draws, double probability)
{
	return tn_chance(tn_draw_word(draws), probability);
}

void tn_draw_block(struct tn_draws *draws, uint32_t *out, size_t n)
{
	draws->next = (draws->next + 3) & ~(uint64_t)3;
	tn_random_block(draws->seed, draws->stream, draws->next, out, n);
	draws->next += n;
}

/* Uniform in (0, 1), of 52 bits. */
static double draw_open(struct tn_draws *draws)
{
	uint64_t high = tn_draw_word(draws), low = tn_draw_word(draws);
	return ((double)(high << 20 | low >> 12) + 0.5) * 0x1p-52;
}

/* Draws of a tiny alpha are 0 or 1; of a still smaller one both logarithms would be infinite. */
#define LEAST_ALPHA 1e-100

double tn_draw_beta(struct tn_draws *draws, double alpha)
{
	alpha = alpha > LEAST_ALPHA ? alpha : LEAST_ALPHA;
	for (;;) {
		double u = draw_open(draws), v = draw_open(draws);
		if (alpha >= 1) {
			if (tn_exact_log(v) <= (alpha - 1) * tn_exact_log(4 * u * (1 - u)))
				return u;
			continue;
		}
		/* x = u^(1 / alpha), y = v^(1 / alpha): x / (x + y), if x + y <= 1.  The larger of
		 * the logarithms is taken out, because both powers may be 0. */
		double x = tn_exact_log(u) / alpha, y = tn_exact_log(v) / alpha;
		double top = x > y ? x : y;
		double a = tn_exact_exp(x - top), b = tn_exact_exp(y - top);
		if (tn_exact_exp(top) * (a + b) <= 1)
			return a / (a + b);
	}
}
