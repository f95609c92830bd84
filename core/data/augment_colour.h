/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Changes of colour, as torchvision defines them, of values from 0 to 1 in planes: n grey values,
 * or n of each of red, green and blue.  Saturation and hue of grey values do not change.
 */
#ifndef TN_DATA_AUGMENT_COLOUR_H
#define TN_DATA_AUGMENT_COLOUR_H

#include "data/augment_draw.h"
#include "data/augment_plan.h"

void tn_adjust_brightness(float *image, uint32_t channels, size_t n, float factor);
void tn_adjust_contrast(float *image, uint32_t channels, size_t n, float factor);
void tn_adjust_saturation(float *image, uint32_t channels, size_t n, float factor);
void tn_adjust_hue(float *image, uint32_t channels, size_t n, float turn); /* -0.5 to 0.5 */

/* The four, with drawn factors in a drawn order, on a normalised picture. */
void tn_jitter_colours(const struct tn_augment_plan *plan, struct tn_draws *draws, float *image);

#endif
