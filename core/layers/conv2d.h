/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Convolutions and their gradients, by the route of the slots (dispatch/route.h).  Nothing is
 * recorded: conv2d_layer.c builds a layer from them.  Formulas and shapes are those of
 * <tenon/backend.h>; functions that make arrays follow the rules of <tenon/array.h>, and errors are
 * kept.
 */
#ifndef TN_LAYERS_CONV2D_H
#define TN_LAYERS_CONV2D_H

#include "array/array.h"
#include "layers/window.h"

struct tn_conv2d;

tn_array *tn_conv2d_forward(const tn_array *x, const tn_array *w, const tn_array *bias,
			    const struct tn_window *window);

/* The epilogue of a convolution, and what is known of its weights; zeros: none.  Where the
 * backend's call does not include the epilogue, it is a separate step. */
struct tn_conv2d_finish {
	const tn_array *residual; /* like y */
	uint32_t activation;      /* TN_ACTIVATION_..., of (the sum + bias + residual) */
	const tn_array *packed;   /* w, as tn_conv2d_prepack made it for such a call */
	int has_constants;        /* w and bias stay as they are: weights of a frozen network */
};

tn_array *tn_conv2d_forward_finished(const tn_array *x, const tn_array *w, const tn_array *bias,
				     const struct tn_window *window,
				     const struct tn_conv2d_finish *finish);
tn_array *tn_conv2d_input_gradient(const tn_array *dy, const tn_array *w, const int64_t x_shape[4],
				   const struct tn_window *window);
/* dw := or += (accumulate) */
tn_status tn_conv2d_weight_gradient(tn_array *dw, const tn_array *x, const tn_array *dy,
				    const struct tn_window *window, int accumulate);

/* The two steps of a forward that packing the weights takes too.
 * The report is filled on failure. */

/* Checks x, w and bias (of any layout), and makes y. */
tn_status tn_conv2d_begin(struct tn_conv2d *conv, const struct tn_window *window);
/* Fills arguments with the window and the operands. */
void tn_conv2d_args_of(struct tn_conv2d_args *args, const struct tn_conv2d *conv);

#endif
