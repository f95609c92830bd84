/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Adjusts brightness, contrast, saturation and hue of one picture, with torchvision's formulas.
 */
#include "data/augment_colour.h"

#include <math.h>

static float clamped(float value)
{
	return value < 0 ? 0 : value > 1 ? 1 : value;
}

/* The luminance of ITU-R BT.601, with torchvision's digits. */
static float grey_of(float red, float green, float blue)
{
	return 0.2989f * red + 0.587f * green + 0.114f * blue;
}

void tn_adjust_brightness(float *image, uint32_t channels, size_t n, float factor)
{
	for (size_t i = 0; i < channels * n; i++)
		image[i] = clamped(factor * image[i]);
}

/* Away from or towards the mean of the grey picture. */
void tn_adjust_contrast(float *image, uint32_t channels, size_t n, float factor)
{
	double sum = 0;
	for (size_t i = 0; i < n; i++)
		sum += (double)(channels == 3 ? grey_of(image[i], image[n + i], image[2 * n + i])
					      : image[i]);
	float middle = (1 - factor) * (float)(sum / (double)n);
	for (size_t i = 0; i < channels * n; i++)
		image[i] = clamped(factor * image[i] + middle);
}

/* Away from or towards each pixel's grey. */
void tn_adjust_saturation(float *image, uint32_t channels, size_t n, float factor)
{
	if (channels != 3)
		return;
	for (size_t i = 0; i < n; i++) {
		float *pixel = image + i;
		float grey = (1 - factor) * grey_of(pixel[0], pixel[n], pixel[2 * n]);
		for (int c = 0; c < 3; c++)
			pixel[c * n] = clamped(factor * pixel[c * n] + grey);
	}
}

/* Turns the hue, the position in the sequence red, yellow, green, cyan, blue, magenta, with value
 * (the largest of the three) and saturation kept. */
static void turn_hue(float *red, float *green, float *blue, float turn)
{
	float most = fmaxf(*red, fmaxf(*green, *blue)), least = fminf(*red, fminf(*green, *blue));
	float range = most - least, hue;
	if (!(range > 0))
		return;
	if (*red == most)
		hue = (*green - *blue) / range;
	else if (*green == most)
		hue = 2 + (*blue - *red) / range;
	else
		hue = 4 + (*red - *green) / range;
	hue = hue / 6 + turn;
	hue -= floorf(hue);
	if (!(hue >= 0)) /* one of the three is NaN: the pixel has no hue, and stays */
		return;
	float saturation = range / most;
	float sixth = floorf(hue * 6), part = hue * 6 - sixth;
	float p = clamped(most * (1 - saturation));
	float q = clamped(most * (1 - saturation * part));
	float t = clamped(most * (1 - saturation * (1 - part)));
	const float rgb[6][3] = {{most, t, p}, {q, most, p}, {p, most, t},
				 {p, q, most}, {t, p, most}, {most, p, q}};
	const float *turned = rgb[(int)sixth % 6];
	*red = turned[0];
	*green = turned[1];
	*blue = turned[2];
}

void tn_adjust_hue(float *image, uint32_t channels, size_t n, float turn)
{
	if (channels != 3)
		return;
	for (size_t i = 0; i < n; i++)
		turn_hue(&image[i], &image[n + i], &image[2 * n + i], turn);
}

/* A factor from max(0, 1 - strength) to 1 + strength. */
static float draw_factor(struct tn_draws *draws, double strength)
{
	return (float)tn_draw_between(draws, strength < 1 ? 1 - strength : 0, 1 + strength);
}

void tn_jitter_colours(const struct tn_augment_plan *plan, struct tn_draws *draws, float *image)
{
	const struct tn_augmentation *options = &plan->options;
	size_t n = tn_augment_plane(plan);
	uint32_t channels = plan->channels;
	int order[4] = {0, 1, 2, 3};
	for (uint32_t i = 3; i > 0; i--) {
		uint32_t j = tn_draw_below(draws, i + 1);
		int taken = order[i];
		order[i] = order[j];
		order[j] = taken;
	}
	float brightness = draw_factor(draws, options->brightness);
	float contrast = draw_factor(draws, options->contrast);
	float saturation = draw_factor(draws, options->saturation);
	float hue = (float)tn_draw_between(draws, -options->hue, options->hue);
	for (uint32_t c = 0; c < channels; c++) {
		for (size_t i = c * n; i < (c + 1) * n; i++)
			image[i] = clamped(image[i] * plan->deviation[c] + plan->mean[c]);
	}
	for (int i = 0; i < 4; i++) {
		if (order[i] == 0 && options->brightness > 0)
			tn_adjust_brightness(image, channels, n, brightness);
		if (order[i] == 1 && options->contrast > 0)
			tn_adjust_contrast(image, channels, n, contrast);
		if (order[i] == 2 && options->saturation > 0)
			tn_adjust_saturation(image, channels, n, saturation);
		if (order[i] == 3 && options->hue > 0)
			tn_adjust_hue(image, channels, n, hue);
	}
	for (uint32_t c = 0; c < channels; c++) {
		for (size_t i = c * n; i < (c + 1) * n; i++)
			image[i] = (image[i] - plan->mean[c]) / plan->deviation[c];
	}
}
