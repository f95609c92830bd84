/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Eigenvalues and vectors of any square matrix, complex also where they happen to be real.
 */
#include <tenon/linalg.h>

#include "array/make.h"
#include "linalg/factor.h"

enum { W, V };

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

/* Computes without recording, in a scope of its own. */
static tn_status compute(const char *operation, const tn_array *a, int wants_vectors,
			 tn_array *results[2])
{
	tn_status status = tn_matrix_check(operation, "a", a, 1);
	if (!status)
		status = tn_factor_untracked(operation, 1, &a);
	if (!status)
		status = tn_scope_begin(a->runtime->context);
	if (status)
		return status;
	struct tn_suspension suspension = tn_tape_suspend(a);
	const tn_array *own = tn_matrix_of(a, tn_matrix_dtype(a, NULL));
	status = own ? factor(operation, own, wants_vectors, results) : TN_PENDING_ERROR;
	tn_tape_resume(suspension, NULL, NULL);
	return tn_scope_end_all(a->runtime->context, status, 2, results);
}

tn_status tn_eig(const tn_array *a, tn_array **w, tn_array **v)
{
	tn_array *results[2] = {NULL, NULL};
	struct tn_runtime *runtime = tn_begin(1, &a, "eig");
	if (w)
		*w = NULL;
	if (v)
		*v = NULL;
	if (!runtime)
		return TN_PENDING_ERROR;
	tn_status status =
		tn_runtime_given(runtime, "eig", 2, (const struct tn_given[]){{"w", w}, {"v", v}});
	if (!status)
		status = compute("eig", a, 1, results);
	if (status)
		return status;
	*w = results[W];
	*v = results[V];
	return TN_OK;
}

tn_array *tn_eigvals(const tn_array *a)
{
	tn_array *results[2] = {NULL, NULL};
	struct tn_runtime *runtime = tn_begin(1, &a, "eigvals");
	return runtime && !compute("eigvals", a, 0, results) ? results[W] : NULL;
}
