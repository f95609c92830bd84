/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Table tenon.nn/1.  What is not here the host composes.
 */
#include "nn.h"

#include "pool2d.h"

const struct tn_nn_table cpu_nn_table = {
	.struct_size = sizeof(cpu_nn_table),
	.pool2d_backward = cpu_pool2d_backward,
	.pool2d_forward = cpu_pool2d_forward,
};
