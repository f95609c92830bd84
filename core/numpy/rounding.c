/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Rounding to decimals, and numbers in two parts.
 */
#include <tenon/ufunc.h>

#include <math.h>
#include <stdlib.h>
#include <tenon/statistics.h>

#include "array/make.h"
#include "base/dtype.h"
#include "ops/elementwise.h"
#include "ops/formula.h"

/* As NumPy: integers in f64. */
static const char *const around[2] = {"z = round(x * scale) / scale",
				      "z = round(x / scale) * scale"};

static tn_array *rounded(const tn_array *a, int decimals)
{
	const struct tn_formula formula = {
		.text = around[decimals < 0], .inputs = "x", .scalars = "scale"};
	const double scale = pow(10, abs(decimals));
	tn_dtype dtype = a->dtype;
	if (tn_is_complex(dtype))
		return tn_complex(rounded(tn_real(a), decimals), rounded(tn_imag(a), decimals));
	if (!tn_is_floating(dtype)) {
		const tn_array *wide = tn_astype(a, TN_F64);
		return wide ? tn_formula_operation("around", &formula, dtype, &wide, &scale) : NULL;
	}
	return tn_formula_operation("around", &formula, dtype, &a, &scale);
}

tn_array *tn_around(const tn_array *a, int decimals)
{
	struct tn_runtime *runtime = tn_begin(1, &a, "around");
	if (!runtime)
		return NULL;
	if (!tn_is_inexact(a->dtype) && decimals >= 0)
		return tn_copy(a);
	const int most =
		a->dtype == TN_F64 || a->dtype == TN_C128 || !tn_is_inexact(a->dtype) ? 300 : 38;
	if (decimals < -most || decimals > most) {
		tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, "around",
				"decimals: expected %d to %d for %s, found %d", -most, most,
				tn_dtype_name(a->dtype), decimals);
		return NULL;
	}
	if (tn_scope_begin(runtime->context))
		return NULL;
	return tn_scope_end(runtime->context, rounded(a, decimals));
}

tn_array *tn_fix(const tn_array *a)
{
	return tn_trunc(a);
}

/* ---- In two parts ----------------------------------------------------------------------------*/

/* Ends the scope of a function with two results. */
static tn_array *both(tn_context *context, tn_array *first, tn_array *second, tn_array **to)
{
	if (to && first && second) {
		tn_array_lift(second);
		*to = second;
	}
	return tn_scope_end(context, to && !second ? NULL : first);
}

tn_array *tn_modf(const tn_array *a, tn_array **integral)
{
	if (integral)
		*integral = NULL;
	if (!tn_begin(1, &a, "modf") || tn_scope_begin(tn_array_context(a)))
		return NULL;
	tn_array *fraction = tn_element_unary(TN_DO_MODF, a), *whole = NULL;
	if (fraction && integral)
		whole = tn_trunc(a->dtype == fraction->dtype ? a : tn_astype(a, fraction->dtype));
	return both(tn_array_context(a), fraction, whole, integral);
}

tn_array *tn_divmod(const tn_array *a, const tn_array *b, tn_array **remainder)
{
	const tn_array *arguments[] = {a, b};
	if (remainder)
		*remainder = NULL;
	struct tn_runtime *runtime = tn_begin(2, arguments, "divmod");
	if (!runtime)
		return NULL;
	if (tn_is_complex(a->dtype) || tn_is_complex(b->dtype)) {
		tn_runtime_fail(runtime, TN_DTYPE, "divmod", "not defined for %s and %s",
				tn_dtype_name(a->dtype), tn_dtype_name(b->dtype));
		return NULL;
	}
	if (tn_scope_begin(runtime->context))
		return NULL;
	tn_array *quotient = tn_floor_divide(a, b);
	return both(runtime->context, quotient, remainder ? tn_remainder(a, b) : NULL, remainder);
}

/* Are the imaginary parts below tol?  Reads one element. */
static tn_status is_real(const tn_array *a, double tol, int *answer)
{
	const int is_c64 = a->dtype == TN_C64;
	const tn_array *bound = tn_full(tn_array_context(a), TN_F64, 0, NULL,
					tol > 1 ? ldexp(tol, is_c64 ? -23 : -52) : tol);
	double all = 0;
	tn_array *small = tn_less(tn_fabs(tn_imag(a)), bound);
	tn_status status = tn_item(tn_all(small, TN_ALL_AXES, NULL, 0), &all);
	*answer = all != 0;
	return status;
}

tn_array *tn_real_if_close(const tn_array *a, double tol)
{
	int answer = 1;
	if (!tn_begin(1, &a, "real_if_close") || tn_scope_begin(tn_array_context(a)))
		return NULL;
	tn_array *result = NULL;
	if (!tn_is_complex(a->dtype) || !is_real(a, tol, &answer))
		result = answer ? tn_real(a) : tn_reshape(a, a->rank, a->shape);
	return tn_scope_end(tn_array_context(a), result);
}
