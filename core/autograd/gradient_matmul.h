/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The backward of a product.
 */
#ifndef TN_AUTOGRAD_GRADIENT_MATMUL_H
#define TN_AUTOGRAD_GRADIENT_MATMUL_H

#include "autograd/node.h"
tn_status tn_matmul_backward(struct tn_node *node, tn_array *dy);

#endif
