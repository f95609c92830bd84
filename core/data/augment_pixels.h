/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Changes of the normalised values of one picture: noise and cutout.
 *
 *   T. DeVries, G. Taylor: Improved regularization of convolutional neural networks with cutout.
 *   arXiv:1708.04552 (2017).
 */
#ifndef TN_DATA_AUGMENT_PIXELS_H
#define TN_DATA_AUGMENT_PIXELS_H

#include "data/augment_draw.h"
#include "data/augment_plan.h"

/* Adds normal noise; clips the values to -clip .. clip, unless it is 0. */
void tn_add_noise(const struct tn_augment_plan *plan, struct tn_draws *draws, double deviation,
		  double clip, float *image);

/* Sets a square of `size` pixels a side to 0, where its centre, anywhere in the picture, allows. */
void tn_cut_out(const struct tn_augment_plan *plan, struct tn_draws *draws, uint32_t size,
		float *image);

#endif
