/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The list is nnott's.  A magnitude of 1 stands for the largest angle, shift, noise and square of
 * the options, or, where they have none, for those of nnott's defaults.
 */
#include "data/augment_random.h"

#include <math.h>

#include "data/augment_pixels.h"

enum { ROTATE, SHIFT_X, SHIFT_Y, FLIP_LR, FLIP_UD, NOISE, CUTOUT, N_OPERATIONS };

/* In either direction; at least 1 pixel, and less than a line of n. */
static int32_t draw_shift(const struct tn_augmentation *options, struct tn_draws *draws, uint32_t n)
{
	uint32_t most = options->roll ? options->roll : options->max_shift;
	double shift = rint(options->randaugment_magnitude * (most ? most : 2));
	int32_t pixels = shift < 1 ? 1 : shift < n ? (int32_t)shift : (int32_t)n - 1;
	return tn_draw_chance(draws, 0.5) ? pixels : -pixels;
}

void tn_random_augment(struct tn_canvas *canvas, struct tn_draws *draws)
{
	const struct tn_augment_plan *plan = canvas->plan;
	const struct tn_augmentation *options = &plan->options;
	double magnitude = options->randaugment_magnitude;
	double degrees = options->rotate_deg > 0 ? options->rotate_deg : 10;
	double deviation = options->noise_std > 0 ? options->noise_std : 0.02;
	for (uint32_t i = 0; i < options->randaugment_layers; i++) {
		struct tn_line_move down = {0}, right = {0};
		uint32_t operation = tn_draw_below(draws, N_OPERATIONS);
		switch (operation) {
		case ROTATE:
			tn_canvas_rotate(canvas,
					 tn_draw_chance(draws, 0.5) ? magnitude * degrees
								    : -magnitude * degrees,
					 options->rotate_bilinear != 0, options->rotate_mode);
			break;
		case SHIFT_X:
			right.roll = draw_shift(options, draws, plan->width);
			break;
		case SHIFT_Y:
			down.roll = draw_shift(options, draws, plan->height);
			break;
		case FLIP_LR:
			right.mirrored = tn_draw_chance(draws, magnitude);
			break;
		case FLIP_UD:
			down.mirrored = tn_draw_chance(draws, magnitude);
			break;
		case NOISE:
			tn_add_noise(plan, draws, magnitude * deviation, options->noise_clip,
				     canvas->picture);
			break;
		default:
			tn_cut_out(plan, draws,
				   (uint32_t)fmax(1, rint(magnitude * options->cutout_size)),
				   canvas->picture);
		}
		if (down.roll || right.roll || down.mirrored || right.mirrored)
			tn_canvas_move(canvas, &down, &right);
	}
}
