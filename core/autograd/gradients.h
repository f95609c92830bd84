/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Backwards of the array layer's operations, one for each kind of record, and what they share.
 */
#ifndef TN_AUTOGRAD_GRADIENTS_H
#define TN_AUTOGRAD_GRADIENTS_H

#include "autograd/tape.h"

/* What an input looked like: a gradient needs it, and not the array, where it reads no elements. */
struct tn_recorded_input {
	int rank;
	tn_dtype dtype;
	int64_t shape[TN_MAX_RANK];
};

/* What a node keeps of its record: everything but the arrays. */
struct tn_recorded {
	struct tn_record record; /* inputs, output and scalars are not valid */
	struct tn_scalar scalars[TN_PROGRAM_MAX_SCALARS];
	int rank; /* of input 0 */
	int64_t shape[TN_MAX_RANK];
	tn_dtype dtype;
	tn_device *device;
	struct tn_recorded_input inputs[TN_NODE_MAX_INPUTS]; /* as many as the node has */
};

tn_status tn_map_backward(struct tn_node *node, tn_array *dy);
tn_status tn_sum_backward(struct tn_node *node, tn_array *dy);
tn_status tn_extremum_backward(struct tn_node *node, tn_array *dy);
tn_status tn_product_backward(struct tn_node *node, tn_array *dy);
tn_status tn_logsumexp_backward(struct tn_node *node, tn_array *dy);
tn_status tn_matmul_backward(struct tn_node *node, tn_array *dy);
tn_status tn_reshape_backward(struct tn_node *node, tn_array *dy);
tn_status tn_transpose_backward(struct tn_node *node, tn_array *dy);
tn_status tn_slice_backward(struct tn_node *node, tn_array *dy);
tn_status tn_broadcast_backward(struct tn_node *node, tn_array *dy);
tn_status tn_window_backward(struct tn_node *node, tn_array *dy);
tn_status tn_copy_backward(struct tn_node *node, tn_array *dy);
tn_status tn_take_backward(struct tn_node *node, tn_array *dy);
tn_status tn_take_along_axis_backward(struct tn_node *node, tn_array *dy);
tn_status tn_cumsum_backward(struct tn_node *node, tn_array *dy);
tn_status tn_cumprod_backward(struct tn_node *node, tn_array *dy);
tn_status tn_cumulative_extremum_backward(struct tn_node *node, tn_array *dy);
tn_status tn_concatenate_backward(struct tn_node *node, tn_array *dy);

/* g, summed over the axes along which `shape` was broadcast to g's shape. */
tn_array *tn_sum_to_shape(tn_array *g, int rank, const int64_t *shape);
/* A reduction's result with its reduced axes back in place with length 1. */
tn_array *tn_with_reduced_axes(tn_array *a, const struct tn_recorded *recorded);

#endif
