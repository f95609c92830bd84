/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The matmul entry, and its products of 8-bit integers.
 */
#ifndef CPU_MATMUL_H
#define CPU_MATMUL_H

#include <tenon/backend.h>

struct cpu_device;

tn_status cpu_matmul(void *device, const struct tn_matmul_args *args);

/* matmul_i8.c: is it a product of 8-bit integers with a wider C?  Computes it; its shapes have been
 * checked. */
int cpu_matmul_is_i8(const struct tn_matmul_args *args);
tn_status cpu_matmul_i8(struct cpu_device *cpu, const struct tn_matmul_args *args);

#endif
