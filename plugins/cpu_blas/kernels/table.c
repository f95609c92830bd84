/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The table of one level.
 */
#include "variant.h"
#include "vector.h"

static const struct cpu_row *const lists[] = {
	VARIANT(cpu_rows_boolean),
	VARIANT(cpu_rows_circular),
	VARIANT(cpu_rows_error_function),
	VARIANT(cpu_rows_exponential),
	VARIANT(cpu_rows_floating),
	VARIANT(cpu_rows_hyperbolic),
	VARIANT(cpu_rows_integer),
	VARIANT(cpu_rows_logarithm),
	VARIANT(cpu_rows_power),
	VARIANT(cpu_rows_random),
	NULL,
};

const struct cpu_kernels VARIANT(cpu_kernels) = {
	.name = CPU_VARIANT_NAME,
	.vector_bytes = VECTOR_BYTES,
	.rows = lists,
	.casts = VARIANT(cpu_casts),
	.folds = VARIANT(cpu_folds),
	.stream_copy = VARIANT(cpu_stream_copy),
#ifdef __AVX512F__
	.sgemm_leads = 1,
#endif
	.sgemm = VARIANT(cpu_sgemm),
	.dgemm = VARIANT(cpu_dgemm),
	.sdots = VARIANT(cpu_sdots),
	.ddots = VARIANT(cpu_ddots),
	.fill = VARIANT(cpu_fill),
	.copy_strided = VARIANT(cpu_copy_strided),
	.copy_rows = VARIANT(cpu_copy_rows),
	.copy_band = VARIANT(cpu_copy_band),
	.gelu = VARIANT(cpu_gelu),
	.conv = &VARIANT(cpu_conv),
	.conv_few = &VARIANT(cpu_few),
	.depthwise = &VARIANT(cpu_depthwise),
	.norm = &VARIANT(cpu_norm),
	.pool = &VARIANT(cpu_pool),
	.softmax = &VARIANT(cpu_softmax),
	.winograd = &VARIANT(cpu_winograd),
};
