/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * QR factorisation:  a = q r. With X = triu(dr r^H - q^H dq), for a with no more columns than rows
 *
 *     da = (dq + q (X + X^H with its diagonal halved and real)) r^-H
 *
 * (Walter and Lehmann, Algorithmic differentiation of linear algebra functions, 2012).  A wide a is
 * (a1, a2) with a square a1 = q r1, and r = (r1, q^H a2).
 */
#include <tenon/linalg.h>

#include <tenon/manipulate.h>

#include "array/make.h"
#include "base/dtype.h"
#include "linalg/factor.h"

/* g, or zeros like x. */
static tn_array *or_zeros(tn_array *g, const tn_array *x)
{
	return g ? g : tn_zeros_like(x, x->dtype);
}

/* The gradient of a1, from those of q and r1. */
static tn_array *square_gradient(const tn_array *q, const tn_array *r, const tn_array *dq,
				 const tn_array *dr)
{
	tn_array *x =
		tn_triu(tn_subtract(tn_matmul(dr, tn_adjoint(r)), tn_matmul(tn_adjoint(q), dq)), 0);
	/* The diagonal of X + X^H is twice the real part of X's. */
	tn_array *diagonal = x ? tn_diagonal(x, 0, -2, -1) : NULL;
	tn_array *half = diagonal && tn_is_complex(diagonal->dtype)
				 ? tn_astype(tn_real(diagonal), diagonal->dtype)
				 : diagonal;
	tn_array *unit = tn_identity_like(x);
	tn_array *sum =
		tn_subtract(tn_add(x, tn_adjoint(x)), tn_multiply(unit, tn_expand_dims(half, -2)));
	tn_array *y = tn_add(dq, tn_matmul(q, sum));
	/* y r^-H = (r^-1 y^H)^H */
	return tn_adjoint(tn_solve_triangular(r, tn_adjoint(y), 0, 0, 0));
}

/* An m x m q has no derivative where a has fewer columns. */
static tn_status refuse_complete(const struct tn_node *node)
{
	return tn_runtime_fail(tn_node_runtime(node), TN_UNSUPPORTED, "qr",
			       "the complete q of a matrix with more rows than columns has no "
			       "gradient");
}

static tn_status backward(struct tn_node *node, tn_array *dy)
{
	const tn_array *a = node->saved[0].array, *q = node->saved[1].array;
	const tn_array *r = node->saved[2].array;
	const int64_t m = a->shape[a->rank - 2], n = a->shape[a->rank - 1];
	tn_array *dq = node->outputs[0]->gradient;
	tn_array *dr = or_zeros(node->outputs[1]->gradient, r);
	(void)dy;
	if (q->shape[q->rank - 1] > n) {
		if (dq)
			return refuse_complete(node);
		q = tn_slice(q, -1, 0, n, 1);
		r = tn_slice(r, -2, 0, n, 1);
		dr = tn_slice(dr, -2, 0, n, 1);
	}
	if (!q || !r || !dr)
		return tn_node_give(node, 0, NULL);
	dq = or_zeros(dq, q);
	if (n <= m)
		return tn_node_give(node, 0, square_gradient(q, r, dq, dr));
	tn_array *r1 = tn_slice(r, -1, 0, m, 1), *dr1 = tn_slice(dr, -1, 0, m, 1);
	tn_array *a2 = tn_slice(a, -1, m, n, 1), *dr2 = tn_slice(dr, -1, m, n, 1);
	dq = tn_add(dq, tn_matmul(a2, tn_adjoint(dr2)));
	const tn_array *parts[] = {square_gradient(q, r1, dq, dr1), tn_matmul(q, dr2)};
	return tn_node_give(node, 0, parts[0] && parts[1] ? tn_concatenate(2, parts, -1) : NULL);
}

static tn_status factor(const tn_array *a, int is_complete, int wants_q, tn_array *results[2])
{
	struct tn_factor f;
	const int64_t m = a->shape[a->rank - 2], n = a->shape[a->rank - 1];
	const int64_t k = is_complete || m < n ? m : n;
	tn_status status = tn_factor_begin(&f, "qr", a, NULL);
	if (status)
		return status;
	tn_array *copy = tn_factor_copy(&f, &f.args.a, a);
	if (wants_q)
		results[0] = tn_factor_matrix(&f, &f.args.u, a->dtype, m, k);
	status = tn_factor_run(&f, TN_SLOT_QR, NULL);
	/* No reflections. */
	if (!status && wants_q && !n)
		status = tn_assign(results[0], tn_eye(f.runtime->context, a->dtype, m, k, 0));
	if (!status)
		results[1] = tn_triu(tn_slice(copy, -2, 0, k, 1), 0);
	return tn_runtime_status(f.runtime);
}

static tn_status record(const tn_array *any, int is_complete, int wants_q, tn_array *results[2])
{
	const tn_array *a = tn_matrix_of(any, tn_matrix_dtype(any, NULL));
	struct tn_suspension suspension = tn_tape_suspend(a);
	if (!suspension.runtime)
		return TN_PENDING_ERROR;
	const int is_wanted = wants_q || (suspension.recorder && a->tracked);
	tn_status status = factor(a, is_complete, is_wanted, results);
	const struct tn_node_request request = {.operation = "qr",
						.backward = backward,
						.is_twice = 1,
						.n_inputs = 1,
						.inputs = {a},
						.n_saved = 3,
						.saved = {a, results[0], results[1]}};
	return is_wanted ? tn_factor_record(suspension, status, 2, results, &request)
			 : tn_factor_record(suspension, status, 1, &results[1], &request);
}

tn_status tn_qr(const tn_array *a, int complete, tn_array **q, tn_array **r)
{
	static const char *const names[] = {NULL, "r"};
	tn_array **const outputs[] = {q, r};
	tn_array *results[2] = {NULL, NULL};
	tn_status status = tn_results_begin("qr", 1, &a, 2, names, outputs);
	if (status)
		return status;
	status = tn_matrix_check("qr", "a", a, 0);
	if (!status)
		status = record(a, complete, q != NULL, results);
	return tn_results_end(a->runtime, status, 2, results, outputs);
}
