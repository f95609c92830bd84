/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The augmentation of one picture.
 */
#ifndef TN_DATA_AUGMENT_H
#define TN_DATA_AUGMENT_H

#include "data/augment_plan.h"

/* Augments a picture, f32 (channels, height, width), in place.  The result is a function of plan,
 * seed, epoch, number (below 2^32) and the picture alone.  Any thread, with a scratch of its own
 * (tn_augment_scratch). */
void tn_augment_image(const struct tn_augment_plan *plan, uint64_t seed, uint64_t epoch,
		      uint64_t number, float *image, float *scratch);

#endif
