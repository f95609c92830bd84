/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Table tenon.nn/1.  What is not here the host composes.
 */
#include "nn.h"

#include "conv2d.h"
#include "pool2d.h"

const struct tn_nn_table cpu_nn_table = {
	.struct_size = sizeof(cpu_nn_table),
	.conv2d_forward = cpu_conv2d_forward,
	.conv2d_input_gradient = cpu_conv2d_input_gradient,
	.conv2d_prepack = cpu_conv2d_prepack,
	.conv2d_weight_gradient = cpu_conv2d_weight_gradient,
	.pool2d_backward = cpu_pool2d_backward,
	.pool2d_forward = cpu_pool2d_forward,
};
