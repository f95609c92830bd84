/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Cholesky factorisation:  L L^H = a.
 *
 *     da = the Hermitian part of L^-H P L^-1,   P = the lower triangle of L^H dL, its diagonal
 *     halved
 *
 * (Murray, Differentiation of the Cholesky decomposition, 2016).
 */
#include <tenon/linalg.h>
#include <tenon/manipulate.h>

#include "array/make.h"
#include "linalg/factor.h"

static tn_status backward(struct tn_node *node, tn_array *dl)
{
	const tn_array *l = node->saved[0].array;
	tn_array *product = tn_matmul(tn_adjoint(l), dl);
	tn_array *p = tn_affine(tn_add(tn_tril(product, 0), tn_tril(product, -1)), 0.5, 0);
	tn_array *left = tn_solve_triangular(l, p, 1, 2, 0);
	tn_array *both = tn_adjoint(tn_solve_triangular(l, tn_adjoint(left), 1, 2, 0));
	return tn_node_give(node, 0, both ? tn_hermitian_part(both) : NULL);
}

/* L, in the caller's scope. */
static tn_array *factor(const tn_array *a)
{
	struct tn_factor f;
	struct tn_suspension suspension = tn_tape_suspend(a);
	tn_array *l = NULL;
	tn_status status =
		suspension.runtime ? tn_factor_begin(&f, "cholesky", a, NULL) : TN_PENDING_ERROR;
	if (!status) {
		l = tn_factor_copy(&f, &f.args.a, a);
		status = tn_factor_run(&f, TN_SLOT_CHOLESKY,
				       "it is not positive definite: the first leading minor that "
				       "is not positive has the order");
	}
	return tn_tape_resume(suspension, status ? NULL : l,
			      &(struct tn_node_request){.operation = "cholesky",
							.backward = backward,
							.is_twice = 1,
							.n_inputs = 1,
							.inputs = {a},
							.n_saved = 1,
							.saved = {l}});
}

tn_array *tn_cholesky(const tn_array *a, int upper)
{
	struct tn_runtime *runtime = tn_begin(1, &a, "cholesky");
	if (!runtime || tn_matrix_check("cholesky", "a", a, 1) || tn_scope_begin(runtime->context))
		return NULL;
	const tn_array *own = tn_matrix_of(a, tn_matrix_dtype(a, NULL));
	tn_array *l = factor(upper ? tn_adjoint(own) : own);
	return tn_scope_end(runtime->context, upper ? tn_adjoint(l) : l);
}
