/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A matrix product of the plugin's own, for where there is no BLAS.
 *
 * C is computed in panels of NR columns (two vectors).  For each block of KC rows of B the panel is
 * packed into compact rows, and tiles of MR x NR elements of C are summed in registers, k ascending:
 *
 *     c[i, j] += alpha * sum over the block's k of a[i, k] * b[k, j]
 *
 * so each element is the same sequence of operations whatever the size of the matrix around it.
 * (Goto and van de Geijn, Anatomy of High-Performance Matrix Multiplication, 2008, without the
 * packing of A: its elements are broadcast from where they are.)
 */
#include <string.h>

#include "variant.h"

#if defined(__AVX512F__)
#define VECTOR_BYTES 64
#define MR 12
#elif defined(__AVX2__)
#define VECTOR_BYTES 32
#define MR 6
#else
#define VECTOR_BYTES 16
#define MR 4
#endif
#define KC 256

#define T float
#define NAME(name) name##_f32
#include "gemm_type.h"
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
