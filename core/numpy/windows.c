/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Windows of signals.
 */
#include <tenon/signal.h>

#include <inttypes.h>
#include <math.h>
#include <tenon/special.h>

#include "array/make.h"
#include "base/dtype.h"
#include "ops/copy.h"
#include "ops/formula.h"

/* Opens a scope, which the caller ends if this succeeds.  *places: 1 - n, 3 - n, ..., n - 1. */
static tn_status begin(const char *name, tn_context *context, tn_dtype dtype, int64_t n,
		       const tn_array **places)
{
	struct tn_runtime *runtime = tn_runtime_of(context);
	if (!runtime || tn_runtime_ready(runtime))
		return TN_PENDING_ERROR;
	if (n < 0)
		return tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, name,
				       "n: expected 0 or more, found %" PRId64, n);
	if (!tn_is_floating(dtype))
		return tn_runtime_fail(runtime, TN_DTYPE, name,
				       "dtype: expected a floating dtype, found %s",
				       tn_dtype_name(dtype));
	tn_status status = tn_scope_begin(context);
	if (!status)
		*places =
			tn_arange(context, tn_compute_dtype(dtype), (double)(1 - n), (double)n, 2);
	return status;
}

/* The text of a place x in [-last, last], last = n - 1. */
static tn_array *window(const char *name, tn_context *context, tn_dtype dtype, int64_t n,
			const char *text)
{
	const struct tn_formula formula = {.text = text, .inputs = "x", .scalars = "last"};
	const double last = n > 1 ? (double)(n - 1) : 1;
	const tn_array *places;
	if (begin(name, context, dtype, n, &places))
		return NULL;
	return tn_scope_end(context,
			    places ? tn_formula_operation(name, &formula, dtype, &places, &last)
				   : NULL);
}

tn_array *tn_bartlett(tn_context *context, tn_dtype dtype, int64_t n)
{
	return window("bartlett", context, dtype, n, "z = 1 - abs(x) / last");
}

tn_array *tn_blackman(tn_context *context, tn_dtype dtype, int64_t n)
{
	return window("blackman", context, dtype, n,
		      "angle = 3.141592653589793 * x / last\n"
		      "z = x == 0 ? 1.0 : 0.42 + 0.5 * cos(angle) + 0.08 * cos(2 * angle)");
}

tn_array *tn_hamming(tn_context *context, tn_dtype dtype, int64_t n)
{
	return window("hamming", context, dtype, n,
		      "z = x == 0 ? 1.0 : 0.54 + 0.46 * cos(3.141592653589793 * x / last)");
}

tn_array *tn_hanning(tn_context *context, tn_dtype dtype, int64_t n)
{
	return window("hanning", context, dtype, n,
		      "z = 0.5 + 0.5 * cos(3.141592653589793 * x / last)");
}

/* By I0 exp(-|x|), which does not overflow. */
tn_array *tn_kaiser(tn_context *context, tn_dtype dtype, int64_t n, double beta)
{
	static const struct tn_formula argument = {
		.text = "z = beta * sqrt((1 - x / last) * (1 + x / last))",
		.inputs = "x",
		.scalars = "last beta"};
	static const struct tn_formula quotient = {.text = "z = i0e_t / i0e_beta * exp(t - beta)",
						   .inputs = "i0e_t i0e_beta t",
						   .scalars = "beta"};
	const double scalars[] = {n > 1 ? (double)(n - 1) : 1, fabs(beta)};
	const tn_array *places;
	tn_array *result = NULL;
	if (begin("kaiser", context, dtype, n, &places))
		return NULL;
	const tn_array *t =
		places ? tn_formula_operation("kaiser", &argument, places->dtype, &places, scalars)
		       : NULL;
	if (t) {
		const tn_array *whole = tn_array_filled(t, t->dtype, 0, NULL, fabs(beta));
		const tn_array *inputs[] = {tn_i0e(t), tn_i0e(whole), t};
		if (inputs[0] && inputs[1])
			result = tn_formula_operation("kaiser", &quotient, dtype, inputs,
						      &scalars[1]);
	}
	return tn_scope_end(context, result);
}
