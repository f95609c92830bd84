/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Weights of a convolution in the backend's own form.
 */
#ifndef TN_LAYERS_PREPACK_H
#define TN_LAYERS_PREPACK_H

#include "layers/conv2d.h"
#include "layers/window.h"
/* Weights in the form that the device's own backend reads fastest, for forwards with an x of that
 * shape and those strides: an array of bytes, or NULL in *packed where the backend has none.  The
 * caller drops it when w changes. */
tn_status tn_conv2d_prepack(const tn_array *x, const tn_array *w, const tn_array *bias,
			    const struct tn_window *window, const struct tn_conv2d_finish *finish,
			    tn_array **packed);

#endif
