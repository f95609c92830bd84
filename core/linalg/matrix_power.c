/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Powers of matrices by repeated squares, and other simple functions of matrices: their transposes,
 * their traces, and Kronecker's product.
 */
#include <tenon/linalg.h>

#include <tenon/manipulate.h>

#include "array/make.h"
#include "linalg/factor.h"

tn_array *tn_matrix_transpose(const tn_array *a)
{
	if (!tn_begin(1, &a, "matrix_transpose") ||
	    tn_matrix_check_shape("matrix_transpose", "a", a, 0))
		return NULL;
	return tn_swapaxes(a, -1, -2);
}

tn_array *tn_trace(const tn_array *a, int64_t offset, int axis1, int axis2)
{
	struct tn_runtime *runtime = tn_begin(1, &a, "trace");
	if (!runtime || tn_matrix_check_shape("trace", "a", a, 0) ||
	    tn_scope_begin(runtime->context))
		return NULL;
	const tn_array *diagonal = tn_diagonal(a, offset, axis1, axis2);
	return tn_scope_end(runtime->context, tn_sum(diagonal, 1, (const int[]){-1}, 0));
}

/* ---- Powers ----------------------------------------------------------------------------------*/

/* Of a's shape. */
static tn_array *identities(const tn_array *a)
{
	return tn_copy(tn_broadcast_to(tn_identity_like(a), a->rank, a->shape));
}

/* a^n for n >= 1: the product of those squares of squares whose bits n has.  NULL for NULL. */
static const tn_array *positive_power(const tn_array *a, uint64_t n)
{
	const tn_array *square = a, *power = NULL;
	while (square) {
		if (n & 1)
			power = power ? tn_matmul(power, square) : square;
		n >>= 1;
		if (!n)
			break;
		square = tn_matmul(square, square);
	}
	return power == a ? tn_copy(a) : power;
}

tn_array *tn_matrix_power(const tn_array *a, int64_t n)
{
	struct tn_runtime *runtime = tn_begin(1, &a, "matrix_power");
	if (!runtime || tn_matrix_check_shape("matrix_power", "a", a, 1) ||
	    tn_scope_begin(runtime->context))
		return NULL;
	const tn_array *base = n < 0 ? tn_inv(a) : a;
	const tn_array *power =
		n ? positive_power(base, n < 0 ? -(uint64_t)n : (uint64_t)n) : identities(a);
	return tn_scope_end(runtime->context, tn_array_const_cast(power));
}

/* ---- Kronecker's product ---------------------------------------------------------------------*/

/* The length of axis i of n axes, those before a's own being 1. */
static int64_t length_of(const tn_array *a, int i, int n)
{
	return i < n - a->rank ? 1 : a->shape[i - (n - a->rank)];
}

/* a and b with axes that lie in turn: an axis of the result is two of them, or one, where one of
 * the lengths is 1. */
static tn_array *kron(const tn_array *a, const tn_array *b, int n)
{
	int64_t of_a[2 * TN_MAX_RANK], of_b[2 * TN_MAX_RANK], shape[TN_MAX_RANK];
	int rank = 0;
	for (int i = 0; i < n; i++) {
		const int64_t m = length_of(a, i, n), k = length_of(b, i, n);
		shape[i] = m * k;
		of_a[rank] = m;
		of_b[rank] = m == 1 ? k : 1;
		rank++;
		if (m == 1 || k == 1)
			continue;
		of_a[rank] = 1;
		of_b[rank++] = k;
	}
	if (rank > TN_MAX_RANK) {
		tn_runtime_fail(a->runtime, TN_LIMIT, "kron",
				"expected at most %d axes longer than 1 of both operands, found %d",
				TN_MAX_RANK, rank);
		return NULL;
	}
	return tn_reshape(tn_multiply(tn_reshape(a, rank, of_a), tn_reshape(b, rank, of_b)), n,
			  shape);
}

tn_array *tn_kron(const tn_array *a, const tn_array *b)
{
	struct tn_runtime *runtime = tn_begin(2, (const tn_array *[]){a, b}, "kron");
	if (!runtime || tn_scope_begin(runtime->context))
		return NULL;
	return tn_scope_end(runtime->context, kron(a, b, a->rank > b->rank ? a->rank : b->rank));
}
