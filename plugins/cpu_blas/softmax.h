/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The entries of softmax and cross-entropy, for the plugin's table.
 */
#ifndef CPU_SOFTMAX_ENTRIES_H
#define CPU_SOFTMAX_ENTRIES_H

#include <tenon/backend.h>

tn_status cpu_cross_entropy_backward(void *device, const struct tn_cross_entropy_args *args);
tn_status cpu_cross_entropy_forward(void *device, const struct tn_cross_entropy_args *args);
tn_status cpu_softmax_backward(void *device, const struct tn_softmax_args *args);
tn_status cpu_softmax_forward(void *device, const struct tn_softmax_args *args);

#endif
