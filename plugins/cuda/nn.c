/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Table tenon.nn/1.  What is not here the host composes.
 */
#include "nn.h"

const struct tn_nn_table cuda_nn_table = {
	.struct_size = sizeof(cuda_nn_table),
	.cross_entropy_backward = cuda_cross_entropy_backward,
	.cross_entropy_forward = cuda_cross_entropy_forward,
	.softmax_backward = cuda_softmax_backward,
	.softmax_forward = cuda_softmax_forward,
};
