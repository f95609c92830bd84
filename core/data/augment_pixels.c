/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Adds normal noise to a picture, and cuts a square out of it.
 */
#include "data/augment_pixels.h"

#include <string.h>

#include "program/random.h"

#define BLOCK 256

void tn_add_noise(const struct tn_augment_plan *plan, struct tn_draws *draws, double deviation,
		  double clip, float *image)
{
	uint32_t words[BLOCK];
	float noise[BLOCK], scale = (float)deviation, limit = (float)clip;
	size_t size = tn_augment_image_size(plan);
	for (size_t at = 0; at < size; at += BLOCK) {
		size_t end = size - at < BLOCK ? size : at + BLOCK;
		tn_draw_block(draws, words, end - at);
		tn_normal_block(words, noise, end - at);
		for (size_t i = at; i < end; i++) {
			float value = image[i] + scale * noise[i - at];
			image[i] = value < -limit ? -limit : value > limit ? limit : value;
		}
	}
}

void tn_cut_out(const struct tn_augment_plan *plan, struct tn_draws *draws, uint32_t size,
		float *image)
{
	int64_t left = (int64_t)tn_draw_below(draws, plan->width) - size / 2;
	int64_t top = (int64_t)tn_draw_below(draws, plan->height) - size / 2;
	int64_t right = left + size < plan->width ? left + size : plan->width;
	int64_t bottom = top + size < plan->height ? top + size : plan->height;
	left = left < 0 ? 0 : left;
	top = top < 0 ? 0 : top;
	for (uint32_t c = 0; c < plan->channels; c++, image += tn_augment_plane(plan)) {
		for (int64_t y = top; y < bottom && right > left; y++)
			memset(image + y * plan->width + left, 0,
			       (size_t)(right - left) * sizeof(*image));
	}
}
