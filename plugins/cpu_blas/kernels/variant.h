/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Included by the files that are compiled once for each level.  CPU_VARIANT is the level's suffix;
 * VARIANT(name) is the name with it.
 */
#ifndef CPU_VARIANT_H
#define CPU_VARIANT_H

#include "conv_few.h"
#include "depthwise.h"
#include "kernels.h"
#include "norm.h"
#include "pool.h"
#include "softmax.h"

#define VARIANT_PASTE(name, suffix) name##_##suffix
#define VARIANT_EXPAND(name, suffix) VARIANT_PASTE(name, suffix)
#define VARIANT(name) VARIANT_EXPAND(name, CPU_VARIANT)

extern const struct cpu_depthwise_kernels VARIANT(cpu_depthwise);
extern const struct cpu_kernels VARIANT(cpu_kernels);
extern const struct cpu_norm_form VARIANT(cpu_norm_columns);
extern const struct cpu_norm_form VARIANT(cpu_norm_plane);
extern const struct cpu_norm_kernels VARIANT(cpu_norm);
extern const struct cpu_pool_kernels VARIANT(cpu_pool);
extern const struct cpu_softmax_kernels VARIANT(cpu_softmax);
extern const struct cpu_winograd VARIANT(cpu_winograd);

extern const struct cpu_row VARIANT(cpu_rows_boolean)[];
extern const struct cpu_row VARIANT(cpu_rows_circular)[];
extern const struct cpu_row VARIANT(cpu_rows_error_function)[];
extern const struct cpu_row VARIANT(cpu_rows_exponential)[];
extern const struct cpu_row VARIANT(cpu_rows_floating)[];
extern const struct cpu_row VARIANT(cpu_rows_hyperbolic)[];
extern const struct cpu_row VARIANT(cpu_rows_integer)[];
extern const struct cpu_row VARIANT(cpu_rows_logarithm)[];
extern const struct cpu_row VARIANT(cpu_rows_power)[];
extern const struct cpu_row VARIANT(cpu_rows_random)[];
extern const struct cpu_cast_row VARIANT(cpu_casts)[];
extern const struct cpu_fold_row VARIANT(cpu_folds)[];

void VARIANT(cpu_stream_copy)(void *dst, const void *src, size_t n);
void VARIANT(cpu_sgemm)(const struct cpu_gemm *g);
void VARIANT(cpu_dgemm)(const struct cpu_gemm *g);
void VARIANT(cpu_sdots)(const struct cpu_dots *d);
void VARIANT(cpu_ddots)(const struct cpu_dots *d);
void VARIANT(cpu_fill)(void *out, const void *value, size_t size, size_t n);
void VARIANT(cpu_copy_strided)(char *out, int64_t to, const char *in, int64_t from, size_t size,
			       size_t n);
void VARIANT(cpu_copy_rows)(char *out, int64_t out_down, const char *in, int64_t in_down,
			    size_t bytes, size_t n);
void VARIANT(cpu_copy_band)(char *out, int64_t out_down, int64_t out_across, const char *in,
			    int64_t in_down, int64_t in_across, size_t size, size_t rows,
			    size_t columns);
void VARIANT(cpu_turn_band)(void *to, int64_t out_down, const void *from, int64_t in_across,
			    int64_t rows, int64_t columns);
void VARIANT(cpu_average_pool_apart_backward)(const struct cpu_pool *pool, int64_t begin,
					      int64_t end);
void VARIANT(cpu_average_pool_backward)(const struct cpu_pool *pool, int64_t begin, int64_t end);
void VARIANT(cpu_depthwise_input_gradient)(const struct cpu_depthwise *d,
					   const struct cpu_depthwise_box *box);
void VARIANT(cpu_depthwise_weight_gradient)(const struct cpu_depthwise *d,
					    const struct cpu_depthwise_box *box);
void VARIANT(cpu_max_pool_backward)(const struct cpu_pool *pool, int64_t begin, int64_t end);
void VARIANT(cpu_max_pool_pairs)(const struct cpu_pool *pool, int64_t begin, int64_t end);
void VARIANT(cpu_max_pool_pairs_backward)(const struct cpu_pool *pool, int64_t begin, int64_t end);
extern const struct cpu_conv_kernels VARIANT(cpu_conv);
void VARIANT(cpu_conv_taps)(const struct cpu_taps *t, int64_t first, int64_t last, int64_t begin,
			    int64_t end);
void VARIANT(cpu_conv_gradient)(const struct cpu_taps *t, int64_t first, int64_t last,
				int64_t panel, float *sums);
void VARIANT(cpu_conv_pack)(const struct cpu_weights *w, int64_t panel, float *rows);
void VARIANT(cpu_conv_unpack)(const struct cpu_weights *w, int64_t panel, const float *rows,
			      int64_t n, int64_t step, int64_t begin, int64_t end, int accumulate);
extern const struct cpu_few_kernels VARIANT(cpu_few);
int64_t VARIANT(cpu_few_sums)(const struct cpu_few *f);
void VARIANT(cpu_few_fold)(const struct cpu_few *f, const float *sums, float *gradient);
void VARIANT(cpu_few_gradient)(const struct cpu_few *f, const float *in, const float *out,
			       float *sums);
void VARIANT(cpu_cross_entropy_backward)(const struct cpu_cross_entropy *c);
void VARIANT(cpu_cross_entropy_forward)(const struct cpu_cross_entropy *c);
void VARIANT(cpu_gelu)(float *x, size_t n);
void VARIANT(cpu_norm_rows_backward)(const struct cpu_norm_rows *n);
void VARIANT(cpu_norm_rows_forward)(const struct cpu_norm_rows *n);

#endif
