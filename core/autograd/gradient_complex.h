/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Backwards of operations on complex arrays.
 */
#ifndef TN_AUTOGRAD_GRADIENT_COMPLEX_H
#define TN_AUTOGRAD_GRADIENT_COMPLEX_H

#include "autograd/node.h"

tn_status tn_complex_backward(struct tn_node *node, tn_array *dy);
tn_status tn_part_backward(struct tn_node *node, tn_array *dy);

#endif
