/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Table tenon.nn/1 and its entries.
 */
#ifndef CUDA_NN_H
#define CUDA_NN_H

#include "plugin.h"

tn_status cuda_batch_norm_backward(void *device, const struct tn_norm_args *args);
tn_status cuda_batch_norm_forward(void *device, const struct tn_norm_args *args);
tn_status cuda_conv2d_forward(void *device, const struct tn_conv2d_args *args);
tn_status cuda_conv2d_input_gradient(void *device, const struct tn_conv2d_args *args);
tn_status cuda_conv2d_weight_gradient(void *device, const struct tn_conv2d_args *args);
tn_status cuda_cross_entropy_backward(void *device, const struct tn_cross_entropy_args *args);
tn_status cuda_cross_entropy_forward(void *device, const struct tn_cross_entropy_args *args);
tn_status cuda_group_norm_backward(void *device, const struct tn_norm_args *args);
tn_status cuda_group_norm_forward(void *device, const struct tn_norm_args *args);
tn_status cuda_layer_norm_backward(void *device, const struct tn_norm_args *args);
tn_status cuda_layer_norm_forward(void *device, const struct tn_norm_args *args);
tn_status cuda_pool2d_backward(void *device, const struct tn_pool2d_args *args);
tn_status cuda_pool2d_forward(void *device, const struct tn_pool2d_args *args);
tn_status cuda_softmax_backward(void *device, const struct tn_softmax_args *args);
tn_status cuda_softmax_forward(void *device, const struct tn_softmax_args *args);

extern const struct tn_nn_table cuda_nn_table;

#endif
