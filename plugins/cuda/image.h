/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Shared by convolution and pooling: image operands, and windows over them.
 */
#ifndef CUDA_IMAGE_H
#define CUDA_IMAGE_H

#include "operand.h"

/* An operand of that dtype, which is a floating type, and of rank 4. */
tn_status cuda_check_image(const struct tn_call *call, const char *operation, const char *name,
			   const struct tn_operand *operand, tn_dtype dtype,
			   enum tn_plugin_role role);

/* Are the channels contiguous? */
int cuda_is_channels_last(const struct tn_operand *operand);

/* How many windows fit along an axis with its padding; 0: none, or the axis is too long for the
 * kernels' counters. */
int64_t cuda_windows(int64_t length, const int64_t padding[2], int64_t reach, int64_t stride);

#endif
