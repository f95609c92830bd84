/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Pseudo-inverses, ranks and least squares by singular values, of which those at most `rtol` times
 * the largest count as 0.  Of x = pinv(a), while the rank stays, with G = dx^H,
 *
 *     da = -(x G x)^H + (1 - a x) G x x^H + x^H x G (1 - x a)
 *
 * (Golub and Pereyra, The differentiation of pseudo-inverses, 1973).
 */
#include <tenon/linalg.h>

#include <float.h>
#include <inttypes.h>

#include <tenon/manipulate.h>
#include <tenon/map.h>
#include <tenon/reduce.h>

#include "array/make.h"
#include "array/shape.h"
#include "base/dtype.h"
#include "linalg/factor.h"

/* max(m, n) epsilon, unless rtol is given: not below 0. */
static double tolerance_of(const tn_array *a, double rtol)
{
	const int64_t m = a->shape[a->rank - 2], n = a->shape[a->rank - 1];
	const tn_dtype dtype = tn_real_dtype(tn_matrix_dtype(a, NULL));
	if (rtol >= 0)
		return rtol;
	return (double)(m > n ? m : n) * (dtype == TN_F32 ? (double)FLT_EPSILON : DBL_EPSILON);
}

/* A map of s and the first s of each line, which is the largest. */
static tn_array *with_largest(const char *text, const tn_array *s, double rtol)
{
	const char *const names[] = {"s", "largest"}, *const scalars[] = {"rtol"};
	const tn_array *both[] = {s, tn_slice(s, -1, 0, 1, 1)};
	return both[1] ? tn_map(text, 2, names, both, 1, scalars, &rtol) : NULL;
}

/* ---- Pseudo-inverses -------------------------------------------------------------------------*/

static tn_status backward(struct tn_node *node, tn_array *dx)
{
	const tn_array *a = node->saved[0].array, *x = node->saved[1].array;
	const tn_array *g = tn_adjoint(dx), *xh = tn_adjoint(x);
	tn_array *first = tn_negative(tn_adjoint(tn_matmul(tn_matmul(x, g), x)));
	tn_array *right = tn_matmul(tn_matmul(g, x), xh);
	tn_array *left = tn_matmul(xh, tn_matmul(x, g));
	right = tn_subtract(right, tn_matmul(a, tn_matmul(x, right)));
	left = tn_subtract(left, tn_matmul(tn_matmul(left, x), a));
	return tn_node_give(node, 0, tn_add(first, tn_add(right, left)));
}

static tn_array *compute(const tn_array *a, double rtol)
{
	tn_array *u, *s, *vh;
	if (tn_svd(a, 0, &u, &s, &vh))
		return NULL;
	tn_array *inverse =
		s->size ? with_largest("z = s > rtol * largest ? 1 / s : 0", s, rtol) : s;
	return tn_matmul(tn_scale_columns(tn_adjoint(vh), inverse), tn_adjoint(u));
}

tn_array *tn_pinv(const tn_array *a, double rtol)
{
	struct tn_runtime *runtime = tn_begin(1, &a, "pinv");
	if (!runtime || tn_matrix_check("pinv", "a", a, 0) || tn_scope_begin(runtime->context))
		return NULL;
	const tn_array *own = tn_matrix_of(a, tn_matrix_dtype(a, NULL));
	struct tn_suspension suspension = tn_tape_suspend(own);
	tn_array *x = suspension.runtime ? compute(own, tolerance_of(a, rtol)) : NULL;
	x = tn_tape_resume(suspension, x,
			   &(struct tn_node_request){.operation = "pinv",
						     .backward = backward,
						     .is_twice = 1,
						     .n_inputs = 1,
						     .inputs = {own},
						     .n_saved = 2,
						     .saved = {own, x}});
	return tn_scope_end(runtime->context, x);
}

/* ---- Ranks -----------------------------------------------------------------------------------*/

/* How many are not 0, in i64. */
static tn_array *count_values(const tn_array *s, double rtol)
{
	const int last = -1;
	if (!s)
		return NULL;
	tn_array *above = s->shape[s->rank - 1]
				  ? with_largest("z = i64(s > rtol * largest)", s, rtol)
				  : tn_astype(s, TN_I64);
	return tn_sum(above, 1, &last, 0);
}

tn_array *tn_matrix_rank(const tn_array *a, double rtol)
{
	struct tn_runtime *runtime = tn_begin(1, &a, "matrix_rank");
	if (!runtime || tn_matrix_check("matrix_rank", "a", a, 0) ||
	    tn_scope_begin(runtime->context))
		return NULL;
	const tn_array *s = tn_svdvals(tn_array_untracked("matrix_rank", a));
	return tn_scope_end(runtime->context, count_values(s, tolerance_of(a, rtol)));
}

/* ---- Least squares ---------------------------------------------------------------------------*/

enum { X, RESIDUALS, RANK, S };

/* The sums of |b - a x|^2 in each column. */
static tn_array *residuals_of(const tn_array *a, const tn_array *x, const tn_array *b)
{
	const int rows = -2;
	return tn_sum(tn_square(tn_abs(tn_subtract(b, tn_matmul(a, x)))), 1, &rows, 0);
}

static tn_status solve(const tn_array *a, const tn_array *b, double rtol, tn_array *results[4])
{
	const tn_dtype dtype = tn_matrix_dtype(a, b);
	const int is_vector = b->rank == 1;
	const tn_array *own = tn_matrix_of(a, dtype), *right = tn_matrix_of(b, dtype);
	if (is_vector)
		right = tn_expand_dims(right, 1);
	results[S] = tn_svdvals(own);
	results[X] = tn_matmul(tn_pinv(own, rtol), right);
	if (!results[S] || !results[X])
		return tn_runtime_status(a->runtime);
	results[RANK] = count_values(tn_array_untracked("lstsq", results[S]), rtol);
	results[RESIDUALS] = residuals_of(own, results[X], right);
	if (is_vector)
		results[X] = tn_squeeze(results[X], -1);
	return tn_runtime_status(a->runtime);
}

tn_status tn_lstsq(const tn_array *a, const tn_array *b, double rtol, tn_array **x,
		   tn_array **residuals, tn_array **rank, tn_array **s)
{
	const tn_array *both[] = {a, b};
	tn_array **const outputs[] = {x, residuals, rank, s};
	tn_array *results[4] = {NULL, NULL, NULL, NULL};
	char text[TN_SHAPE_TEXT];
	struct tn_runtime *runtime = tn_begin(2, both, "lstsq");
	for (int i = X; i <= S; i++) {
		if (outputs[i])
			*outputs[i] = NULL;
	}
	if (!runtime)
		return TN_PENDING_ERROR;
	tn_status status = tn_runtime_given(runtime, "lstsq", 1, &(struct tn_given){"x", x});
	if (!status)
		status = tn_matrix_check("lstsq", "a", a, 0);
	if (!status)
		status = tn_matrix_check_dtype("lstsq", "b", b);
	const int row = b->rank - (b->rank == 1 ? 1 : 2);
	if (!status && (b->rank < 1 || b->shape[row] != a->shape[a->rank - 2]))
		status = tn_runtime_fail(runtime, TN_SHAPE, "lstsq",
					 "b: expected %" PRId64 " rows, found %s",
					 a->shape[a->rank - 2], tn_array_text(b, text));
	if (!status)
		status = tn_scope_begin(runtime->context);
	if (status)
		return status;
	status = solve(a, b, tolerance_of(a, rtol), results);
	for (int i = X; i <= S; i++)
		results[i] = outputs[i] ? results[i] : NULL;
	status = tn_scope_end_all(runtime->context, status, 4, results);
	for (int i = X; i <= S; i++) {
		if (outputs[i])
			*outputs[i] = results[i];
	}
	return status;
}
