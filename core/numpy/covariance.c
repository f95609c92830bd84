/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Covariances and correlations of variables: products of their distances from their means.
 */
#include <inttypes.h>
#include <math.h>
#include <tenon/manipulate.h>
#include <tenon/statistics.h>

#include "array/make.h"
#include "array/result_type.h"
#include "array/shape.h"
#include "base/dtype.h"
#include "ops/formula.h"

static const int columns[] = {1};

/* ---- Observations ----------------------------------------------------------------------------*/

static tn_status check_matrix(const char *operation, const char *name, const tn_array *a)
{
	char text[TN_SHAPE_TEXT];
	if (a->rank <= 2)
		return TN_OK;
	return tn_runtime_fail(a->runtime, TN_SHAPE, operation,
			       "%s: expected at most 2 axes, found shape %s", name,
			       tn_array_text(a, text));
}

/* A row for each variable, in the dtype of the result. */
static const tn_array *rows_of(const tn_array *a, int is_turned, tn_dtype dtype)
{
	const int64_t row[] = {1, -1};
	const tn_array *rows = a->rank < 2 ? tn_reshape(a, 2, row) : a;
	if (is_turned && a->rank == 2)
		rows = tn_transpose(a, NULL);
	return tn_astype(rows, dtype);
}

/* name: of m, in errors. */
static const tn_array *observations(const char *operation, const char *name, const tn_array *m,
				    const tn_array *y, int rowvar)
{
	tn_dtype dtype = tn_result_type(m->dtype, TN_F64);
	if (check_matrix(operation, name, m) || (y && check_matrix(operation, "y", y)))
		return NULL;
	if (!y)
		return rows_of(m, !rowvar, dtype);
	dtype = tn_result_type(dtype, y->dtype);
	/* As in NumPy, a single row of y is not turned. */
	const tn_array *both[] = {
		rows_of(m, !rowvar, dtype),
		rows_of(y, !rowvar && !(y->rank == 2 && y->shape[0] == 1), dtype)};
	if (!both[0] || !both[1])
		return NULL;
	if (both[0]->shape[1] != both[1]->shape[1]) {
		tn_runtime_fail(m->runtime, TN_SHAPE, operation,
				"y: expected %" PRId64 " observations like %s, found %" PRId64,
				both[0]->shape[1], name, both[1]->shape[1]);
		return NULL;
	}
	return tn_concatenate(2, both, 0);
}

/* ---- Covariance ------------------------------------------------------------------------------*/

static tn_status check_weights(const char *name, const tn_array *weights, const tn_array *x)
{
	char text[TN_SHAPE_TEXT];
	if (tn_is_complex(weights->dtype))
		return tn_runtime_fail(x->runtime, TN_DTYPE, "cov",
				       "%s: expected real numbers, found %s", name,
				       tn_dtype_name(weights->dtype));
	if (weights->rank == 1 && weights->shape[0] == x->shape[1])
		return TN_OK;
	return tn_runtime_fail(x->runtime, TN_SHAPE, "cov",
			       "%s: expected one for each of %" PRId64
			       " observations, found shape %s",
			       name, x->shape[1], tn_array_text(weights, text));
}

static tn_array *product(const tn_array *x, const tn_array *y)
{
	return tn_matmul(x, tn_transpose(tn_conj(y), NULL));
}

static tn_array *plain(const tn_array *x, double ddof)
{
	const double divisor = fmax((double)x->shape[1] - ddof, 0);
	const tn_array *distance = tn_subtract(x, tn_mean(x, 1, columns, 1));
	return tn_affine(product(distance, distance), 1 / divisor, 0);
}

static tn_array *total(const tn_array *a)
{
	return tn_sum(a, TN_ALL_AXES, NULL, 0);
}

/* By the sum of the weights, and of their products with aweights. */
static tn_array *weighted(const tn_array *x, const tn_array *fweights, const tn_array *aweights,
			  double ddof)
{
	static const struct tn_formula inverse = {
		.text = "fact = w_sum - ddof * (wa_sum / w_sum); z = 1 / (fact > 0 ? fact : 0)",
		.inputs = "w_sum wa_sum",
		.scalars = "ddof"};
	const tn_array *f = fweights ? tn_astype(fweights, TN_F64) : NULL;
	const tn_array *a = aweights ? tn_astype(aweights, TN_F64) : NULL;
	const tn_array *w = f && a ? tn_multiply(f, a) : f ? f : a;
	const tn_array *sums[] = {total(w), total(a ? tn_multiply(w, a) : w)};
	tn_array *mean = tn_divide(tn_sum(tn_multiply(x, w), 1, columns, 1), sums[0]);
	const tn_array *distance = tn_subtract(x, mean);
	return tn_multiply(product(distance, tn_multiply(distance, w)),
			   tn_formula_operation("cov", &inverse, TN_F64, sums, &ddof));
}

/* Without axes of length 1, as in NumPy. */
static tn_array *squeezed(tn_array *c)
{
	for (int axis = tn_array_rank(c) - 1; axis >= 0; axis--) {
		if (tn_array_shape(c)[axis] == 1)
			c = tn_squeeze(c, axis);
	}
	return c;
}

static tn_array *covariance(const tn_array *m, const tn_array *y, int rowvar, double ddof,
			    const tn_array *fweights, const tn_array *aweights)
{
	const tn_array *x = observations("cov", "m", m, y, rowvar);
	if (!x || (fweights && check_weights("fweights", fweights, x)) ||
	    (aweights && check_weights("aweights", aweights, x)))
		return NULL;
	if (fweights && tn_is_inexact(fweights->dtype)) {
		tn_runtime_fail(m->runtime, TN_DTYPE, "cov",
				"fweights: expected integers, found %s",
				tn_dtype_name(fweights->dtype));
		return NULL;
	}
	return squeezed(fweights || aweights ? weighted(x, fweights, aweights, ddof)
					     : plain(x, ddof));
}

/* Checks devices, and opens a scope. */
static tn_status begin(const char *operation, const tn_array *m, const tn_array *const *others,
		       int n)
{
	const tn_array *all[4] = {m};
	uint32_t n_all = 1;
	for (int i = 0; i < n; i++) {
		if (others[i])
			all[n_all++] = others[i];
	}
	struct tn_runtime *runtime = tn_begin(n_all, all, operation);
	return runtime ? tn_scope_begin(runtime->context) : TN_PENDING_ERROR;
}

tn_array *tn_cov(const tn_array *m, const tn_array *y, int rowvar, double ddof,
		 const tn_array *fweights, const tn_array *aweights)
{
	const tn_array *others[] = {y, fweights, aweights};
	if (begin("cov", m, others, 3))
		return NULL;
	return tn_scope_end(tn_array_context(m),
			    covariance(m, y, rowvar, ddof, fweights, aweights));
}

/* ---- Correlation -----------------------------------------------------------------------------*/

/* The square roots of the diagonal, as a line. */
static tn_array *deviations(const tn_array *c)
{
	return tn_sqrt(tn_diagonal(tn_real(c), 0, 0, 1));
}

static tn_array *clipped(const tn_array *a)
{
	static const struct tn_formula clip = {.text = "z = x > 1 ? 1 : x < -1 ? -1 : x",
					       .inputs = "x"};
	return tn_formula_operation("corrcoef", &clip, TN_F64, &a, NULL);
}

static tn_array *correlation(const tn_array *x, const tn_array *y, int rowvar)
{
	const tn_array *rows = observations("corrcoef", "x", x, y, rowvar);
	tn_array *c = rows ? squeezed(plain(rows, 1)) : NULL;
	if (!c || !c->rank)
		return tn_divide(c, c);
	tn_array *deviation = deviations(c);
	c = tn_divide(tn_divide(c, tn_expand_dims(deviation, 1)), tn_expand_dims(deviation, 0));
	if (!tn_is_complex(tn_array_dtype(c)))
		return clipped(c);
	return tn_complex(clipped(tn_real(c)), clipped(tn_imag(c)));
}

tn_array *tn_corrcoef(const tn_array *x, const tn_array *y, int rowvar)
{
	if (begin("corrcoef", x, &y, 1))
		return NULL;
	return tn_scope_end(tn_array_context(x), correlation(x, y, rowvar));
}
