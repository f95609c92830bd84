/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The entries of tenon.nn/1, one file per family.
 */
#ifndef ONEDNN_LAYERS_H
#define ONEDNN_LAYERS_H

#include <tenon/plugin.h>

tn_status onednn_conv2d_forward(void *device, const struct tn_conv2d_args *args);
tn_status onednn_conv2d_input_gradient(void *device, const struct tn_conv2d_args *args);
tn_status onednn_conv2d_weight_gradient(void *device, const struct tn_conv2d_args *args);
tn_status onednn_pool2d_forward(void *device, const struct tn_pool2d_args *args);
tn_status onednn_pool2d_backward(void *device, const struct tn_pool2d_args *args);
/* Of pool2d, with arguments already taken and shapes checked. */
tn_status onednn_max_pool(void *device, const struct tn_pool2d_args *args, int is_backward,
			  const char *name);
tn_status onednn_batch_norm_forward(void *device, const struct tn_norm_args *args);
tn_status onednn_batch_norm_backward(void *device, const struct tn_norm_args *args);
tn_status onednn_layer_norm_forward(void *device, const struct tn_norm_args *args);
tn_status onednn_layer_norm_backward(void *device, const struct tn_norm_args *args);
tn_status onednn_softmax_forward(void *device, const struct tn_softmax_args *args);
tn_status onednn_softmax_backward(void *device, const struct tn_softmax_args *args);

#endif
