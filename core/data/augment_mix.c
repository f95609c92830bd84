/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Partners form cycles i, i + r, i + 2 r, ... mod n.  Along a cycle each picture is mixed before
 * its partner, so that the partner is still as it was; the last one's partner is the first, which
 * is kept in the scratch.
 */
#include "data/augment_mix.h"

#include <math.h>
#include <string.h>

#include "data/augment_draw.h"

/* A batch to be mixed. */
struct mixture {
	const struct tn_augment_plan *plan;
	uint64_t seed;
	uint64_t epoch;
};

/* part * own + (1 - part) * other */
static void blend(float *own, const float *other, size_t n, double part)
{
	float a = (float)part, b = (float)(1 - part);
	for (size_t i = 0; i < n; i++)
		own[i] = a * own[i] + b * other[i];
}

/* Replaces the part of a rectangle, drawn with an area of 1 - kept but cut at the border, by the
 * partner's.  Returns the part that is kept. */
static double paste(const struct tn_augment_plan *plan, struct tn_draws *draws, double kept,
		    float *image, const float *partner)
{
	double half = 0.5 * sqrt(1 - kept);
	int64_t x = tn_draw_below(draws, plan->width), half_width = (int64_t)(half * plan->width);
	int64_t y = tn_draw_below(draws, plan->height),
		half_height = (int64_t)(half * plan->height);
	int64_t left = x > half_width ? x - half_width : 0;
	int64_t top = y > half_height ? y - half_height : 0;
	int64_t right = x + half_width < plan->width ? x + half_width : plan->width;
	int64_t bottom = y + half_height < plan->height ? y + half_height : plan->height;
	size_t plane = tn_augment_plane(plan);
	for (uint32_t c = 0; c < plan->channels; c++) {
		for (int64_t line = top; line < bottom; line++) {
			size_t at = c * plane + (size_t)(line * plan->width + left);
			memcpy(image + at, partner + at, (size_t)(right - left) * sizeof(*image));
		}
	}
	return 1 - (double)((right - left) * (bottom - top)) / (double)plane;
}

/* Mixes one picture, `number` of the epoch, with its partner. */
static void mix_one(const struct mixture *mixture, uint64_t number, float *image, float *target,
		    const float *partner, const float *partner_target)
{
	const struct tn_augment_plan *plan = mixture->plan;
	const struct tn_augmentation *options = &plan->options;
	struct tn_draws draws = tn_draws_of(TN_DRAW_CUTMIX, mixture->seed, mixture->epoch, number);
	double kept;
	if (tn_draw_chance(&draws, options->cutmix_prob)) {
		kept = tn_draw_beta(&draws, options->cutmix_alpha);
		kept = paste(plan, &draws, kept, image, partner);
		blend(target, partner_target, plan->n_classes, kept);
		return;
	}
	draws = tn_draws_of(TN_DRAW_MIXUP, mixture->seed, mixture->epoch, number);
	if (tn_draw_chance(&draws, options->mixup_prob)) {
		kept = tn_draw_beta(&draws, options->mixup_alpha);
		blend(image, partner, tn_augment_image_size(plan), kept);
		blend(target, partner_target, plan->n_classes, kept);
	}
}

void tn_augment_mix(const struct tn_augment_plan *plan, uint64_t seed, uint64_t epoch,
		    uint64_t index, uint32_t n, float *images, float *targets, float *scratch)
{
	struct mixture mixture = {plan, seed, epoch};
	struct tn_draws draws = tn_draws_of(TN_DRAW_PARTNER, seed, epoch, index);
	size_t size = tn_augment_image_size(plan), classes = plan->n_classes;
	float *first_target = scratch + size;
	if (!plan->mixes || n < 2)
		return;
	uint32_t step = 1 + tn_draw_below(&draws, n - 1);
	for (uint32_t first = 0, mixed = 0; mixed < n; first++) {
		memcpy(scratch, images + first * size, size * sizeof(*scratch));
		memcpy(first_target, targets + first * classes, classes * sizeof(*targets));
		uint32_t i = first, next;
		do {
			next = (uint32_t)(((uint64_t)i + step) % n);
			int last = next == first;
			mix_one(&mixture, index + i, images + i * size, targets + i * classes,
				last ? scratch : images + next * size,
				last ? first_target : targets + next * classes);
			i = next;
			mixed++;
		} while (next != first);
	}
}
