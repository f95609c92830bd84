/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Softmax and its logarithm, and their gradients.  Nothing is recorded; errors are kept.
 */
#ifndef TN_LAYERS_SOFTMAX_H
#define TN_LAYERS_SOFTMAX_H

#include <tenon/array.h>

tn_array *tn_softmax_forward(const tn_array *x, int axis, int logarithm);
tn_array *tn_softmax_backward(const tn_array *y, const tn_array *dy, int axis, int logarithm);

#endif
