/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Pooling and its gradient, by the route of the slots (dispatch/route.h).  Nothing is recorded;
 * errors are kept.
 */
#ifndef TN_LAYERS_POOL2D_H
#define TN_LAYERS_POOL2D_H

#include <tenon/array.h>

#include "layers/window.h"

/* `index` may be NULL (not wanted); for max it receives an i32 array. */
tn_array *tn_pool2d_forward(const tn_array *x, const struct tn_window *window, tn_array **index);
tn_array *tn_pool2d_backward(const tn_array *dy, const tn_array *index, const int64_t x_shape[4],
			     const struct tn_window *window);

#endif
