/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Table tenon.nn/1.  The host composes the missing slots.
 */
#include "nn.h"

#include "conv2d.h"
#include "norm.h"
#include "pool2d.h"
#include "softmax.h"

const struct tn_nn_table cpu_nn_table = {
	.struct_size = sizeof(cpu_nn_table),
	.batch_norm_backward = cpu_batch_norm_backward,
	.batch_norm_forward = cpu_batch_norm_forward,
	.conv2d_forward = cpu_conv2d_forward,
	.conv2d_input_gradient = cpu_conv2d_input_gradient,
	.conv2d_prepack = cpu_conv2d_prepack,
	.conv2d_weight_gradient = cpu_conv2d_weight_gradient,
	.cross_entropy_backward = cpu_cross_entropy_backward,
	.cross_entropy_forward = cpu_cross_entropy_forward,
	.group_norm_backward = cpu_group_norm_backward,
	.group_norm_forward = cpu_group_norm_forward,
	.layer_norm_backward = cpu_layer_norm_backward,
	.layer_norm_forward = cpu_layer_norm_forward,
	.pool2d_backward = cpu_pool2d_backward,
	.pool2d_forward = cpu_pool2d_forward,
	.softmax_backward = cpu_softmax_backward,
	.softmax_forward = cpu_softmax_forward,
};
