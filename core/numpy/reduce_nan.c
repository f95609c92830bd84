/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Reductions that leave NaN out.  A complex number is NaN if one of its parts is.
 */
#include <tenon/order.h>
#include <tenon/statistics.h>

#include "array/make.h"
#include "array/shape.h"
#include "base/dtype.h"
#include "numpy/composed_reduction.h"
#include "numpy/variance.h"
#include "ops/axes.h"
#include "ops/formula.h"

/* What stands for NaN: of a real number x, and of a part of a complex number beside the other
 * part. */
struct stand_in {
	struct tn_formula real, part;
};

static const struct stand_in zero = {
	.real = {.text = "z = x == x ? x : 0", .inputs = "x"},
	.part = {.text = "z = part == part && other == other ? part : 0", .inputs = "part other"}};
static const struct stand_in one = {
	.real = {.text = "z = x == x ? x : 1", .inputs = "x"},
	.part = {.text = "z = part == part && other == other ? part : 1", .inputs = "part other"}};
static const struct stand_in lowest = {.real = {.text = "z = x == x ? x : -inf", .inputs = "x"}};
static const struct stand_in highest = {.real = {.text = "z = x == x ? x : inf", .inputs = "x"}};

static const tn_array *without_nan(const char *operation, const tn_array *a,
				   const struct stand_in *with)
{
	if (!a || !tn_is_inexact(a->dtype))
		return a;
	if (!tn_is_complex(a->dtype))
		return tn_formula_operation(operation, &with->real, a->dtype, &a, NULL);
	const tn_array *parts[] = {tn_real(a), tn_imag(a)}, *turned[] = {parts[1], parts[0]};
	const tn_dtype dtype = tn_array_dtype(parts[0]);
	return tn_complex(tn_formula_operation(operation, &with->part, dtype, parts, NULL),
			  tn_formula_operation(operation, &zero.part, dtype, turned, NULL));
}

/* How many are not NaN, i64. */
static tn_array *count_of(const struct tn_composed_reduction *r, int keepdims)
{
	static const struct tn_formula real = {.text = "z = x == x", .inputs = "x"};
	static const struct tn_formula complex = {.text = "z = real == real && imag == imag",
						  .inputs = "real imag"};
	const tn_array *parts[] = {r->a, NULL};
	const int is_complex = tn_is_complex(r->a->dtype);
	if (is_complex) {
		parts[0] = tn_real(r->a);
		parts[1] = tn_imag(r->a);
	}
	tn_array *is_number = tn_formula_operation(r->operation, is_complex ? &complex : &real,
						   TN_BOOL, parts, NULL);
	return tn_sum(is_number, r->n, r->axes, keepdims);
}

tn_array *tn_nansum(const tn_array *a, int n, const int *axes, int keepdims)
{
	struct tn_composed_reduction r;
	if (tn_composed_reduction_begin(&r, "nansum", a, n, axes, keepdims))
		return NULL;
	tn_array *sum = tn_sum(without_nan(r.operation, a, &zero), n, axes, keepdims);
	return tn_scope_end(r.runtime->context, sum);
}

tn_array *tn_nanprod(const tn_array *a, int n, const int *axes, int keepdims)
{
	struct tn_composed_reduction r;
	if (tn_composed_reduction_begin(&r, "nanprod", a, n, axes, keepdims))
		return NULL;
	tn_array *product = tn_prod(without_nan(r.operation, a, &one), n, axes, keepdims);
	return tn_scope_end(r.runtime->context, product);
}

static tn_array *scan_of(const char *operation, const tn_array *a, int axis,
			 const struct stand_in *with,
			 tn_array *(*scan)(const tn_array *a, int axis))
{
	struct tn_runtime *runtime = tn_begin(1, &a, operation);
	if (!runtime || tn_scope_begin(runtime->context))
		return NULL;
	const tn_array *x = tn_axis_or_flat(a, operation, &axis);
	return tn_scope_end(runtime->context,
			    x ? scan(without_nan(operation, x, with), axis) : NULL);
}

tn_array *tn_nancumsum(const tn_array *a, int axis)
{
	return scan_of("nancumsum", a, axis, &zero, tn_cumsum);
}

tn_array *tn_nancumprod(const tn_array *a, int axis)
{
	return scan_of("nancumprod", a, axis, &one, tn_cumprod);
}

tn_array *tn_nanmean(const tn_array *a, int n, const int *axes, int keepdims)
{
	struct tn_composed_reduction r;
	if (tn_composed_reduction_begin(&r, "nanmean", a, n, axes, keepdims))
		return NULL;
	const tn_array *x = without_nan(r.operation, tn_variance_input(a), &zero);
	tn_array *mean = tn_variance_quotient(r.operation, tn_sum(x, n, axes, keepdims),
					      count_of(&r, keepdims));
	return tn_scope_end(r.runtime->context, tn_variance_result(mean, a, 0));
}

/* ---- Extremes --------------------------------------------------------------------------------*/

static tn_array *extreme_of(const char *operation, const tn_array *a, int n, const int *axes,
			    int keepdims, const struct stand_in *with,
			    tn_array *(*reduce)(const tn_array *, int, const int *, int))
{
	/* NaN where there is no number. */
	static const struct tn_formula checked = {.text = "z = count > 0 ? extreme : nan",
						  .inputs = "extreme count"};
	struct tn_composed_reduction r;
	tn_array *extreme = NULL;
	if (tn_composed_reduction_begin(&r, operation, a, n, axes, keepdims))
		return NULL;
	if (!tn_composed_reduction_check_order(&r))
		extreme = reduce(without_nan(operation, a, with), n, axes, keepdims);
	if (extreme && tn_is_floating(a->dtype)) {
		const tn_array *both[] = {extreme, count_of(&r, keepdims)};
		extreme = tn_formula_operation(operation, &checked, a->dtype, both, NULL);
	}
	return tn_scope_end(r.runtime->context, extreme);
}

tn_array *tn_nanmax(const tn_array *a, int n, const int *axes, int keepdims)
{
	return extreme_of("nanmax", a, n, axes, keepdims, &lowest, tn_max);
}

tn_array *tn_nanmin(const tn_array *a, int n, const int *axes, int keepdims)
{
	return extreme_of("nanmin", a, n, axes, keepdims, &highest, tn_min);
}

static tn_array *place_of(const char *operation, const tn_array *a, int axis, int keepdims,
			  const struct stand_in *with,
			  tn_array *(*find)(const tn_array *a, int axis, int keepdims))
{
	struct tn_composed_reduction r;
	tn_array *place = NULL;
	if (tn_composed_reduction_begin(&r, operation, a, axis == TN_AXIS_NONE ? TN_ALL_AXES : 1,
					&axis, 0))
		return NULL;
	if (!tn_composed_reduction_check_order(&r))
		place = find(without_nan(operation, a, with), axis, keepdims);
	return tn_scope_end(r.runtime->context, place);
}

tn_array *tn_nanargmax(const tn_array *a, int axis, int keepdims)
{
	return place_of("nanargmax", a, axis, keepdims, &lowest, tn_argmax);
}

tn_array *tn_nanargmin(const tn_array *a, int axis, int keepdims)
{
	return place_of("nanargmin", a, axis, keepdims, &highest, tn_argmin);
}

/* ---- Spread ----------------------------------------------------------------------------------*/

static tn_array *spread_of(const char *operation, const tn_array *a, int n, const int *axes,
			   double correction, int keepdims, int is_root)
{
	/* Unlike tn_var, NumPy has NaN for every divisor that is not positive. */
	static const struct tn_formula quotient = {
		.text = "z = count > correction ? sum / (count - correction) : nan",
		.inputs = "sum count",
		.scalars = "correction"};
	struct tn_composed_reduction r;
	if (tn_composed_reduction_begin(&r, operation, a, n, axes, keepdims))
		return NULL;
	const tn_array *x = tn_variance_input(a);
	tn_array *sum = tn_sum(without_nan(operation, x, &zero), n, axes, 1);
	tn_array *mean = tn_variance_quotient(operation, sum, count_of(&r, 1));
	sum = tn_sum(tn_variance_square(operation, x, mean, 1), n, axes, keepdims);
	const tn_array *both[] = {sum, count_of(&r, keepdims)};
	tn_array *variance =
		tn_formula_operation(operation, &quotient, tn_array_dtype(sum), both, &correction);
	return tn_scope_end(r.runtime->context, tn_variance_result(variance, a, is_root));
}

tn_array *tn_nanvar(const tn_array *a, int n, const int *axes, double correction, int keepdims)
{
	return spread_of("nanvar", a, n, axes, correction, keepdims, 0);
}

tn_array *tn_nanstd(const tn_array *a, int n, const int *axes, double correction, int keepdims)
{
	return spread_of("nanstd", a, n, axes, correction, keepdims, 1);
}

/* ---- Replaced --------------------------------------------------------------------------------*/

static double largest_of(tn_dtype dtype)
{
	static const uint64_t bits[TN_DTYPES] = {[TN_F16] = 0x7bff,
						 [TN_BF16] = 0x7f7f,
						 [TN_F32] = 0x7f7fffff,
						 [TN_F64] = 0x7fefffffffffffff};
	return tn_dtype_information(dtype)->value_of(bits[dtype]);
}

static tn_array *replaced(const tn_array *a, double nan, const double *posinf, const double *neginf)
{
	static const struct tn_formula replace = {
		.text = "z = x != x ? for_nan : x == inf ? posinf : x == -inf ? neginf : x",
		.inputs = "x",
		.scalars = "for_nan posinf neginf"};
	if (!a)
		return NULL;
	const double largest = largest_of(a->dtype);
	const double values[] = {nan, posinf ? *posinf : largest, neginf ? *neginf : -largest};
	return tn_formula_operation("nan_to_num", &replace, a->dtype, &a, values);
}

tn_array *tn_nan_to_num(const tn_array *a, double nan, const double *posinf, const double *neginf)
{
	if (!a)
		return NULL;
	if (!tn_is_inexact(a->dtype))
		return tn_copy(a);
	if (!tn_is_complex(a->dtype))
		return replaced(a, nan, posinf, neginf);
	tn_context *context = tn_array_context(a);
	if (tn_runtime_ready(a->runtime) || tn_scope_begin(context))
		return NULL;
	tn_array *real = replaced(tn_real(a), nan, posinf, neginf);
	tn_array *imaginary = replaced(tn_imag(a), nan, posinf, neginf);
	return tn_scope_end(context, tn_complex(real, imaginary));
}
