/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The table of one level.
 */
#include "variant.h"

const struct cpu_kernels VARIANT(cpu_kernels) = {
	.name = CPU_VARIANT_NAME,
	.block = {.struct_size = sizeof(struct tn_block_kernels)},
	.sgemm = VARIANT(cpu_sgemm),
	.dgemm = VARIANT(cpu_dgemm),
	.fill = VARIANT(cpu_fill),
	.copy_strided = VARIANT(cpu_copy_strided),
	.copy_band = VARIANT(cpu_copy_band),
};
