/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Singular values and vectors:  a = u diag(s) vh.  With F[i][j] = 1 / (s[j]^2 - s[i]^2), 0 where
 * i = j, and skew(X) = X - X^H,
 *
 *     da = u (F o skew(u^H du) diag(s) + diag(s) F o skew(v^H dv)) v^H
 *          + u diag(ds + i Im(u^H du) / s) v^H
 *          + (1 - u u^H) du diag(1 / s) v^H + u diag(1 / s) dv^H (1 - v v^H)
 *
 * (Townsend, Differentiating the singular value decomposition, 2016; Wan and Zhang, Automatic
 * differentiation for complex valued SVD, 2019).
 */
#include <tenon/linalg.h>

#include <tenon/manipulate.h>
#include <tenon/map.h>
#include <tenon/ufunc.h>

#include "array/make.h"
#include "base/dtype.h"
#include "linalg/factor.h"

enum { S, U, VH };

/* What the factors are, and their gradients; NULL: none. */
struct triple {
	const tn_array *s, *u, *vh;
	const tn_array *ds, *du, *dvh;
};

static tn_array *skew_part(const tn_array *x)
{
	return tn_subtract(x, tn_adjoint(x));
}

static tn_array *reciprocal(const tn_array *s)
{
	const char *const names[] = {"s"};
	return tn_map("z = 1 / s", 1, names, &s, 0, NULL, NULL);
}

/* diag(d) a: rows times the elements of d. */
static tn_array *scale_rows(const tn_array *a, const tn_array *d)
{
	return tn_multiply(a, tn_expand_dims(d, -1));
}

/* x minus its part in the space of u's columns. */
static tn_array *outside(const tn_array *x, const tn_array *u)
{
	return tn_subtract(x, tn_matmul(u, tn_matmul(tn_adjoint(u), x)));
}

/* diag(i Im(u^H du) / s), which fixes the phases of complex vectors. */
static tn_array *phases(const tn_array *skew, const tn_array *s)
{
	tn_array *twice = tn_multiply(tn_diagonal(skew, 0, -2, -1), reciprocal(s));
	return tn_multiply(tn_identity_like(skew), tn_expand_dims(tn_affine(twice, 0.5, 0), -2));
}

static tn_array *of_left(const struct triple *t)
{
	tn_array *skew = skew_part(tn_matmul(tn_adjoint(t->u), t->du));
	tn_array *inner = tn_scale_columns(
		tn_multiply(tn_inverse_gaps("to * to - from * from", t->s), skew), t->s);
	if (skew && tn_is_complex(skew->dtype))
		inner = tn_add(inner, phases(skew, t->s));
	tn_array *g = tn_matmul(tn_matmul(t->u, inner), t->vh);
	if (t->u->shape[t->u->rank - 2] == t->u->shape[t->u->rank - 1])
		return g;
	return tn_add(g,
		      tn_matmul(tn_scale_columns(outside(t->du, t->u), reciprocal(t->s)), t->vh));
}

static tn_array *of_right(const struct triple *t)
{
	const tn_array *v = tn_adjoint(t->vh), *dv = tn_adjoint(t->dvh);
	tn_array *skew = skew_part(tn_matmul(t->vh, dv));
	tn_array *inner =
		scale_rows(tn_multiply(tn_inverse_gaps("to * to - from * from", t->s), skew), t->s);
	tn_array *g = tn_matmul(tn_matmul(t->u, inner), t->vh);
	if (t->vh->shape[t->vh->rank - 2] == t->vh->shape[t->vh->rank - 1])
		return g;
	return tn_add(g, tn_matmul(t->u, scale_rows(tn_adjoint(outside(dv, v)), reciprocal(t->s))));
}

static tn_status backward(struct tn_node *node, tn_array *dy)
{
	struct triple t = {.s = node->saved[S].array,
			   .u = node->saved[U].array,
			   .vh = node->saved[VH].array,
			   .ds = node->outputs[S]->gradient,
			   .du = node->outputs[U]->gradient,
			   .dvh = node->outputs[VH]->gradient};
	const int64_t k = t.s->shape[t.s->rank - 1];
	tn_array *g = NULL;
	(void)dy;
	if ((t.du && t.u->shape[t.u->rank - 1] > k) || (t.dvh && t.vh->shape[t.vh->rank - 2] > k))
		return tn_runtime_fail(tn_node_runtime(node), TN_UNSUPPORTED, "svd",
				       "full_matrices: vectors beyond the singular values have no "
				       "gradient");
	t.u = tn_slice(t.u, -1, 0, k, 1);
	t.vh = tn_slice(t.vh, -2, 0, k, 1);
	if (!t.u || !t.vh)
		return tn_node_give(node, 0, NULL);
	if (t.ds)
		g = tn_matmul(tn_scale_columns(t.u, t.ds), t.vh);
	if (t.du)
		g = tn_sum_of(g, of_left(&t));
	if (t.dvh)
		g = tn_sum_of(g, of_right(&t));
	return tn_node_give(node, 0, g);
}

/* Of an empty matrix: any orthonormal vectors. */
static void fill_empty(const struct tn_factor *f, tn_array *results[3])
{
	for (int i = U; i <= VH; i++) {
		const tn_array *x = results[i];
		if (x && x->size)
			tn_assign(results[i],
				  tn_eye(f->runtime->context, x->dtype, x->shape[x->rank - 2],
					 x->shape[x->rank - 1], 0));
	}
}

static tn_status factor(const char *operation, const tn_array *a, int is_full, int wants_vectors,
			tn_array *results[3])
{
	struct tn_factor f;
	const int64_t m = a->shape[a->rank - 2], n = a->shape[a->rank - 1], k = m < n ? m : n;
	tn_status status = tn_factor_begin(&f, operation, a, NULL);
	if (status)
		return status;
	tn_factor_copy(&f, &f.args.a, a);
	results[S] = tn_factor_list(&f, &f.args.values, tn_real_dtype(a->dtype), k);
	if (wants_vectors) {
		results[U] = tn_factor_matrix(&f, &f.args.u, a->dtype, m, is_full ? m : k);
		results[VH] = tn_factor_matrix(&f, &f.args.v, a->dtype, is_full ? n : k, n);
	}
	status = tn_factor_run(&f, TN_SLOT_SVD, "its singular values do not converge");
	if (!status && !k)
		fill_empty(&f, results);
	return status ? status : tn_runtime_status(f.runtime);
}

static tn_status record(const char *operation, const tn_array *a, int is_full, int wants_vectors,
			tn_array *results[3])
{
	const tn_array *own = tn_matrix_of(a, tn_matrix_dtype(a, NULL));
	struct tn_suspension suspension = tn_tape_suspend(own);
	if (!suspension.runtime)
		return TN_PENDING_ERROR;
	const int with_vectors = wants_vectors || (suspension.recorder && own->tracked);
	tn_status status = factor(operation, own, is_full, with_vectors, results);
	const struct tn_node_request request = {.operation = operation,
						.backward = backward,
						.is_twice = 1,
						.n_inputs = 1,
						.inputs = {own},
						.n_saved = 3,
						.saved = {results[S], results[U], results[VH]}};
	return tn_factor_record(suspension, status, with_vectors ? 3 : 1, results, &request);
}

tn_status tn_svd(const tn_array *a, int full_matrices, tn_array **u, tn_array **s, tn_array **vh)
{
	static const char *const names[] = {[S] = "s", [U] = "u", [VH] = "vh"};
	tn_array **const outputs[] = {[S] = s, [U] = u, [VH] = vh};
	tn_array *results[3] = {NULL, NULL, NULL};
	tn_status status = tn_results_begin("svd", 1, &a, 3, names, outputs);
	if (status)
		return status;
	status = tn_matrix_check("svd", "a", a, 0);
	if (!status)
		status = record("svd", a, full_matrices, 1, results);
	return tn_results_end(a->runtime, status, 3, results, outputs);
}

tn_array *tn_svdvals(const tn_array *a)
{
	tn_array *results[3] = {NULL, NULL, NULL};
	struct tn_runtime *runtime = tn_begin(1, &a, "svdvals");
	if (!runtime || tn_matrix_check("svdvals", "a", a, 0) || tn_scope_begin(runtime->context))
		return NULL;
	tn_status status = record("svdvals", a, 0, 0, results);
	return tn_scope_end(runtime->context, status ? NULL : results[S]);
}
