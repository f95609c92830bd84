/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Eigenvalues and vectors of any square matrix, complex also where they happen to be real:
 * a v = v diag(w),  and with P = v^H dv - v^H v diag(Re(v^H dv)), 0 on its diagonal,
 *
 *     da = v^-H (diag(dw) + P / conj(w[j] - w[i])) v^H
 *
 * whose real part it is for a real matrix (Boeddeker et al., On the computation of complex-valued
 * gradients with application to statistically optimum beamforming, 2017).
 */
#include <tenon/linalg.h>

#include <tenon/manipulate.h>

#include "array/make.h"
#include "base/dtype.h"
#include "linalg/factor.h"

enum { W, V };

/* P / conj(w[j] - w[i]) */
static tn_array *of_vectors(const tn_array *w, const tn_array *v, const tn_array *dv,
			    const tn_array *unit)
{
	tn_array *p = tn_matmul(tn_adjoint(v), dv);
	tn_array *parallel = p ? tn_real(tn_diagonal(p, 0, -2, -1)) : NULL;
	p = tn_subtract(p, tn_scale_columns(tn_matmul(tn_adjoint(v), v), parallel));
	tn_array *gaps = tn_subtract(tn_expand_dims(w, -2), tn_expand_dims(w, -1));
	p = tn_divide(p, tn_conj(tn_add(gaps, unit)));
	return tn_subtract(p, tn_multiply(p, unit));
}

static tn_status backward(struct tn_node *node, tn_array *dy)
{
	const tn_array *w = node->saved[W].array, *v = node->saved[V].array;
	const tn_array *dw = node->outputs[W]->gradient, *dv = node->outputs[V]->gradient;
	const tn_array *unit = tn_identity_like(v);
	const tn_array *adjoint = tn_adjoint(v);
	tn_array *inner = dw ? tn_multiply(unit, tn_expand_dims(dw, -2)) : NULL;
	(void)dy;
	if (dv)
		inner = tn_sum_of(inner, of_vectors(w, v, dv, unit));
	tn_array *g = tn_solve(adjoint, tn_matmul(inner, adjoint));
	return tn_node_give(node, 0, *(const int *)node->state ? tn_real(g) : g);
}

static tn_status factor(const char *operation, const tn_array *a, int wants_vectors,
			tn_array *results[2])
{
	struct tn_factor f;
	const int64_t n = a->shape[a->rank - 1];
	const tn_dtype dtype = tn_complex_dtype(a->dtype);
	tn_status status = tn_factor_begin(&f, operation, a, NULL);
	if (status)
		return status;
	tn_factor_copy(&f, &f.args.a, a);
	results[W] = tn_factor_list(&f, &f.args.values, dtype, n);
	if (wants_vectors)
		results[V] = tn_factor_matrix(&f, &f.args.v, dtype, n, n);
	f.args.vectors = wants_vectors != 0;
	return tn_factor_run(&f, TN_SLOT_EIG, "its eigenvalues do not converge");
}

static tn_status record(const char *operation, const tn_array *a, int wants_vectors,
			tn_array *results[2])
{
	const tn_array *own = tn_matrix_of(a, tn_matrix_dtype(a, NULL));
	struct tn_suspension suspension = tn_tape_suspend(own);
	if (!suspension.runtime)
		return TN_PENDING_ERROR;
	const int is_real = !tn_is_complex(own->dtype);
	const int with_vectors = wants_vectors || (suspension.recorder && own->tracked);
	tn_status status = factor(operation, own, with_vectors, results);
	const struct tn_node_request request = {.operation = operation,
						.backward = backward,
						.is_twice = 1,
						.n_inputs = 1,
						.inputs = {own},
						.n_saved = 2,
						.saved = {results[W], results[V]},
						.state = &is_real,
						.state_size = sizeof(is_real)};
	return tn_factor_record(suspension, status, with_vectors ? 2 : 1, results, &request);
}

tn_status tn_eig(const tn_array *a, tn_array **w, tn_array **v)
{
	static const char *const names[] = {"w", "v"};
	tn_array **const outputs[] = {w, v};
	tn_array *results[2] = {NULL, NULL};
	tn_status status = tn_results_begin("eig", 1, &a, 2, names, outputs);
	if (status)
		return status;
	status = tn_matrix_check("eig", "a", a, 1);
	if (!status)
		status = record("eig", a, 1, results);
	return tn_results_end(a->runtime, status, 2, results, outputs);
}

tn_array *tn_eigvals(const tn_array *a)
{
	tn_array *results[2] = {NULL, NULL};
	struct tn_runtime *runtime = tn_begin(1, &a, "eigvals");
	if (!runtime || tn_matrix_check("eigvals", "a", a, 1) || tn_scope_begin(runtime->context))
		return NULL;
	tn_status status = record("eigvals", a, 0, results);
	return tn_scope_end(runtime->context, status ? NULL : results[W]);
}
