/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Backwards of views, copies, takes and concatenations.
 */
#ifndef TN_AUTOGRAD_GRADIENT_VIEW_H
#define TN_AUTOGRAD_GRADIENT_VIEW_H

#include "autograd/node.h"
tn_status tn_reshape_backward(struct tn_node *node, tn_array *dy);
tn_status tn_transpose_backward(struct tn_node *node, tn_array *dy);
tn_status tn_slice_backward(struct tn_node *node, tn_array *dy);
tn_status tn_broadcast_backward(struct tn_node *node, tn_array *dy);
tn_status tn_window_backward(struct tn_node *node, tn_array *dy);
tn_status tn_diagonal_backward(struct tn_node *node, tn_array *dy);
tn_status tn_copy_backward(struct tn_node *node, tn_array *dy);
tn_status tn_take_backward(struct tn_node *node, tn_array *dy);
tn_status tn_take_along_axis_backward(struct tn_node *node, tn_array *dy);
tn_status tn_concatenate_backward(struct tn_node *node, tn_array *dy);

#endif
