/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Eigenvalues and vectors of Hermitian matrices:  a v = v diag(w),
 *
 *     da = the Hermitian part of v (diag(dw) + F o v^H dv) v^H,   F[i][j] = 1 / (w[j] - w[i]),
 *     0 where i = j
 *
 * (Giles, Collected matrix derivative results, 2008).
 */
#include <tenon/linalg.h>

#include <tenon/manipulate.h>

#include "array/make.h"
#include "base/dtype.h"
#include "linalg/factor.h"

enum { W, V };

static tn_status backward(struct tn_node *node, tn_array *dy)
{
	const tn_array *w = node->saved[W].array, *v = node->saved[V].array;
	const tn_array *dw = node->outputs[W]->gradient;
	const tn_array *dv = node->n_outputs > 1 ? node->outputs[V]->gradient : NULL;
	const tn_array *adjoint = tn_adjoint(v);
	tn_array *g = NULL;
	(void)dy;
	if (dw)
		g = tn_matmul(tn_scale_columns(v, dw), adjoint);
	if (dv) {
		tn_array *inner =
			tn_multiply(tn_inverse_gaps("to - from", w), tn_matmul(adjoint, dv));
		g = tn_sum_of(g, tn_matmul(tn_matmul(v, inner), adjoint));
	}
	return tn_node_give(node, 0, g ? tn_hermitian_part(g) : NULL);
}

static tn_status factor(const char *operation, const tn_array *a, int wants_vectors,
			tn_array *results[2])
{
	struct tn_factor f;
	const int64_t n = a->shape[a->rank - 1];
	tn_status status = tn_factor_begin(&f, operation, a, NULL);
	if (status)
		return status;
	tn_array *v = tn_factor_copy(&f, &f.args.a, a);
	results[W] = tn_factor_list(&f, &f.args.values, tn_real_dtype(a->dtype), n);
	f.args.vectors = wants_vectors != 0;
	status = tn_factor_run(&f, TN_SLOT_EIGH, "its eigenvalues do not converge");
	if (wants_vectors)
		results[V] = v;
	return status;
}

static tn_status record(const char *operation, const tn_array *a, int upper, int wants_vectors,
			tn_array *results[2])
{
	const tn_array *own = tn_matrix_of(a, tn_matrix_dtype(a, NULL));
	if (upper)
		own = tn_adjoint(own);
	struct tn_suspension suspension = tn_tape_suspend(own);
	if (!suspension.runtime)
		return TN_PENDING_ERROR;
	const int with_vectors = wants_vectors || (suspension.recorder && own->tracked);
	tn_status status = factor(operation, own, with_vectors, results);
	const struct tn_node_request request = {.operation = operation,
						.backward = backward,
						.is_twice = 1,
						.n_inputs = 1,
						.inputs = {own},
						.n_saved = 2,
						.saved = {results[W], results[V]}};
	return tn_factor_record(suspension, status, with_vectors ? 2 : 1, results, &request);
}

tn_status tn_eigh(const tn_array *a, int upper, tn_array **w, tn_array **v)
{
	static const char *const names[] = {"w", "v"};
	tn_array **const outputs[] = {w, v};
	tn_array *results[2] = {NULL, NULL};
	tn_status status = tn_results_begin("eigh", 1, &a, 2, names, outputs);
	if (status)
		return status;
	status = tn_matrix_check("eigh", "a", a, 1);
	if (!status)
		status = record("eigh", a, upper, 1, results);
	return tn_results_end(a->runtime, status, 2, results, outputs);
}

tn_array *tn_eigvalsh(const tn_array *a, int upper)
{
	tn_array *results[2] = {NULL, NULL};
	struct tn_runtime *runtime = tn_begin(1, &a, "eigvalsh");
	if (!runtime || tn_matrix_check("eigvalsh", "a", a, 1) || tn_scope_begin(runtime->context))
		return NULL;
	tn_status status = record("eigvalsh", a, upper, 0, results);
	return tn_scope_end(runtime->context, status ? NULL : results[W]);
}
