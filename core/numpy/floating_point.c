/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Mantissas, exponents and neighbours of floating numbers, exact.  No instruction reads the bits of
 * an f64: its exponent is a logarithm, rounded down and corrected by 1, and its powers of two are
 * made of those of f32, whose bits can be written.
 */
#include <tenon/ufunc.h>

#include <stdio.h>

#include "array/make.h"
#include "array/result_type.h"
#include "base/dtype.h"
#include "ops/formula.h"

enum { TEXT = 2048 };

/* x = mantissa 2^order, the mantissa in [0.5, 1) by size; 1.0 in the place of a number that has
 * none, where `none` is true.  By whether x is an f64. */
static const char *const split[2] = {
	"size = abs(x); none = !(size > 0 && size < inf); number = none ? 1.0 : x\n"
	"k = i32(floor(log2(abs(number)))); half = k >> 1\n"
	"m = number * bitcast_f32((126 - half) << 23) * bitcast_f32((127 - k + half) << 23)\n"
	"over = abs(m) >= 1; under = abs(m) < 0.5\n"
	"mantissa = over ? 0.5 * m : under ? 2 * m : m\n"
	"order = over ? k + 2 : under ? k : k + 1\n",
	"size = abs(x); none = !(size > 0 && size < inf); number = none ? 1.0 : x\n"
	"k = i32(floor(log2(abs(number)))); i = -1 - (k >> 1); j = (k >> 1) - k\n"
	"p = f64(bitcast_f32(((i >> 3) + 127) << 23)); p = p * p; p = p * p; p = p * p\n"
	"p = p * f64(bitcast_f32(((i & 7) + 127) << 23))\n"
	"q = f64(bitcast_f32(((j >> 3) + 127) << 23)); q = q * q; q = q * q; q = q * q\n"
	"q = q * f64(bitcast_f32(((j & 7) + 127) << 23)); m = number * p * q\n"
	"over = abs(m) >= 1; under = abs(m) < 0.5\n"
	"mantissa = over ? 0.5 * m : under ? 2 * m : m\n"
	"order = over ? k + 2 : under ? k : k + 1\n",
};

/* Opens a scope, which the caller ends if this succeeds.  *x and *y become the arguments in the
 * dtype in which they are computed; b may be NULL. */
static tn_status begin(const char *operation, const tn_array *a, const tn_array *b,
		       const tn_array **x, const tn_array **y)
{
	const tn_array *both[] = {a, b ? b : a};
	struct tn_runtime *runtime = tn_begin(2, both, operation);
	if (!runtime)
		return TN_PENDING_ERROR;
	const uint32_t set = 1u << both[0]->dtype | 1u << both[1]->dtype;
	tn_dtype dtype = tn_loop_type(TN_LOOP_FLOATING, set);
	if (tn_is_complex(dtype))
		return tn_runtime_fail(runtime, TN_DTYPE, operation, "not defined for %s",
				       tn_dtype_name(dtype));
	tn_status status = tn_scope_begin(runtime->context);
	if (status)
		return status;
	*x = a->dtype == dtype ? a : tn_astype(a, dtype);
	if (b)
		*y = b->dtype == dtype ? b : tn_astype(b, dtype);
	return TN_OK;
}

/* What the text, after `split`, assigns last. */
static tn_array *of_parts(const char *operation, const char *last, tn_dtype dtype,
			  const tn_array *x)
{
	char text[TEXT];
	const struct tn_formula formula = {.text = text, .inputs = "x"};
	if (!x)
		return NULL;
	snprintf(text, sizeof(text), "%s%s", split[x->dtype == TN_F64], last);
	return tn_formula_operation(operation, &formula, dtype, &x, NULL);
}

tn_array *tn_frexp(const tn_array *a, tn_array **exponent)
{
	const tn_array *x = NULL;
	if (exponent)
		*exponent = NULL;
	if (begin("frexp", a, NULL, &x, NULL))
		return NULL;
	tn_context *context = tn_array_context(a);
	tn_array *parts[] = {of_parts("frexp", "z = none ? x : mantissa", x ? x->dtype : 0, x),
			     NULL};
	if (exponent)
		parts[1] = of_parts("frexp", "z = none ? 0 : order", TN_I32, x);
	tn_scope_end_all(context, TN_OK, 2, parts);
	if (exponent)
		*exponent = parts[1];
	return parts[0];
}

/* In three exact factors 2^i; what is far below the normal numbers only becomes subnormal with the
 * last, so that it is rounded once. */
static const char *const scaled[2] = {
	"n = i32(exponent > 300 ? 300 : exponent < -300 ? -300 : exponent)\n"
	"i = n > 127 ? 127 : n < -126 ? -102 : n; n = n - i; z = x * bitcast_f32((i + 127) << 23)\n"
	"i = n > 127 ? 127 : n < -126 ? -102 : n; n = n - i; z = z * bitcast_f32((i + 127) << 23)\n"
	"z = z * bitcast_f32((n + 127) << 23)",
	"n = i32(exponent > 2200 ? 2200 : exponent < -2200 ? -2200 : exponent)\n"
	"i = n > 1023 ? 1023 : n < -1022 ? -969 : n; n = n - i\n"
	"p = f64(bitcast_f32(((i >> 4) + 127) << 23)); p = p * p; p = p * p; p = p * p; p = p * p\n"
	"z = x * (p * f64(bitcast_f32(((i & 15) + 127) << 23)))\n"
	"i = n > 1023 ? 1023 : n < -1022 ? -969 : n; n = n - i\n"
	"p = f64(bitcast_f32(((i >> 4) + 127) << 23)); p = p * p; p = p * p; p = p * p; p = p * p\n"
	"z = z * (p * f64(bitcast_f32(((i & 15) + 127) << 23)))\n"
	"p = f64(bitcast_f32(((n >> 4) + 127) << 23)); p = p * p; p = p * p; p = p * p; p = p * p\n"
	"z = z * (p * f64(bitcast_f32(((n & 15) + 127) << 23)))",
};

tn_array *tn_ldexp(const tn_array *a, const tn_array *exponent)
{
	const tn_array *both[] = {a, exponent}, *x = NULL;
	struct tn_runtime *runtime = tn_begin(2, both, "ldexp");
	if (!runtime)
		return NULL;
	tn_dtype dtype = exponent->dtype;
	if ((dtype != TN_BOOL && !tn_is_integer(dtype)) || dtype == TN_U64) {
		tn_runtime_fail(runtime, TN_DTYPE, "ldexp",
				"exponent: expected integers other than u64, found %s",
				tn_dtype_name(dtype));
		return NULL;
	}
	if (begin("ldexp", a, NULL, &x, NULL))
		return NULL;
	const tn_array *inputs[] = {
		x, dtype == TN_I32 || dtype == TN_I64 ? exponent : tn_astype(exponent, TN_I64)};
	tn_array *out = NULL;
	if (inputs[0] && inputs[1]) {
		const struct tn_formula formula = {.text = scaled[x->dtype == TN_F64],
						   .inputs = "x exponent"};
		out = tn_formula_operation("ldexp", &formula, x->dtype, inputs, NULL);
	}
	return tn_scope_end(tn_array_context(a), out);
}

/* ---- Neighbours ------------------------------------------------------------------------------*/

/* By the bits of an f32, of which a narrower number has fewer: `unit` is the last of its own. */
static const char next_by_bits[] =
	"away = (target > x) == (x > 0)\n"
	"near = bitcast_f32(bitcast_i32(x) + (away ? unit : -unit))\n"
	"first = bitcast_f32(target > 0 ? unit : unit + -2147483648)\n"
	"z = x != x || target != target ? x + target : x == target ? target"
	" : x == 0 ? first : near";

/* The exponents of f16 end at -14. */
static const char next_f16[] =
	"away = (target > x) == (x > 0)\n"
	"near = bitcast_f32(bitcast_i32(x) + (away ? 8192 : -8192))\n"
	"step = target > x ? 0x1p-24 : -0x1p-24; size = abs(x)\n"
	"small = away ? size < 0x1p-14 : size <= 0x1p-14\n"
	"near = size == inf ? copysign(65504.0, x) : small ? copysign(x + step, x) : near\n"
	"z = x != x || target != target ? x + target : x == target ? target"
	" : x == 0 ? step : near";

/* The unit of x's binade, or half of it below a power of two. */
static const char next_f64[] =
	"i = max(order - 1, -1022)\n"
	"p = f64(bitcast_f32(((i >> 4) + 127) << 23)); p = p * p; p = p * p; p = p * p; p = p * p\n"
	"unit = p * f64(bitcast_f32(((i & 15) + 127) << 23)) * 0x1p-52\n"
	"halved = (target > x) != (x > 0) && abs(mantissa) == 0.5 && i > -1022\n"
	"step = halved ? 0.5 * unit : unit; first = f64(0x1p-1074)\n"
	"near = copysign(none ? f64(1.7976931348623157e308) : x + (target > x ? step : -step), x)\n"
	"z = x != x || target != target ? x + target : x == target ? target"
	" : x == 0 ? (target > 0 ? first : -first) : near";

static tn_array *neighbour(const char *operation, const tn_array *x, const tn_array *y)
{
	const tn_array *inputs[] = {tn_array_untracked(operation, x),
				    tn_array_untracked(operation, y)};
	double unit = x && x->dtype == TN_BF16 ? 65536 : 1;
	char text[TEXT];
	struct tn_formula formula = {.text = next_by_bits,
				     .inputs = "x target",
				     .scalars = "unit",
				     .scalar_dtype = TN_I32};
	if (!inputs[0] || !inputs[1])
		return NULL;
	if (x->dtype == TN_F16 || x->dtype == TN_F64) {
		int is_wide = x->dtype == TN_F64;
		snprintf(text, sizeof(text), "%s%s", is_wide ? split[1] : "",
			 is_wide ? next_f64 : next_f16);
		formula.text = text;
		formula.scalars = NULL;
	}
	return tn_formula_operation(operation, &formula, x->dtype, inputs, &unit);
}

tn_array *tn_nextafter(const tn_array *a, const tn_array *b)
{
	const tn_array *x = NULL, *y = NULL;
	if (tn_arrays_given(2, (const tn_array *[]){a, b}, "nextafter") ||
	    begin("nextafter", a, b, &x, &y))
		return NULL;
	return tn_scope_end(tn_array_context(a), neighbour("nextafter", x, y));
}

tn_array *tn_spacing(const tn_array *a)
{
	const tn_array *x = NULL;
	if (begin("spacing", a, NULL, &x, NULL))
		return NULL;
	tn_array *spacing = NULL;
	x = tn_array_untracked("spacing", x);
	if (x) {
		const struct tn_formula end = {.text = "z = x < 0 ? -inf : inf", .inputs = "x"};
		tn_array *next = neighbour(
			"spacing", x, tn_formula_operation("spacing", &end, x->dtype, &x, NULL));
		spacing = tn_subtract(next, x);
	}
	return tn_scope_end(tn_array_context(a), spacing);
}
