/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Linear algebra: NumPy 2's names and rules; tn_linalg(3) lists every departure.
 *
 * What <tenon/array.h> says of ownership, errors and threads holds here too.  Matrices are the last
 * two axes of an array, vectors the last one; the axes before them are a batch, and those of
 * several operands broadcast.  All functions run on every backend and have gradients.
 * All functions: [thread: one per context | may return before the result is ready | since 0.1].
 */
#ifndef TENON_LINALG_H
#define TENON_LINALG_H

#include <tenon/array.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Products and norms ----------------------------------------------------------------------
 * Products have the common dtype of their operands; their sums are those of tn_matmul, also for
 * integers and bool.  TN_SHAPE: the lengths do not fit.  TN_LIMIT: the result has too many axes. */

/* The sum over the last axis of a and the last but one of b, or its only one; of a 0-d array and
 * any other the product element by element. */
TN_API tn_array *tn_dot(const tn_array *a, const tn_array *b);
/* The sum of conj(a) b over all elements, in row-major order; the shapes may differ. */
TN_API tn_array *tn_vdot(const tn_array *a, const tn_array *b);
/* The sum of conj(a) b over one axis, which counts from the end of both (-1: the last one); the
 * others broadcast.  TN_INVALID_ARGUMENT: one of them has no such axis. */
TN_API tn_array *tn_vecdot(const tn_array *a, const tn_array *b, int axis);
/* The sum over the last axes of both; of a 0-d array and any other as tn_dot. */
TN_API tn_array *tn_inner(const tn_array *a, const tn_array *b);
/* (size of a, size of b): the product of each element of a and each of b. */
TN_API tn_array *tn_outer(const tn_array *a, const tn_array *b);
/* (..., m, n) times vectors (..., n), and vectors (..., m), conjugated, times (..., m, n). */
TN_API tn_array *tn_matvec(const tn_array *a, const tn_array *x);
TN_API tn_array *tn_vecmat(const tn_array *x, const tn_array *a);
/* The sum over axes axes_a[i] of a and axes_b[i] of b; the other axes remain, those of a first.  Of
 * two NULLs: over the last n axes of a and the first n of b.  TN_INVALID_ARGUMENT: there is no such
 * axis, or it is given twice. */
TN_API tn_array *tn_tensordot(const tn_array *a, const tn_array *b, int n, const int *axes_a,
			      const int *axes_b);

/* Einstein's sums: the subscripts name the axes of each of the n operands by letters, as in
 *
 *     tn_einsum("bij,bjk->bik", 2, (const tn_array *[]){a, b})   // matrix products
 *     tn_einsum("ii->i", 1, &a)                                  // the diagonal, a view
 *
 * An axis of the result is a letter behind "->"; the product is summed over all other letters.
 * Without "->" the letters that occur once are the result's axes, in the order of the alphabet,
 * capital ones first.  A letter twice in one operand is a diagonal.  "..." stands for all further
 * axes of an operand, which broadcast; so does a length of 1 under a letter.  Blanks are ignored.
 *
 * Sums over one operand are views and sums.  Several are multiplied in pairs, in the order that
 * costs the fewest multiplications: the best one of up to 8 operands, beyond that the pair first
 * whose result saves most elements.  A pair with a common letter to sum over is one call of
 * tn_matmul, on views wherever the strides allow it, or for many short lines one reduction.
 *
 * TN_INVALID_ARGUMENT: the subscripts have a mistake, whose column the error tells.  TN_SHAPE: the
 * lengths of a letter differ, or an operand has more or fewer axes.  TN_LIMIT: more than 64
 * operands or 64 different axes, or a result or an intermediate one of more than 16 axes. */
TN_API tn_array *tn_einsum(const char *subscripts, int n, const tn_array *const *operands);
/* That order, in NumPy's form: step i multiplies the operands at path[2 i] < path[2 i + 1] of the
 * list, which are removed from it, and appends the result; path receives 2 (n - 1) positions. */
TN_API tn_status tn_einsum_path(const char *subscripts, int n, const tn_array *const *operands,
				int *path);

/* Kronecker's product: element [i s + k, ...] is a[i, ...] b[k, ...], where s is b's length. */
TN_API tn_array *tn_kron(const tn_array *a, const tn_array *b);
/* The product of 2 to 1024 matrices in the order that costs the fewest multiplications; the first
 * may be a row, and the last a column.  TN_INVALID_ARGUMENT, TN_LIMIT: fewer, or more. */
TN_API tn_array *tn_multi_dot(int n, const tn_array *const *arrays);
/* The product of n square matrices a; identities for n = 0.  TN_UNSUPPORTED: n is below 0, which
 * needs an inverse. */
TN_API tn_array *tn_matrix_power(const tn_array *a, int64_t n);
/* A view with the last two axes swapped. */
TN_API tn_array *tn_matrix_transpose(const tn_array *a);
/* The sums of the elements of tn_diagonal(a, offset, axis1, axis2), in the dtype of tn_sum. */
TN_API tn_array *tn_trace(const tn_array *a, int64_t offset, int axis1, int axis2);

/* ---- Norms ---- of n axes (TN_ALL_AXES), as in tn_sum: real, floating, f64 for integers.  Their
 * gradient where they are 0 is 0. */

/* The square root of the sum of |a|^2. */
TN_API tn_array *tn_norm(const tn_array *a, int n, const int *axes, int keepdims);
/* The sum of |a|^order to the power of 1 / order; for INFINITY the largest |a|, for -INFINITY the
 * smallest one, for 0 the number of elements that are not 0.  TN_SHAPE: the smallest of none.
 * TN_INVALID_ARGUMENT: the order is NaN. */
TN_API tn_array *tn_vector_norm(const tn_array *a, double order, int n, const int *axes,
				int keepdims);

enum tn_matrix_norm {
	TN_NORM_FRO,       /* that of tn_norm */
	TN_NORM_NUC,       /* the sum of the singular values */
	TN_NORM_1,         /* the largest sum of |a| in a column */
	TN_NORM_MINUS_1,   /* the smallest one */
	TN_NORM_2,         /* the largest singular value */
	TN_NORM_MINUS_2,   /* the smallest one */
	TN_NORM_INF,       /* the largest sum of |a| in a row */
	TN_NORM_MINUS_INF, /* the smallest one */
};

/* Of the matrices of the last two axes.  TN_SHAPE: the smallest of none.  TN_INVALID_ARGUMENT:
 * there is no such order.  TN_UNSUPPORTED: it needs singular values. */
TN_API tn_array *tn_matrix_norm(const tn_array *a, uint32_t order, int keepdims);

#ifdef __cplusplus
}
#endif
#endif
