/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A strided input gradient as gradients with stride 1: every tap meets the pixels of one residue
 * only, so each residue of the pixels is a convolution of its own with some of the taps.
 */
#ifndef CUDA_CONV2D_PHASE_H
#define CUDA_CONV2D_PHASE_H

#include "plugin.h"

/* The next of the input gradients that together are this one: in order, later ones overwrite.
 * *number: 0 at the first call.  One may have no taps: it sets pixels to zero.  0: there are no
 * more. */
int cuda_conv2d_next_phase(const struct tn_conv2d_args *args, int64_t *number,
			   struct tn_conv2d_args *part);

#endif
