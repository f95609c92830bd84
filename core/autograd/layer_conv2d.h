/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * From the public options of a convolution to the array layer's.
 */
#ifndef TN_AUTOGRAD_LAYER_CONV2D_H
#define TN_AUTOGRAD_LAYER_CONV2D_H

#include <tenon/autograd.h>

#include "ops/window.h"

/* Defaults for what is 0; struct_size is not read. */
struct tn_window tn_conv2d_window(const struct tn_conv2d_options *options);

#endif
