/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Rows chosen by an array of indices.
 */
#ifndef CUDA_GATHER_H
#define CUDA_GATHER_H

#include "plugin.h"

tn_status cuda_gather(void *device, const struct tn_gather_args *args);
tn_status cuda_scatter_add(void *device, const struct tn_gather_args *args);

#endif
