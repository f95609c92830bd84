/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Variances, standard deviations and ranges along axes.  A variance takes two passes: the mean,
 * then the mean of the squared distances from it.
 */
#include "numpy/variance.h"

#include <math.h>
#include <tenon/statistics.h>

#include "array/shape.h"
#include "base/dtype.h"
#include "numpy/composed_reduction.h"
#include "ops/formula.h"

const tn_array *tn_variance_input(const tn_array *a)
{
	if (tn_is_narrow(a->dtype))
		return tn_astype(a, TN_F32);
	return tn_is_inexact(a->dtype) ? a : tn_astype(a, TN_F64);
}

/* The squares of x less the mean.  A NaN takes the place of the mean, so that its derivative is 0
 * too. */
static const struct tn_formula squares[] = {
	{.text = "distance = x - mean; z = distance * distance", .inputs = "x mean"},
	{.text = "distance = (x == x ? x : mean) - mean; z = distance * distance",
	 .inputs = "x mean"},
};
/* The same for complex numbers. */
static const struct tn_formula complex_squares[] = {
	{.text = "u = real - mean_real; v = imag - mean_imag; z = u * u + v * v",
	 .inputs = "real imag mean_real mean_imag"},
	{.text = "is_number = real == real && imag == imag\n"
		 "u = (is_number ? real : mean_real) - mean_real\n"
		 "v = (is_number ? imag : mean_imag) - mean_imag; z = u * u + v * v",
	 .inputs = "real imag mean_real mean_imag"},
};

tn_array *tn_variance_square(const char *operation, const tn_array *x, const tn_array *mean,
			     int skips_nan)
{
	const tn_array *both[] = {x, mean};
	if (!tn_is_complex(tn_array_dtype(x)))
		return tn_formula_operation(operation, &squares[skips_nan != 0], tn_array_dtype(x),
					    both, NULL);
	const tn_array *parts[] = {tn_real(x), tn_imag(x), tn_real(mean), tn_imag(mean)};
	return tn_formula_operation(operation, &complex_squares[skips_nan != 0],
				    tn_array_dtype(parts[0]), parts, NULL);
}

tn_array *tn_variance_quotient(const char *operation, tn_array *sum, tn_array *count)
{
	static const struct tn_formula quotient = {.text = "z = sum / count",
						   .inputs = "sum count"};
	const tn_array *both[] = {sum, count};
	const tn_dtype dtype = tn_array_dtype(sum);
	if (tn_is_complex(dtype))
		return tn_divide(sum, tn_astype(count, dtype));
	return tn_formula_operation(operation, &quotient, dtype, both, NULL);
}

tn_array *tn_variance_result(tn_array *spread, const tn_array *a, int is_root)
{
	tn_array *result = is_root ? tn_sqrt(spread) : spread;
	return tn_is_narrow(a->dtype) ? tn_astype(result, a->dtype) : result;
}

static tn_array *spread_of(const char *operation, const tn_array *a, int n, const int *axes,
			   double correction, int keepdims, int is_root)
{
	static const struct tn_formula quotient = {
		.text = "z = sum / divisor", .inputs = "sum", .scalars = "divisor"};
	struct tn_composed_reduction r;
	if (tn_composed_reduction_begin(&r, operation, a, n, axes, keepdims))
		return NULL;
	const double divisor = fmax((double)r.count - correction, 0);
	const tn_array *x = tn_variance_input(a);
	tn_array *square = tn_variance_square(operation, x, tn_mean(x, n, axes, 1), 0);
	const tn_array *sum = tn_sum(square, n, axes, keepdims);
	tn_array *variance =
		tn_formula_operation(operation, &quotient, tn_array_dtype(sum), &sum, &divisor);
	return tn_scope_end(r.runtime->context, tn_variance_result(variance, a, is_root));
}

tn_array *tn_var(const tn_array *a, int n, const int *axes, double correction, int keepdims)
{
	return spread_of("var", a, n, axes, correction, keepdims, 0);
}

tn_array *tn_std(const tn_array *a, int n, const int *axes, double correction, int keepdims)
{
	return spread_of("std", a, n, axes, correction, keepdims, 1);
}

static tn_status check_range(const struct tn_composed_reduction *r)
{
	if (r->a->dtype == TN_BOOL)
		return tn_runtime_fail(r->runtime, TN_DTYPE, r->operation,
				       "a: expected real numbers, found bool");
	return tn_composed_reduction_check_order(r);
}

tn_array *tn_ptp(const tn_array *a, int n, const int *axes, int keepdims)
{
	struct tn_composed_reduction r;
	if (tn_composed_reduction_begin(&r, "ptp", a, n, axes, keepdims))
		return NULL;
	tn_array *range = NULL;
	if (!check_range(&r))
		range = tn_subtract(tn_max(a, n, axes, keepdims), tn_min(a, n, axes, keepdims));
	return tn_scope_end(r.runtime->context, range);
}
