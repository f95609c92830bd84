/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Systems of equations, and inverses:  x = op(a)^-1 b.
 *
 *     db = op(a)^-H dx,   d op(a) = -db x^H;   of an inverse:  da = -x^H dx x^H
 */
#include <tenon/linalg.h>

#include <inttypes.h>

#include <tenon/manipulate.h>
#include <tenon/ufunc.h>

#include "array/make.h"
#include "array/shape.h"
#include "autograd/gradient_reduce.h"
#include "base/dtype.h"
#include "linalg/factor.h"

/* What is solved, as a node keeps it. */
struct system {
	enum tn_slot slot;
	int is_lower;
	int transpose; /* 0, 1, or 2: conjugated */
	int is_unit;
	int rank_a, rank_b;
	int64_t shape_a[TN_MAX_RANK], shape_b[TN_MAX_RANK];
};

static tn_array *solve_with(const struct system *s, const tn_array *a, const tn_array *b)
{
	return s->slot == TN_SLOT_SOLVE
		       ? tn_solve(a, b)
		       : tn_solve_triangular(a, b, s->is_lower, s->transpose, s->is_unit);
}

/* op(a)^-H g */
static tn_array *solve_adjoint(const struct system *s, const tn_array *a, const tn_array *g)
{
	struct system other = *s;
	if (s->slot == TN_SLOT_SOLVE)
		return tn_solve(tn_adjoint(a), g);
	other.transpose = s->transpose == 0 ? 2 : 0;
	if (s->transpose != 1)
		return solve_with(&other, a, g);
	return tn_is_complex(a->dtype) ? tn_conj(solve_with(&other, a, tn_conj(g)))
				       : solve_with(&other, a, g);
}

/* The part of the gradient that belongs to the triangle. */
static tn_array *in_triangle(const struct system *s, tn_array *g)
{
	if (s->slot == TN_SLOT_SOLVE)
		return g;
	return s->is_lower ? tn_tril(g, s->is_unit ? -1 : 0) : tn_triu(g, s->is_unit ? 1 : 0);
}

static tn_array *gradient_of_a(const struct system *s, const tn_array *db, const tn_array *x)
{
	tn_array *g = NULL;
	if (s->transpose == 0)
		g = tn_matmul(db, tn_adjoint(x));
	else if (s->transpose == 2)
		g = tn_matmul(x, tn_adjoint(db));
	else
		g = tn_swapaxes(tn_matmul(db, tn_adjoint(x)), -2, -1);
	g = in_triangle(s, tn_negative(g));
	return g ? tn_sum_to_shape(g, s->rank_a, s->shape_a) : NULL;
}

static tn_status backward(struct tn_node *node, tn_array *dx)
{
	const struct system *s = node->state;
	const tn_array *a = node->saved[0].array, *x = node->saved[1].array;
	tn_array *db = solve_adjoint(s, a, dx);
	tn_status status = TN_OK;
	if (tn_node_wants(node, 0))
		status = tn_node_give(node, 0, gradient_of_a(s, db, x));
	if (tn_node_wants(node, 1) && !status)
		status = tn_node_give(node, 1,
				      db ? tn_sum_to_shape(db, s->rank_b, s->shape_b) : NULL);
	return status;
}

static tn_status run(const struct system *s, const char *operation, const tn_array *a,
		     const tn_array *b, tn_array **x)
{
	struct tn_factor f;
	tn_status status = tn_factor_begin(&f, operation, a, b);
	if (status)
		return status;
	*x = tn_factor_copy(&f, &f.args.b, b);
	tn_factor_copy(&f, &f.args.a, a);
	if (!b->shape[b->rank - 1]) /* whether a is singular shows with one column */
		tn_factor_copy(&f, &f.args.b, tn_slice(tn_identity_like(a), -1, 0, 1, 1));
	f.args.upper = s->slot != TN_SLOT_SOLVE && !s->is_lower;
	f.args.unit = (uint32_t)s->is_unit;
	f.args.transpose = (uint32_t)s->transpose;
	return tn_factor_run(&f, s->slot,
			     "it is singular: the first 0 on the diagonal of its triangle has the "
			     "place");
}

/* Both matrices, of one dtype; in the caller's scope. */
static tn_array *solve(struct system *s, const char *operation, const tn_array *a,
		       const tn_array *b)
{
	struct tn_suspension suspension = tn_tape_suspend(a);
	tn_array *x = NULL;
	if (!suspension.runtime || !b)
		return tn_tape_resume(suspension, NULL, NULL);
	s->rank_a = a->rank;
	s->rank_b = b->rank;
	for (int i = 0; i < TN_MAX_RANK; i++) {
		s->shape_a[i] = i < a->rank ? a->shape[i] : 0;
		s->shape_b[i] = i < b->rank ? b->shape[i] : 0;
	}
	tn_status status = run(s, operation, a, b, &x);
	return tn_tape_resume(suspension, status ? NULL : x,
			      &(struct tn_node_request){.operation = operation,
							.backward = backward,
							.is_twice = 1,
							.n_inputs = 2,
							.inputs = {a, b},
							.n_saved = 2,
							.saved = {a, x},
							.state = s,
							.state_size = sizeof(*s)});
}

/* Checks, converts, and takes a vector b as a matrix of one column. */
static tn_array *solve_any(struct system *s, const char *operation, const tn_array *a,
			   const tn_array *b)
{
	const tn_array *both[] = {a, b};
	char text[TN_SHAPE_TEXT];
	struct tn_runtime *runtime = tn_begin(2, both, operation);
	if (!runtime || tn_matrix_check(operation, "a", a, 1) ||
	    tn_matrix_check_dtype(operation, "b", b))
		return NULL;
	const int is_vector = b->rank == 1, row = b->rank - (is_vector ? 1 : 2);
	if (b->rank < 1 || b->shape[row] != a->shape[a->rank - 1]) {
		tn_runtime_fail(runtime, TN_SHAPE, operation,
				"b: expected %" PRId64 " rows, found %s", a->shape[a->rank - 1],
				tn_array_text(b, text));
		return NULL;
	}
	const tn_dtype dtype = tn_matrix_dtype(a, b);
	if (tn_scope_begin(runtime->context))
		return NULL;
	const tn_array *columns = tn_matrix_of(b, dtype);
	if (is_vector)
		columns = tn_expand_dims(columns, 1);
	tn_array *x = solve(s, operation, tn_matrix_of(a, dtype), columns);
	return tn_scope_end(runtime->context, is_vector ? tn_squeeze(x, -1) : x);
}

tn_array *tn_solve(const tn_array *a, const tn_array *b)
{
	return solve_any(&(struct system){.slot = TN_SLOT_SOLVE}, "solve", a, b);
}

tn_array *tn_solve_triangular(const tn_array *a, const tn_array *b, int lower, int transpose,
			      int unit_diagonal)
{
	const tn_array *both[] = {a, b};
	struct system s = {.slot = TN_SLOT_SOLVE_TRIANGULAR,
			   .is_lower = lower != 0,
			   .transpose = transpose,
			   .is_unit = unit_diagonal != 0};
	struct tn_runtime *runtime = tn_begin(2, both, "solve_triangular");
	if (!runtime)
		return NULL;
	if (transpose < 0 || transpose > 2) {
		tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, "solve_triangular",
				"transpose: expected 0, 1 or 2, found %d", transpose);
		return NULL;
	}
	return solve_any(&s, "solve_triangular", a, b);
}

/* ---- Inverses --------------------------------------------------------------------------------*/

static tn_status inverse_backward(struct tn_node *node, tn_array *dx)
{
	const tn_array *adjoint = tn_adjoint(node->saved[0].array);
	return tn_node_give(node, 0, tn_negative(tn_matmul(tn_matmul(adjoint, dx), adjoint)));
}

tn_array *tn_inv(const tn_array *a)
{
	struct tn_runtime *runtime = tn_begin(1, &a, "inv");
	const struct system s = {.slot = TN_SLOT_SOLVE};
	tn_array *x = NULL;
	if (!runtime || tn_matrix_check("inv", "a", a, 1) || tn_scope_begin(runtime->context))
		return NULL;
	const tn_array *own = tn_matrix_of(a, tn_matrix_dtype(a, NULL));
	struct tn_suspension suspension = tn_tape_suspend(own);
	const tn_array *unit = suspension.runtime ? tn_identity_like(own) : NULL;
	tn_status status = unit ? run(&s, "inv", own, unit, &x) : TN_PENDING_ERROR;
	x = tn_tape_resume(suspension, status ? NULL : x,
			   &(struct tn_node_request){.operation = "inv",
						     .backward = inverse_backward,
						     .is_twice = 1,
						     .n_inputs = 1,
						     .inputs = {own},
						     .n_saved = 1,
						     .saved = {x}});
	return tn_scope_end(runtime->context, x);
}

/* ---- Tensors ---------------------------------------------------------------------------------*/

/* Of the lengths of axes begin to end - 1. */
static int64_t product(const tn_array *a, int begin, int end)
{
	int64_t size = 1;
	for (int i = begin; i < end; i++)
		size *= a->shape[i];
	return size;
}

tn_array *tn_tensorinv(const tn_array *a, int ind)
{
	struct tn_runtime *runtime = tn_begin(1, &a, "tensorinv");
	int64_t shape[TN_MAX_RANK];
	if (!runtime)
		return NULL;
	if (ind < 1 || ind > a->rank) {
		tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, "tensorinv",
				"ind: expected 1 to %d, found %d", a->rank, ind);
		return NULL;
	}
	const int64_t rows = product(a, 0, ind);
	const int64_t columns = product(a, ind, a->rank);
	for (int i = 0; i < a->rank; i++)
		shape[i] = a->shape[(i + ind) % a->rank];
	if (tn_scope_begin(runtime->context))
		return NULL;
	tn_array *matrix = tn_reshape(a, 2, (const int64_t[]){rows, columns});
	return tn_scope_end(runtime->context, tn_reshape(tn_inv(matrix), a->rank, shape));
}

tn_array *tn_tensorsolve(const tn_array *a, const tn_array *b, int n, const int *axes)
{
	const tn_array *both[] = {a, b};
	struct tn_runtime *runtime = tn_begin(2, both, "tensorsolve");
	int end[TN_MAX_RANK];
	char first[TN_SHAPE_TEXT], second[TN_SHAPE_TEXT];
	if (!runtime || tn_scope_begin(runtime->context))
		return NULL;
	for (int i = 0; i < n && i < TN_MAX_RANK; i++)
		end[i] = i - n;
	tn_array *turned = n ? tn_moveaxis(a, n, axes, end) : tn_array_const_cast(a);
	tn_array *x = NULL;
	const int64_t unknowns =
		turned && a->rank > b->rank ? product(turned, b->rank, a->rank) : 1;
	if (turned && (a->rank < b->rank || b->size != unknowns || a->size != unknowns * b->size))
		tn_runtime_fail(runtime, TN_SHAPE, "tensorsolve", "%s and %s are no square system",
				tn_array_text(a, first), tn_array_text(b, second));
	else if (turned)
		x = tn_reshape(tn_solve(tn_reshape(turned, 2, (const int64_t[]){b->size, unknowns}),
					tn_reshape(b, 1, &b->size)),
			       a->rank - b->rank, turned->shape + b->rank);
	return tn_scope_end(runtime->context, x);
}
