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
#include <math.h>

#include <tenon/manipulate.h>
#include <tenon/map.h>
#include <tenon/reduce.h>

#include "array/make.h"
#include "array/shape.h"
#include "base/dtype.h"
#include "linalg/factor.h"

/* max(m, n) epsilon of a's dtype, unless rtol is given: not below 0. */
static double tolerance_of(const tn_array *a, double rtol)
{
	const int64_t m = a->shape[a->rank - 2], n = a->shape[a->rank - 1];
	const int is_single = tn_real_dtype(a->dtype) == TN_F32;
	if (rtol >= 0)
		return rtol;
	return (double)(m > n ? m : n) * (is_single ? (double)FLT_EPSILON : DBL_EPSILON);
}

static tn_status check_tolerance(struct tn_runtime *runtime, const char *operation, double rtol)
{
	if (!isnan(rtol))
		return TN_OK;
	return tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, operation,
			       "rtol: expected a number, found NaN");
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

static tn_array *invert(const tn_array *u, const tn_array *s, const tn_array *vh, double rtol)
{
	const tn_array *inverse =
		s->size ? with_largest("z = s > rtol * largest ? 1 / s : 0", s, rtol) : s;
	return tn_matmul(tn_scale_columns(tn_adjoint(vh), inverse), tn_adjoint(u));
}

/* The pseudo-inverse of a by the factors of `same`, a itself or a view of it; *s: its singular
 * values.  NULL for NULL. */
static tn_array *compute(const tn_array *a, const tn_array *same, double rtol, tn_array **s)
{
	tn_array *u, *vh;
	if (!same || tn_svd(same, 0, &u, s, &vh))
		return NULL;
	struct tn_suspension suspension = tn_tape_suspend(a);
	tn_array *x = suspension.runtime ? invert(u, *s, vh, tolerance_of(a, rtol)) : NULL;
	return tn_tape_resume(suspension, x,
			      &(struct tn_node_request){.operation = "pinv",
							.backward = backward,
							.is_twice = 1,
							.n_inputs = 1,
							.inputs = {a},
							.n_saved = 2,
							.saved = {a, x}});
}

tn_array *tn_pinv(const tn_array *a, double rtol)
{
	struct tn_runtime *runtime = tn_begin(1, &a, "pinv");
	tn_array *s;
	if (!runtime || tn_matrix_check("pinv", "a", a, 0) ||
	    check_tolerance(runtime, "pinv", rtol) || tn_scope_begin(runtime->context))
		return NULL;
	const tn_array *own = tn_matrix_of(a, tn_matrix_dtype(a, NULL));
	return tn_scope_end(runtime->context,
			    compute(own, own ? tn_array_untracked("pinv", own) : NULL, rtol, &s));
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
	    check_tolerance(runtime, "matrix_rank", rtol) || tn_scope_begin(runtime->context))
		return NULL;
	const tn_array *own = tn_matrix_of(a, tn_matrix_dtype(a, NULL));
	const tn_array *s = own ? tn_svdvals(tn_array_untracked("matrix_rank", own)) : NULL;
	return tn_scope_end(runtime->context, s ? count_values(s, tolerance_of(own, rtol)) : NULL);
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
	results[X] = own ? tn_matmul(compute(own, own, rtol, &results[S]), right) : NULL;
	if (!results[X])
		return tn_runtime_status(a->runtime);
	results[RANK] =
		count_values(tn_array_untracked("lstsq", results[S]), tolerance_of(own, rtol));
	results[RESIDUALS] = residuals_of(own, results[X], right);
	if (is_vector)
		results[X] = tn_squeeze(results[X], -1);
	return tn_runtime_status(a->runtime);
}

static tn_status check_system(const tn_array *a, const tn_array *b)
{
	char text[TN_SHAPE_TEXT];
	tn_status status = tn_matrix_check("lstsq", "a", a, 0);
	if (!status)
		status = tn_matrix_check_dtype("lstsq", "b", b);
	const int row = b->rank - (b->rank == 1 ? 1 : 2);
	if (status || (b->rank >= 1 && b->shape[row] == a->shape[a->rank - 2]))
		return status;
	return tn_runtime_fail(a->runtime, TN_SHAPE, "lstsq",
			       "b: expected %" PRId64 " rows, found %s", a->shape[a->rank - 2],
			       tn_array_text(b, text));
}

tn_status tn_lstsq(const tn_array *a, const tn_array *b, double rtol, tn_array **x,
		   tn_array **residuals, tn_array **rank, tn_array **s)
{
	const tn_array *both[] = {a, b};
	static const char *const names[] = {"x", NULL, NULL, NULL};
	tn_array **const outputs[] = {x, residuals, rank, s};
	tn_array *results[4] = {NULL, NULL, NULL, NULL};
	tn_status status = tn_results_begin("lstsq", 2, both, 4, names, outputs);
	if (status)
		return status;
	status = check_system(a, b);
	if (!status)
		status = check_tolerance(a->runtime, "lstsq", rtol);
	if (!status)
		status = solve(a, b, rtol, results);
	return tn_results_end(a->runtime, status, 4, results, outputs);
}
