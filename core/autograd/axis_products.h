/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Pictures whose rows and columns are combined with given weights: y = A x B^T for each plane.
 */
#ifndef TN_AUTOGRAD_AXIS_PRODUCTS_H
#define TN_AUTOGRAD_AXIS_PRODUCTS_H

#include <tenon/autograd.h>

/* Writes the n x length weights of one axis, row-major, to zeros. */
typedef void (*tn_axis_weights)(const void *user, int axis, int64_t n, int64_t length,
				double *weights);

/* x (N, C, H, W) of at least one row and column to (N, C, output[0], output[1]), recorded as two
 * products.  The error is kept. */
tn_array *tn_axis_products(const char *operation, const tn_array *x, const int64_t output[2],
			   tn_axis_weights weights, const void *user);

#endif
