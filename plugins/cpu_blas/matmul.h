/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The matmul entry.
 */
#ifndef CPU_MATMUL_H
#define CPU_MATMUL_H

#include <tenon/backend.h>

tn_status cpu_matmul(void *device, const struct tn_matmul_args *args);

#endif
