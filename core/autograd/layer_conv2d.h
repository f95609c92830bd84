/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Converts the public options of a convolution to the array layer's.
 */
#ifndef TN_AUTOGRAD_LAYER_CONV2D_H
#define TN_AUTOGRAD_LAYER_CONV2D_H

#include <tenon/autograd.h>

#include "ops/window.h"

/* Fields that are 0 get defaults; struct_size is not read. */
struct tn_window tn_conv2d_window(const struct tn_conv2d_options *options);

#endif
