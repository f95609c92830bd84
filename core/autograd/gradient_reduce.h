/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Backwards of reductions, and functions shared with others.
 */
#ifndef TN_AUTOGRAD_GRADIENT_REDUCE_H
#define TN_AUTOGRAD_GRADIENT_REDUCE_H

#include "autograd/gradients.h"
#include "autograd/node.h"
tn_status tn_sum_backward(struct tn_node *node, tn_array *dy);
tn_status tn_extremum_backward(struct tn_node *node, tn_array *dy);
tn_status tn_product_backward(struct tn_node *node, tn_array *dy);
tn_status tn_logsumexp_backward(struct tn_node *node, tn_array *dy);

/* g, summed over the axes along which `shape` was broadcast to g's shape. */
tn_array *tn_sum_to_shape(tn_array *g, int rank, const int64_t *shape);
/* A reduction's result with its reduced axes reinserted with length 1. */
tn_array *tn_with_reduced_axes(tn_array *a, const struct tn_recorded *recorded);

#endif
