/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Table tenon.nn/1.  oneDNN has no primitive for cross-entropy: the host composes it.
 */
#include "layers.h"

#include "plugin.h"

const struct tn_nn_table onednn_nn_table = {
	.struct_size = sizeof(onednn_nn_table),
	.conv2d_forward = onednn_conv2d_forward,
	.conv2d_input_gradient = onednn_conv2d_input_gradient,
	.conv2d_weight_gradient = onednn_conv2d_weight_gradient,
	.pool2d_forward = onednn_pool2d_forward,
	.pool2d_backward = onednn_pool2d_backward,
	.batch_norm_forward = onednn_batch_norm_forward,
	.batch_norm_backward = onednn_batch_norm_backward,
	.layer_norm_forward = onednn_layer_norm_forward,
	.layer_norm_backward = onednn_layer_norm_backward,
	.softmax_forward = onednn_softmax_forward,
	.softmax_backward = onednn_softmax_backward,
};
