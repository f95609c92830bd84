/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * RandAugment: a few operations drawn from a list, all of one magnitude.
 *
 *   E. Cubuk, B. Zoph, J. Shlens, Q. Le: RandAugment: Practical automated data augmentation with a
 *   reduced search space.  NeurIPS 2020.
 */
#ifndef TN_DATA_AUGMENT_RANDOM_H
#define TN_DATA_AUGMENT_RANDOM_H

#include "data/augment_draw.h"
#include "data/augment_geometry.h"

void tn_random_augment(struct tn_canvas *canvas, struct tn_draws *draws);

#endif
