/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Table tenon.nn/1.  The host composes the missing slots.
 */
#include "nn.h"

const struct tn_nn_table cuda_nn_table = {
	.struct_size = sizeof(cuda_nn_table),
	.batch_norm_backward = cuda_batch_norm_backward,
	.batch_norm_forward = cuda_batch_norm_forward,
	.conv2d_forward = cuda_conv2d_forward,
	.conv2d_input_gradient = cuda_conv2d_input_gradient,
	.conv2d_weight_gradient = cuda_conv2d_weight_gradient,
	.cross_entropy_backward = cuda_cross_entropy_backward,
	.cross_entropy_forward = cuda_cross_entropy_forward,
	.group_norm_backward = cuda_group_norm_backward,
	.group_norm_forward = cuda_group_norm_forward,
	.layer_norm_backward = cuda_layer_norm_backward,
	.layer_norm_forward = cuda_layer_norm_forward,
	.pool2d_backward = cuda_pool2d_backward,
	.pool2d_forward = cuda_pool2d_forward,
	.softmax_backward = cuda_softmax_backward,
	.softmax_forward = cuda_softmax_forward,
};
