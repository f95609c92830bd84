/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * LU factorisation with partial pivoting, and determinants:  p^T a = l u,
 *
 *     det a = sign product of u's diagonal,   d log |det a| = the trace of a^-1 da
 */
#include <tenon/linalg.h>

#include <stdio.h>

#include <tenon/manipulate.h>
#include <tenon/ufunc.h>

#include "array/make.h"
#include "base/dtype.h"
#include "linalg/factor.h"

/* ---- The factors -----------------------------------------------------------------------------*/

/* p: column i of row permutation[i] is 1. */
static tn_array *permutation_matrix(const tn_array *permutation, tn_dtype dtype, int64_t m)
{
	struct tn_runtime *runtime = permutation->runtime;
	tn_array *rows = tn_arange(runtime->context, TN_I32, 0, (double)m, 1);
	return tn_astype(tn_equal(tn_expand_dims(rows, 1), tn_expand_dims(permutation, -2)),
			 tn_real_dtype(dtype));
}

static tn_status factor(const tn_array *a, tn_array *results[3])
{
	struct tn_factor f;
	const int64_t m = a->shape[a->rank - 2], n = a->shape[a->rank - 1], k = m < n ? m : n;
	tn_status status = tn_factor_begin(&f, "lu", a, NULL);
	if (status)
		return status;
	tn_array *copy = tn_factor_copy(&f, &f.args.a, a);
	tn_array *permutation = tn_factor_list(&f, &f.args.permutation, TN_I32, m);
	status = tn_factor_run(&f, TN_SLOT_LU, NULL);
	if (!status && !n && permutation)
		status = tn_assign(permutation,
				   tn_arange(f.runtime->context, TN_I32, 0, (double)m, 1));
	if (status)
		return status;
	results[0] = permutation_matrix(permutation, a->dtype, m);
	results[1] = tn_add(tn_tril(tn_slice(copy, -1, 0, k, 1), -1),
			    tn_eye(f.runtime->context, a->dtype, m, k, 0));
	results[2] = tn_triu(tn_slice(copy, -2, 0, k, 1), 0);
	return tn_runtime_status(f.runtime);
}

static tn_status suspend_and_factor(const tn_array *a, tn_array *results[3])
{
	struct tn_suspension suspension = tn_tape_suspend(a);
	if (!suspension.runtime)
		return TN_PENDING_ERROR;
	const tn_array *own = tn_matrix_of(a, tn_matrix_dtype(a, NULL));
	tn_status status = own ? factor(own, results) : TN_PENDING_ERROR;
	tn_tape_resume(suspension, NULL, NULL);
	return status;
}

tn_status tn_lu(const tn_array *a, tn_array **p, tn_array **l, tn_array **u)
{
	static const char *const names[] = {"p", "l", "u"};
	tn_array **const outputs[] = {p, l, u};
	tn_array *results[3] = {NULL, NULL, NULL};
	tn_status status = tn_results_begin("lu", 1, &a, 3, names, outputs);
	if (status)
		return status;
	status = tn_matrix_check("lu", "a", a, 0);
	if (!status)
		status = tn_factor_untracked("lu", 1, &a);
	if (!status)
		status = suspend_and_factor(a, results);
	return tn_results_end(a->runtime, status, 3, results, outputs);
}

/* ---- Determinants ----------------------------------------------------------------------------*/

enum { SIGN, LOG };

/* -1 to the power of the number of exchanges, real. */
static tn_array *sign_of(const tn_array *pivots, tn_dtype dtype)
{
	char text[64];
	const char *const names[] = {"pivot"};
	const int last = -1;
	snprintf(text, sizeof(text), "sign = i64(pivot) == index(%d) ? 1 : -1", pivots->rank - 1);
	tn_array *signs = tn_map(text, 1, names, &pivots, 0, NULL, NULL);
	return signs ? tn_prod(tn_astype(signs, tn_real_dtype(dtype)), 1, &last, 0) : NULL;
}

static tn_status compute(const tn_array *a, const char *operation, tn_array *results[2])
{
	struct tn_factor f;
	const int last = -1;
	tn_status status = tn_factor_begin(&f, operation, a, NULL);
	if (status)
		return status;
	tn_array *copy = tn_factor_copy(&f, &f.args.a, a);
	tn_array *pivots = tn_factor_list(&f, &f.args.pivots, TN_I32, a->shape[a->rank - 1]);
	status = tn_factor_run(&f, TN_SLOT_LU, NULL);
	if (status)
		return status;
	tn_array *diagonal = tn_diagonal(copy, 0, -2, -1);
	tn_array *sign =
		tn_multiply(sign_of(pivots, a->dtype), tn_prod(tn_sign(diagonal), 1, &last, 0));
	results[SIGN] = sign;
	results[LOG] = tn_sum(tn_log(tn_abs(diagonal)), 1, &last, 0);
	return tn_runtime_status(f.runtime);
}

/* g a^-H, with an axis pair for g. */
static tn_array *times_inverse(const tn_array *g, const tn_array *a)
{
	return tn_multiply(tn_expand_dims(tn_expand_dims(g, -1), -1), tn_adjoint(tn_inv(a)));
}

/* dlog + i c, where c = -Im(conj(dsign) sign) is the gradient of the phase. */
static tn_array *log_gradient(const struct tn_node *node, const tn_array *a, const tn_array *sign)
{
	const tn_array *dlog = node->outputs[LOG]->gradient;
	const tn_array *dsign = node->outputs[SIGN]->gradient;
	if (!dlog)
		dlog = tn_zeros_like(sign, tn_real_dtype(a->dtype));
	if (!dsign || !tn_is_complex(a->dtype))
		return tn_astype(dlog, a->dtype);
	return tn_complex(dlog, tn_negative(tn_imag(tn_multiply(tn_conj(dsign), sign))));
}

static tn_status slogdet_backward(struct tn_node *node, tn_array *dy)
{
	const tn_array *a = node->saved[0].array, *sign = node->saved[1].array;
	tn_array *g = log_gradient(node, a, sign);
	(void)dy;
	return tn_node_give(node, 0, g ? times_inverse(g, a) : NULL);
}

static tn_status record_slogdet(const tn_array *a, tn_array *results[2])
{
	const tn_array *own = tn_matrix_of(a, tn_matrix_dtype(a, NULL));
	struct tn_suspension suspension = tn_tape_suspend(own);
	tn_status status = suspension.runtime ? compute(own, "slogdet", results) : TN_PENDING_ERROR;
	const struct tn_node_request request = {.operation = "slogdet",
						.backward = slogdet_backward,
						.is_twice = 1,
						.n_inputs = 1,
						.inputs = {own},
						.n_saved = 2,
						.saved = {own, results[SIGN]}};
	return tn_factor_record(suspension, status, 2, results, &request);
}

tn_status tn_slogdet(const tn_array *a, tn_array **sign, tn_array **logabsdet)
{
	static const char *const names[] = {"sign", "logabsdet"};
	tn_array **const outputs[] = {sign, logabsdet};
	tn_array *results[2] = {NULL, NULL};
	tn_status status = tn_results_begin("slogdet", 1, &a, 2, names, outputs);
	if (status)
		return status;
	status = tn_matrix_check("slogdet", "a", a, 1);
	if (!status)
		status = record_slogdet(a, results);
	return tn_results_end(a->runtime, status, 2, results, outputs);
}

/* d det = det times the trace of a^-1 da. */
static tn_status det_backward(struct tn_node *node, tn_array *dy)
{
	const tn_array *a = node->saved[0].array, *det = node->saved[1].array;
	const tn_array *factor = tn_is_complex(det->dtype) ? tn_conj(det) : det;
	tn_array *g = tn_multiply(dy, factor);
	return tn_node_give(node, 0, g ? times_inverse(g, a) : NULL);
}

tn_array *tn_det(const tn_array *a)
{
	tn_array *results[2] = {NULL, NULL};
	struct tn_runtime *runtime = tn_begin(1, &a, "det");
	if (!runtime || tn_matrix_check("det", "a", a, 1) || tn_scope_begin(runtime->context))
		return NULL;
	const tn_array *own = tn_matrix_of(a, tn_matrix_dtype(a, NULL));
	struct tn_suspension suspension = tn_tape_suspend(own);
	tn_status status = suspension.runtime ? compute(own, "det", results) : TN_PENDING_ERROR;
	tn_array *det = status ? NULL : tn_multiply(results[SIGN], tn_exp(results[LOG]));
	det = tn_tape_resume(suspension, det,
			     &(struct tn_node_request){.operation = "det",
						       .backward = det_backward,
						       .is_twice = 1,
						       .n_inputs = 1,
						       .inputs = {own},
						       .n_saved = 2,
						       .saved = {own, det}});
	return tn_scope_end(runtime->context, det);
}
