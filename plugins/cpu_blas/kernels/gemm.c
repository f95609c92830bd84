/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A matrix product of the plugin's own, for where there is no BLAS, and where it is the faster one.
 *
 * C is computed in panels of NR columns (two vectors).  For each block of KC rows of B the panel is
 * packed into compact rows, and tiles of at most MR x NR elements of C are summed in registers, k
 * ascending:
 *
 *     c[i, j] += alpha * sum over the block's k of a[i, k] * b[k, j]
 *
 * so each element is the same sequence of operations whatever the size of the matrix around it.
 * (Goto and van de Geijn, Anatomy of High-Performance Matrix Multiplication, 2008, without the
 * packing of A: its elements are broadcast from where they are.)
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

#if VECTOR_BYTES == 64
#define LOW(a, b)                                                                                  \
	__builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23)
#define HIGH(a, b)                                                                                 \
	__builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31)
#elif VECTOR_BYTES == 32
#define LOW(a, b) __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11)
#define HIGH(a, b) __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15)
#else
#define LOW(a, b) __builtin_shufflevector(a, b, 0, 4, 1, 5)
#define HIGH(a, b) __builtin_shufflevector(a, b, 2, 6, 3, 7)
#endif
#define T float
#define NAME(name) name##_f32
#include "gemm_type.h"

#if VECTOR_BYTES == 64
#define LOW(a, b) __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11)
#define HIGH(a, b) __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15)
#elif VECTOR_BYTES == 32
#define LOW(a, b) __builtin_shufflevector(a, b, 0, 4, 1, 5)
#define HIGH(a, b) __builtin_shufflevector(a, b, 2, 6, 3, 7)
#else
#define LOW(a, b) __builtin_shufflevector(a, b, 0, 2)
#define HIGH(a, b) __builtin_shufflevector(a, b, 1, 3)
#endif
#define T double
#define NAME(name) name##_f64
#include "gemm_type.h"

void VARIANT(cpu_sgemm)(const struct cpu_gemm *g)
{
	product_f32(g);
}

void VARIANT(cpu_dgemm)(const struct cpu_gemm *g)
{
	product_f64(g);
}
