/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The table of operations.  A new element operation is a number in operations.h and a row in the
 * file of its subject.
 */
#include "dispatch/operations.h"

#include <math.h>
#include <stddef.h>

#include "array/result_type.h"
#include "dispatch/special.h"

const struct tn_element_operation tn_operations[TN_OPERATIONS] = {
#include "dispatch/activations.def"
#include "dispatch/arithmetic.def"
#include "dispatch/elementary.def"
#include "dispatch/special.def"

	[TN_DO_FILL] = {.name = "fill"},
	[TN_DO_MAP] = {.name = "map"},
	[TN_DO_RANDOM] = {.name = "random"},
	[TN_DO_SUM] = {.name = "sum"},
	[TN_DO_MEAN] = {.name = "mean"},
	[TN_DO_PROD] = {.name = "prod"},
	[TN_DO_MAX] = {.name = "max"},
	[TN_DO_MIN] = {.name = "min"},
	[TN_DO_ARGMAX] = {.name = "argmax"},
	[TN_DO_ARGMIN] = {.name = "argmin"},
	[TN_DO_LOGSUMEXP] = {.name = "logsumexp"},
	[TN_DO_MATMUL] = {.name = "matmul"},
	[TN_DO_MATMUL_PREPACK] = {.name = "matmul_prepack"},
	[TN_DO_TAKE] = {.name = "take"},
	[TN_DO_SCATTER_ADD] = {.name = "scatter_add"},
	[TN_DO_SCATTER] = {.name = "scatter"},
	[TN_DO_TAKE_ALONG_AXIS] = {.name = "take_along_axis"},
	[TN_DO_SORT] = {.name = "sort"},
	[TN_DO_ARGSORT] = {.name = "argsort"},
	[TN_DO_TOPK] = {.name = "topk"},
	[TN_DO_CUMSUM] = {.name = "cumsum"},
	[TN_DO_CUMPROD] = {.name = "cumprod"},
	[TN_DO_CUMMAX] = {.name = "cummax"},
	[TN_DO_CUMMIN] = {.name = "cummin"},
	[TN_DO_CONV2D] = {.name = "conv2d"},
	[TN_DO_CONV2D_INPUT_GRADIENT] = {.name = "conv2d_input_gradient"},
	[TN_DO_CONV2D_WEIGHT_GRADIENT] = {.name = "conv2d_weight_gradient"},
	[TN_DO_CONV2D_PREPACK] = {.name = "conv2d_prepack"},
	[TN_DO_EPILOGUE] = {.name = "epilogue"},
	[TN_DO_POOL2D] = {.name = "pool2d"},
	[TN_DO_POOL2D_BACKWARD] = {.name = "pool2d_backward"},
	[TN_DO_BATCH_NORM] = {.name = "batch_norm"},
	[TN_DO_BATCH_NORM_BACKWARD] = {.name = "batch_norm_backward"},
	[TN_DO_LAYER_NORM] = {.name = "layer_norm"},
	[TN_DO_LAYER_NORM_BACKWARD] = {.name = "layer_norm_backward"},
	[TN_DO_GROUP_NORM] = {.name = "group_norm"},
	[TN_DO_GROUP_NORM_BACKWARD] = {.name = "group_norm_backward"},
	[TN_DO_SOFTMAX] = {.name = "softmax"},
	[TN_DO_SOFTMAX_BACKWARD] = {.name = "softmax_backward"},
	[TN_DO_CROSS_ENTROPY] = {.name = "cross_entropy"},
	[TN_DO_CROSS_ENTROPY_BACKWARD] = {.name = "cross_entropy_backward"},
	[TN_DO_ATTENTION] = {.name = "attention"},
	[TN_DO_ATTENTION_BACKWARD] = {.name = "attention_backward"},
};
