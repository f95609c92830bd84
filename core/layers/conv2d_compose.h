/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * One convolution, checked, and its compositions from copies, products and maps.
 */
#ifndef TN_LAYERS_CONV2D_COMPOSE_H
#define TN_LAYERS_CONV2D_COMPOSE_H

#include "array/array.h"
#include "dispatch/operations.h"
#include "layers/window.h"

/* x = (N, C, H, W), w = (O, C / G, R, S), y = (N, O, P, Q).  One of x, w and y is written.
 * Compositions support neither residual nor activation. */
struct tn_conv2d {
	struct tn_runtime *runtime;
	enum tn_operation operation;
	struct tn_window window;
	tn_array *x;
	tn_array *w;
	tn_array *y;
	tn_array *bias; /* may be NULL, like the next two */
	tn_array *residual;
	tn_array *packed;
	uint32_t activation;
	int has_constants; /* w and bias stay as they are */
	int accumulate;    /* weight gradient: add to w */
	int64_t N, C, H, W, O, R, S, P, Q, G;
};

/* Compositions of a struct tn_conv2d without empty arrays. */
tn_status tn_compose_conv2d(void *conv);
tn_status tn_compose_conv2d_input_gradient(void *conv);
tn_status tn_compose_conv2d_weight_gradient(void *conv);

#endif
