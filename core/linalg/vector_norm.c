/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Norms of vectors and matrices.  Each is one reduction of a formula, or two for sums of rows and
 * columns; where it is 0, its formula is constant, so that its gradient is 0 and not NaN.
 */
#include <tenon/linalg.h>

#include <math.h>
#include <tenon/map.h>
#include <tenon/statistics.h>

#include "array/make.h"
#include "array/shape.h"
#include "base/dtype.h"
#include "linalg/factor.h"
#include "ops/axes.h"

/* The axes of a norm. */
struct norm {
	const tn_array *a;
	int n;
	int axes[TN_MAX_RANK];
	int keepdims;
};

/* Checks the axes, and opens a scope. */
static tn_status begin(struct norm *norm, const char *operation, const tn_array *a, int n,
		       const int *axes, int keepdims)
{
	struct tn_runtime *runtime = tn_begin(1, &a, operation);
	if (!runtime)
		return TN_PENDING_ERROR;
	*norm = (struct norm){.a = a, .n = n, .keepdims = keepdims};
	tn_status status = tn_axes_check(a, operation, "axes", &norm->n, axes, norm->axes);
	return status ? status : tn_scope_begin(runtime->context);
}

static int is_of_norm(const struct norm *norm, int axis)
{
	int is_listed = 0;
	for (int i = 0; i < norm->n; i++)
		is_listed |= norm->axes[i] == axis;
	return is_listed;
}

static const tn_array *floating(const tn_array *a)
{
	return tn_is_inexact(a->dtype) ? a : tn_astype(a, TN_F64);
}

/* Real, of the dtype of the norm. */
static const tn_array *sizes(const tn_array *a)
{
	const tn_array *x = floating(a);
	return x && tn_is_complex(x->dtype) ? tn_abs(x) : x;
}

/* A reduction of x, or of x and y, over the axes of a norm. */
struct formula {
	const char *text;
	const char *post;
	uint32_t combiner;
	const tn_number *initial;
	const tn_number *scalars; /* p and q; NULL: none */
};

static tn_array *reduce(const struct norm *norm, const struct formula *f, int n_inputs,
			const tn_array *const *inputs)
{
	struct tn_reduce_map_options options = tn_reduce_map_defaults();
	options.combiner = f->combiner;
	options.post = f->post;
	options.initial = f->initial;
	options.n_axes = norm->n;
	options.axes = norm->axes;
	options.keepdims = norm->keepdims;
	options.n_scalars = f->scalars ? 2 : 0;
	options.scalar_names = (const char *const[]){"p", "q"};
	options.scalars = f->scalars;
	return tn_reduce_map(f->text, n_inputs, (const char *const[]){"x", "y"}, inputs, &options);
}

static tn_array *reduce_sizes(const struct norm *norm, const struct formula *f)
{
	const tn_array *x = sizes(norm->a);
	return reduce(norm, f, 1, &x);
}

/* ---- Norms of vectors ------------------------------------------------------------------------*/

static const char root[] = "z = a == 0 ? 0 : sqrt(a == 0 ? 1 : a)";

/* All elements, many of them in a row: their product with themselves is faster. */
static int is_long_line(const struct norm *norm)
{
	enum { LONG = 8192 };
	const tn_array *a = norm->a;
	return (a->dtype == TN_F32 || a->dtype == TN_F64) && norm->n == a->rank &&
	       a->size >= LONG && tn_shape_is_compact(a->rank, a->shape, a->strides);
}

static tn_array *root_of_product(const struct norm *norm)
{
	int64_t shape[TN_MAX_RANK];
	for (int i = 0; i < norm->a->rank; i++)
		shape[i] = 1;
	const tn_array *square = tn_vdot(norm->a, norm->a);
	if (norm->keepdims)
		square = tn_reshape(square, norm->a->rank, shape);
	return tn_map(root, 1, (const char *const[]){"a"}, &square, 0, NULL, NULL);
}

static tn_array *root_of_squares(const struct norm *norm)
{
	static const struct formula real = {
		.text = "z = x * x", .post = root, .combiner = TN_COMBINE_SUM};
	struct formula complex = real;
	if (is_long_line(norm))
		return root_of_product(norm);
	const tn_array *a = floating(norm->a);
	if (!a || !tn_is_complex(a->dtype))
		return reduce(norm, &real, 1, &a);
	complex.text = "z = x * x + y * y";
	return reduce(norm, &complex, 2, (const tn_array *const[]){tn_real(a), tn_imag(a)});
}

static tn_array *root_of_powers(const struct norm *norm, double order)
{
	const tn_number scalars[] = {tn_number_f64(order), tn_number_f64(1 / order)};
	struct formula f = {.text = "z = x == 0 ? 0 : pow(abs(x == 0 ? 1 : x), p)",
			    .post = "z = a == 0 ? 0 : pow(a == 0 ? 1 : a, q)",
			    .combiner = TN_COMBINE_SUM,
			    .scalars = scalars};
	if (order < 0) { /* infinite powers of 0 */
		f.text = "z = x == 0 ? inf : pow(abs(x == 0 ? 1 : x), p)";
		f.post = "z = a == inf ? 0 : pow(a == inf ? 1 : a, q)";
	}
	return reduce_sizes(norm, &f);
}

static tn_array *sum_of_sizes(const struct norm *norm)
{
	static const struct formula sum = {.text = "z = abs(x)", .combiner = TN_COMBINE_SUM};
	return reduce_sizes(norm, &sum);
}

static tn_array *extreme_size(const struct norm *norm, int is_largest)
{
	const tn_number zero = tn_number_f64(0);
	const struct formula f = {.text = "z = abs(x)",
				  .combiner = is_largest ? TN_COMBINE_MAX : TN_COMBINE_MIN,
				  .initial = is_largest ? &zero : NULL};
	return reduce_sizes(norm, &f);
}

static tn_array *count_of_nonzeros(const struct norm *norm)
{
	const tn_array *x = sizes(norm->a);
	return x ? tn_astype(tn_count_nonzero(norm->a, norm->n, norm->axes, norm->keepdims),
			     x->dtype)
		 : NULL;
}

static tn_array *of_order(const struct norm *norm, double order)
{
	if (order == 2)
		return root_of_squares(norm);
	if (order == 1)
		return sum_of_sizes(norm);
	if (order == 0)
		return count_of_nonzeros(norm);
	return isinf(order) ? extreme_size(norm, order > 0) : root_of_powers(norm, order);
}

/* The smallest size of none: an axis of length 0, and results. */
static tn_status check_smallest(const struct norm *norm, const char *operation)
{
	const tn_array *a = norm->a;
	char text[TN_SHAPE_TEXT];
	int64_t n_results = 1;
	for (int i = 0; i < a->rank; i++)
		n_results *= is_of_norm(norm, i) ? 1 : a->shape[i];
	if (a->size || !n_results)
		return TN_OK;
	return tn_runtime_fail(a->runtime, TN_SHAPE, operation,
			       "shape %s: an axis of length 0 has no smallest element",
			       tn_array_text(a, text));
}

static tn_array *vector_norm(const char *operation, const tn_array *a, double order, int n,
			     const int *axes, int keepdims)
{
	struct norm norm;
	if (begin(&norm, operation, a, n, axes, keepdims))
		return NULL;
	if (order == -INFINITY && check_smallest(&norm, operation))
		return tn_scope_end(a->runtime->context, NULL);
	return tn_scope_end(a->runtime->context, of_order(&norm, order));
}

tn_array *tn_norm(const tn_array *a, int n, const int *axes, int keepdims)
{
	return vector_norm("norm", a, 2, n, axes, keepdims);
}

tn_array *tn_vector_norm(const tn_array *a, double order, int n, const int *axes, int keepdims)
{
	struct tn_runtime *runtime = tn_begin(1, &a, "vector_norm");
	if (runtime && isnan(order)) {
		tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, "vector_norm",
				"order: expected a number, found NaN");
		return NULL;
	}
	return runtime ? vector_norm("vector_norm", a, order, n, axes, keepdims) : NULL;
}

/* ---- Norms of matrices -----------------------------------------------------------------------*/

/* Sums along an axis, and the largest or smallest of them. */
static tn_array *extreme_sum(const tn_array *a, int axis, double extreme, int keepdims)
{
	const tn_array *sums = vector_norm("matrix_norm", a, 1, 1, &axis, 1);
	return sums ? vector_norm("matrix_norm", sums, extreme, 2, (const int[]){-2, -1}, keepdims)
		    : NULL;
}

/* The largest, the smallest, or the sum. */
static tn_array *norm_of_singular_values(const tn_array *a, uint32_t order, int keepdims)
{
	const int last = -1;
	const tn_array *s = tn_svdvals(a);
	const double extreme = order == TN_NORM_2 ? INFINITY : -INFINITY;
	tn_array *norm = order == TN_NORM_NUC
				 ? tn_sum(s, 1, &last, keepdims)
				 : vector_norm("matrix_norm", s, extreme, 1, &last, keepdims);
	return keepdims ? tn_expand_dims(norm, -1) : norm;
}

static tn_array *matrix_norm(const tn_array *a, uint32_t order, int keepdims)
{
	switch (order) {
	case TN_NORM_FRO:
		return vector_norm("matrix_norm", a, 2, 2, (const int[]){-2, -1}, keepdims);
	case TN_NORM_1:
		return extreme_sum(a, -2, INFINITY, keepdims);
	case TN_NORM_MINUS_1:
		return extreme_sum(a, -2, -INFINITY, keepdims);
	case TN_NORM_INF:
		return extreme_sum(a, -1, INFINITY, keepdims);
	case TN_NORM_MINUS_INF:
		return extreme_sum(a, -1, -INFINITY, keepdims);
	default:
		return norm_of_singular_values(a, order, keepdims);
	}
}

tn_array *tn_matrix_norm(const tn_array *a, uint32_t order, int keepdims)
{
	struct tn_runtime *runtime = tn_begin(1, &a, "matrix_norm");
	if (!runtime || tn_matrix_check_order("matrix_norm", a, order) ||
	    tn_matrix_check_shape("matrix_norm", "a", a, 0) || tn_scope_begin(runtime->context))
		return NULL;
	return tn_scope_end(runtime->context, matrix_norm(a, order, keepdims));
}
