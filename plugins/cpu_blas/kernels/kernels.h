/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The plugin's kernels.  The same sources are compiled once for each level of the processor (for
 * x86-64: v2, v3 with AVX2 and FMA, v4 with AVX-512; for aarch64: neon; elsewhere once, as
 * "portable"), with names that end in the level; the table of one level is chosen at run time.
 *
 * Each file of block kernels has a list of rows with the positions of its kernels in the table for
 * the host's interpreter.  For operations that no list names the host uses its own kernels.
 */
#ifndef CPU_KERNELS_H
#define CPU_KERNELS_H

#include <tenon/backend.h>

#include "conv.h"

struct cpu_row {
	uint16_t op; /* 0 ends a list */
	uint16_t column;
	tn_block_fn fn;
};

struct cpu_cast_row {
	uint16_t from; /* 0 ends a list */
	uint16_t to;
	tn_block_fn fn;
};

struct cpu_fold_row {
	uint16_t combiner; /* 0 ends a list */
	uint16_t column;
	tn_fold_fn fn;
};

/* C[i, j] := alpha sum_k A[i, k] B[k, j] + beta C[i, j] for m x n elements of C, whose columns have
 * stride 1; the other strides are free.  beta = 0 does not read C. */
struct cpu_gemm {
	int64_t m, n, k;
	double alpha, beta;
	const void *a, *b;
	void *c;
	int64_t a_down, a_across, b_down, b_across, c_down;
};

/* C[i] := alpha sum_k A[i, k] B[i, k] + beta C[i] for n lines of k elements with stride 1; beta = 0
 * does not read C. */
struct cpu_dots {
	int64_t n, k;
	double alpha, beta;
	const void *a, *b;
	void *c;
	int64_t a_down, b_down, c_down; /* in elements */
};

struct cpu_kernels {
	const char *name;
	int vector_bytes;
	const struct cpu_row *const *rows; /* lists; NULL ends */
	const struct cpu_cast_row *casts;
	const struct cpu_fold_row *folds;
	void (*stream_copy)(void *dst, const void *src, size_t n);
	int sgemm_leads; /* sgemm is faster than OpenBLAS if B has stride 1 down */
	void (*sgemm)(const struct cpu_gemm *g);
	void (*dgemm)(const struct cpu_gemm *g);
	void (*sdots)(const struct cpu_dots *d);
	void (*ddots)(const struct cpu_dots *d);
	/* n elements of `size` bytes := value. */
	void (*fill)(void *out, const void *value, size_t size, size_t n);
	/* n elements of `size` bytes, strides in elements. */
	void (*copy_strided)(char *out, int64_t to, const char *in, int64_t from, size_t size,
			     size_t n);
	/* n compact rows of `bytes`, their starts `out_down` and `in_down` bytes apart. */
	void (*copy_rows)(char *out, int64_t out_down, const char *in, int64_t in_down,
			  size_t bytes, size_t n);
	/* A band of `rows` x `columns` elements, strides in elements down and across. */
	void (*copy_band)(char *out, int64_t out_down, int64_t out_across, const char *in,
			  int64_t in_down, int64_t in_across, size_t size, size_t rows,
			  size_t columns);
	/* x[i] := x[i] (1 + erf(x[i] / sqrt 2)) / 2, rounded as the element program "gelu". */
	void (*gelu)(float *x, size_t n);
	const struct cpu_conv_kernels *conv;           /* conv.h */
	const struct cpu_few_kernels *conv_few;        /* conv_few.h */
	const struct cpu_depthwise_kernels *depthwise; /* depthwise.h */
	const struct cpu_norm_kernels *norm;           /* norm.h */
	const struct cpu_pool_kernels *pool;           /* pool.h */
	const struct cpu_softmax_kernels *softmax;     /* softmax.h */
	const struct cpu_winograd *winograd;           /* winograd.h */
};

/* The lists of one variant, in the layout of the interpreter. */
struct cpu_block_table {
	struct tn_block_kernels block; /* points into the rest */
	tn_block_fn operations[TN_OP_COUNT][TN_COLUMNS];
	tn_block_fn casts[TN_DTYPES][TN_DTYPES];
	tn_fold_fn folds[TN_COMBINERS][TN_COLUMNS];
};

void cpu_block_table_fill(struct cpu_block_table *table, const struct cpu_kernels *kernels);

/* Variant number i of those that were built and that this processor supports, best first; NULL
 * after the last. */
const struct cpu_kernels *cpu_kernels_variant(unsigned i);

/* The best variant, or the one of that name ("v2" is accepted for "x86-64-v2").  NULL: this
 * processor supports none of the built ones.  `name` may be NULL; an unknown name selects the
 * best. */
const struct cpu_kernels *cpu_kernels_choose(const char *name);
/* Do the kernels have that level, e.g. "v3"? */
int cpu_kernels_are(const struct cpu_kernels *kernels, const char *name);

#endif
