/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Pooling, as entries of table tenon.nn/1.
 */
#ifndef CPU_POOL2D_H
#define CPU_POOL2D_H

#include <tenon/backend.h>

tn_status cpu_pool2d_forward(void *device, const struct tn_pool2d_args *args);
tn_status cpu_pool2d_backward(void *device, const struct tn_pool2d_args *args);

#endif
