/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The plugin's own matrix product, used without a BLAS, and where it is faster.
 *
 * C is computed in panels of NR columns (two vectors).  For each block of KC rows of B the panel is
 * packed into compact rows, and tiles of at most MR x NR elements of C are summed in registers, k
 * ascending:
 *
 *     c[i, j] += alpha * sum over the block's k of a[i, k] * b[k, j]
 *
 * so each element has the same sequence of operations whatever the size of the whole matrix, except
 * in a single row of C, for which nothing is packed.  (Goto and van de Geijn, Anatomy of
 * High-Performance Matrix Multiplication, 2008, without the packing of A: its elements are read
 * from their original positions.)
 */
#include "variant.h"
#include "vector.h"

/* Rows of a tile: two sums each, and three registers for B and the broadcast. */
#if VECTOR_REGISTERS == 32
#define MR 14
#else
#define MR 6
#endif
#define KC 256
/* Rows of A whose block of KC columns stays in the second cache. */
#define MC 256

typedef double vd __attribute__((vector_size(VECTOR_BYTES), aligned(8), may_alias));

/* A simple version: products of doubles come here only without a BLAS. */
static inline void vd_transpose(vd x[VECTOR_BYTES / 8])
{
	vd y[VECTOR_BYTES / 8];
	for (int i = 0; i < VECTOR_BYTES / 8; i++) {
		for (int j = 0; j < VECTOR_BYTES / 8; j++)
			y[i][j] = x[j][i];
	}
	memcpy(x, y, sizeof(y));
}

#define T float
#define VECTOR vf
#define NAME(name) name##_f32
#define TRANSPOSE vf_transpose
#include "gemm_type.h"
#define T double
#define VECTOR vd
#define NAME(name) name##_f64
#define TRANSPOSE vd_transpose
#include "gemm_type.h"

void VARIANT(cpu_sgemm)(const struct cpu_gemm *g)
{
	product_f32(g);
}

void VARIANT(cpu_dgemm)(const struct cpu_gemm *g)
{
	product_f64(g);
}
