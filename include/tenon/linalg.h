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
/* The sum of conj(a) b over one axis, which is taken of each on its own (-1: the last one of both);
 * the others broadcast.  TN_INVALID_ARGUMENT: one of them has no such axis. */
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

/* Kronecker's product: element [i s + k, ...] is a[i, ...] b[k, ...], where s is b's length.
 * TN_LIMIT: an axis that is longer than 1 in both counts twice, and that is more than 16. */
TN_API tn_array *tn_kron(const tn_array *a, const tn_array *b);
/* The product of 2 to 1024 matrices in the order that costs the fewest multiplications; the first
 * may be a row, and the last a column.  TN_INVALID_ARGUMENT, TN_LIMIT: fewer, or more. */
TN_API tn_array *tn_multi_dot(int n, const tn_array *const *arrays);
/* The product of n square matrices a; identities for n = 0; for n below 0 of -n inverses
 * (TN_SINGULAR), in f64 for integers. */
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
 * there is no such order.  TN_NOT_FINITE: an element of a norm by singular values is not. */
TN_API tn_array *tn_matrix_norm(const tn_array *a, uint32_t order, int keepdims);

/* ---- Decompositions --------------------------------------------------------------------------
 *
 * Of the matrices of the last two axes, in f32, f64, c64 or c128 (integers and bool: f64); ^H is
 * the conjugate transpose, and k = min(m, n).  A backend that has no factorisations of its own gets
 * the host's, which the ledger counts.  Results may be transposed in memory.
 *
 * Where a function has an error for matrices, it waits for the device and reads there whether one
 * failed: it cannot be captured (TN_NOT_CAPTURABLE).  These errors (tenon/status.h) are NumPy's
 * LinAlgError:
 *   TN_SINGULAR    a matrix is singular, not positive definite, or does not converge; the error
 *                  tells the first one in the batch
 *   TN_NOT_FINITE  eigh, eig and svd, and what is made of them (eigvalsh, eigvals, svdvals, pinv,
 *                  matrix_rank, lstsq, norms and cond by singular values): an element is infinite
 *                  or NaN, also where NumPy gives values
 * In all others infinities and NaN spread through the formulas.  All have also: TN_SHAPE: too few
 * axes, not square, or shapes that do not fit.  TN_DTYPE: f16 or bf16.
 *
 * Gradients are those of the formulas where these are differentiable; lu has none (TN_STATE), nor
 * has a u, vh or q with vectors beyond the k-th (TN_UNSUPPORTED): beside these, s and r have first
 * ones.  Those of eigenvectors and singular vectors are
 * infinite or NaN where two values are equal, those of singular vectors also where one is 0; those
 * of the values are not.  The gradients of det and slogdet need the inverse of a, those of eig and
 * eigvals that of v, those of qr that of r, which a matrix of lower rank has not (TN_SINGULAR).
 */

/* The lower triangular L, L L^H = a, or with `upper` L^H; of a Hermitian a, of which that triangle
 * alone is read.  TN_SINGULAR: a is not positive definite. */
TN_API tn_array *tn_cholesky(const tn_array *a, int upper);
/* a = q r: q (m, k) has orthonormal columns, r (k, n) is upper triangular; complete: (m, m) and
 * (m, n).  q may be NULL, for r alone.  On failure both are NULL. */
TN_API TN_CHECKED tn_status tn_qr(const tn_array *a, int complete, tn_array **q, tn_array **r);
/* a = p l u: p (m, m) is a permutation, l (m, k) lower triangular with ones on its diagonal, u
 * (k, n) upper triangular; SciPy's lu. */
TN_API TN_CHECKED tn_status tn_lu(const tn_array *a, tn_array **p, tn_array **l, tn_array **u);
/* The eigenvalues w (n), real and rising, of a Hermitian a, of which the lower triangle alone is
 * read, or with `upper` the upper one; and orthonormal vectors, the columns of v. */
TN_API TN_CHECKED tn_status tn_eigh(const tn_array *a, int upper, tn_array **w, tn_array **v);
TN_API tn_array *tn_eigvalsh(const tn_array *a, int upper);
/* The eigenvalues w (n), complex, in any order, and vectors of length 1, the columns of v. */
TN_API TN_CHECKED tn_status tn_eig(const tn_array *a, tn_array **w, tn_array **v);
TN_API tn_array *tn_eigvals(const tn_array *a);
/* a = u diag(s) vh: s (k) falls, u (m, k) has orthonormal columns and vh (k, n) such rows;
 * full_matrices: (m, m) and (n, n). */
TN_API TN_CHECKED tn_status tn_svd(const tn_array *a, int full_matrices, tn_array **u, tn_array **s,
				   tn_array **vh);
TN_API tn_array *tn_svdvals(const tn_array *a);

/* ---- Systems of equations --------------------------------------------------------------------*/

/* a^-1 b, of matrices b (n, r), or of a vector if b has one axis.  TN_SINGULAR. */
TN_API tn_array *tn_solve(const tn_array *a, const tn_array *b);
/* The same of the lower or upper triangle of a, the rest of which is not read; transpose 1: of its
 * transpose, 2: of its conjugate transpose; unit_diagonal: with ones in place of its diagonal.
 * TN_SINGULAR: a 0 is on the diagonal.  TN_INVALID_ARGUMENT: another transpose. */
TN_API tn_array *tn_solve_triangular(const tn_array *a, const tn_array *b, int lower, int transpose,
				     int unit_diagonal);
/* a^-1.  TN_SINGULAR. */
TN_API tn_array *tn_inv(const tn_array *a);
/* The pseudo-inverse (n, m): singular values of at most rtol times the largest count as 0; rtol
 * below 0: max(m, n) times epsilon of the dtype, here and in the next two.  TN_INVALID_ARGUMENT:
 * rtol is NaN. */
TN_API tn_array *tn_pinv(const tn_array *a, double rtol);
/* How many singular values are above rtol times the largest, in i64; of matrices alone, not of
 * vectors as in NumPy (TN_SHAPE). */
TN_API tn_array *tn_matrix_rank(const tn_array *a, double rtol);
/* The shortest x of those with the least ||b - a x||, for matrices b (m, r), or a vector; the sum
 * of |b - a x|^2 of each column, the rank in i64, and a's singular values, each of which may be
 * NULL. */
TN_API TN_CHECKED tn_status tn_lstsq(const tn_array *a, const tn_array *b, double rtol,
				     tn_array **x, tn_array **residuals, tn_array **rank,
				     tn_array **s);
/* x with tn_tensordot(a, x, axes of x) = b, where the n axes of a that are given become its last
 * ones first.  TN_SHAPE: the elements of b are not as many as those of x. */
TN_API tn_array *tn_tensorsolve(const tn_array *a, const tn_array *b, int n, const int *axes);
/* The inverse for tn_tensordot(inverse, b, ind) of an a whose first `ind` axes have as many
 * elements as the others.  TN_INVALID_ARGUMENT: ind is not from 1 to a's rank. */
TN_API tn_array *tn_tensorinv(const tn_array *a, int ind);

/* ---- Numbers of matrices ---------------------------------------------------------------------*/

/* The determinant; 0 of a singular matrix, 1 of an empty one. */
TN_API tn_array *tn_det(const tn_array *a);
/* The sign, or phase, of the determinant and the logarithm of its absolute value: 0 and -inf of a
 * singular matrix. */
TN_API TN_CHECKED tn_status tn_slogdet(const tn_array *a, tn_array **sign, tn_array **logabsdet);
/* The condition number for a norm of enum tn_matrix_norm: by singular values for TN_NORM_2 and
 * TN_NORM_MINUS_2, of any matrix, the former infinite where one is 0, which rounding may leave
 * above 0; else the norm of a times that of its inverse (TN_SINGULAR).  TN_SHAPE: an empty matrix.
 * TN_INVALID_ARGUMENT: there is no such order. */
TN_API tn_array *tn_cond(const tn_array *a, uint32_t order);

/* The exponential of a matrix: the sum of a^i / i!; NaN of one with an element that is not finite.
 * The error grows with the norm where a does not commute with a^H.  It waits for the device, for
 * the number of squarings. */
TN_API tn_array *tn_expm(const tn_array *a);

#ifdef __cplusplus
}
#endif
#endif
