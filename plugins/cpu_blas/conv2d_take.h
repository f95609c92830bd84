/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The arguments of a convolution.
 */
#ifndef CPU_CONV2D_TAKE_H
#define CPU_CONV2D_TAKE_H

#include "conv2d.h"

/* Checks the arguments of conv->pass and fills `conv` except its images, packed weights and
 * workspace.  `name` is the operation in errors, NULL for that of the pass. */
tn_status cpu_conv_take(struct cpu_conv *conv, struct tn_conv2d_args *taken,
			const struct tn_conv2d_args *args, const char *name);

/* Are an operand's channels contiguous? */
int cpu_is_channels_last(const struct tn_operand *operand);

/* The images of such an operand. */
struct cpu_images cpu_images_of(const struct tn_operand *operand);

#endif
