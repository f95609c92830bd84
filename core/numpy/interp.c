/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Linear interpolation, and phases without jumps.
 */
#include <tenon/signal.h>

#include <inttypes.h>
#include <math.h>
#include <tenon/manipulate.h>
#include <tenon/ufunc.h>

#include "array/make.h"
#include "array/shape.h"
#include "base/dtype.h"
#include "numpy/sorted_search.h"
#include "ops/axes.h"
#include "ops/complex_parts.h"
#include "ops/copy.h"
#include "ops/formula.h"
#include "ops/take.h"

/* ---- Interpolation ---------------------------------------------------------------------------*/

struct interp {
	const tn_array *x, *xp, *fp; /* of one dtype, real */
	const double *left, *right;
};

/* Between the places x0 and x1 with the values f0 and f1.  As NumPy from the end whose value is
 * finite; at the last place from that. */
static const struct tn_formula between = {
	.text = "width = x1 - x0\n"
		"slope = width == 0 ? 0.0 : (f1 - f0) / (width == 0 ? 1.0 : width)\n"
		"from_left = slope * (x - x0) + f0; from_right = slope * (x - x1) + f1\n"
		"z = x == x1 || from_left != from_left ? from_right : from_left\n"
		"z = z != z && x == x && f0 == f1 ? f0 : z; steep = !(abs(slope) < inf)\n"
		"z = steep && x == x1 ? f1 : steep && x == x0 ? f0 : z",
	.inputs = "x x0 x1 f0 f1"};
/* The values left and right of all places, and inside what was found between two. */
static const struct tn_formula outside = {
	.text = "z = x < first ? left : x > last ? right : inside",
	.inputs = "x first last left right inside"};
static const struct tn_formula lower_place = {
	.text = "z = found > last ? last : found < 1 ? 0 : found - 1",
	.inputs = "found",
	.scalars = "last",
	.scalar_dtype = TN_I64};

static const struct tn_formula next_place = {.text = "z = place + 1", .inputs = "place"};

static const tn_array *end_value(const tn_array *fp, const double *value, int64_t place)
{
	if (value)
		return tn_array_filled(fp, fp->dtype, 0, NULL, *value);
	return tn_squeeze(tn_slice(fp, 0, place, place + 1, 1), 0);
}

static tn_array *interpolate(const struct interp *in)
{
	const int64_t n = in->xp->size;
	const double last_lower = n > 1 ? (double)(n - 2) : 0;
	const tn_array *found = tn_sorted_search("interp", in->xp, in->x, 1);
	const tn_array *lower =
		found ? tn_formula_operation("interp", &lower_place, TN_I64, &found, &last_lower)
		      : NULL;
	const tn_array *upper =
		lower && n > 1 ? tn_formula_operation("interp", &next_place, TN_I64, &lower, NULL)
			       : lower;
	const tn_array *sides[] = {
		in->x, tn_take(in->xp, lower, 0, TN_RAISE), tn_take(in->xp, upper, 0, TN_RAISE),
		tn_take(in->fp, lower, 0, TN_RAISE), tn_take(in->fp, upper, 0, TN_RAISE)};
	for (int i = 0; i < 5; i++) {
		if (!sides[i])
			return NULL;
	}
	/* As NumPy, a single place has its value for NaN too. */
	const tn_array *inside =
		n > 1 ? tn_formula_operation("interp", &between, in->x->dtype, sides, NULL)
		      : sides[3];
	const tn_array *ends[] = {in->x,
				  end_value(in->xp, NULL, 0),
				  end_value(in->xp, NULL, n - 1),
				  end_value(in->fp, in->left, 0),
				  end_value(in->fp, in->right, n - 1),
				  inside};
	for (int i = 0; i < 6; i++) {
		if (!ends[i])
			return NULL;
	}
	return tn_formula_operation("interp", &outside, in->x->dtype, ends, NULL);
}

/* One period of places in order, with the last one before it and the first one after it. */
static tn_status make_periodic(struct interp *in, double period)
{
	const tn_array *length = tn_array_filled(in->x, in->x->dtype, 0, NULL, period);
	in->x = tn_remainder(in->x, length);
	tn_array *places = tn_remainder(in->xp, length);
	const tn_array *order = tn_argsort(places, 0, 0);
	places = tn_take(places, order, 0, TN_RAISE);
	const tn_array *values = tn_take(in->fp, order, 0, TN_RAISE);
	const int64_t n = in->xp->size;
	const tn_array *all[] = {tn_affine(tn_slice(places, 0, n - 1, n, 1), 1, -period), places,
				 tn_affine(tn_slice(places, 0, 0, 1, 1), 1, period)};
	const tn_array *around[] = {tn_slice(values, 0, n - 1, n, 1), values,
				    tn_slice(values, 0, 0, 1, 1)};
	in->xp = tn_concatenate(3, all, 0);
	in->fp = tn_concatenate(3, around, 0);
	in->left = in->right = NULL;
	return in->x && in->xp && in->fp ? TN_OK : TN_PENDING_ERROR;
}

static tn_status check_interp(const tn_array *x, const tn_array *xp, const tn_array *fp,
			      double period)
{
	char places[TN_SHAPE_TEXT], values[TN_SHAPE_TEXT];
	struct tn_runtime *runtime = x->runtime;
	if (tn_is_complex(x->dtype) || tn_is_complex(xp->dtype))
		return tn_runtime_fail(runtime, TN_DTYPE, "interp",
				       "x and xp: expected real numbers, found %s and %s",
				       tn_dtype_name(x->dtype), tn_dtype_name(xp->dtype));
	if (xp->rank != 1 || fp->rank != 1 || !xp->size || xp->size != fp->size)
		return tn_runtime_fail(runtime, TN_SHAPE, "interp",
				       "xp and fp: expected lines of one length of at least 1, "
				       "found shapes %s and %s",
				       tn_array_text(xp, places), tn_array_text(fp, values));
	if (!isfinite(period))
		return tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, "interp",
				       "period: expected a finite number, found %g", period);
	return TN_OK;
}

static tn_array *of_dtype(const tn_array *a, tn_dtype dtype)
{
	return a && a->dtype != dtype ? tn_astype(a, dtype) : tn_array_const_cast(a);
}

/* Of real values, or of one part of complex ones. */
static tn_array *interp_part(const struct interp *arguments, const tn_array *fp, double period)
{
	struct interp in = *arguments;
	in.fp = fp;
	if (!in.x || !in.xp || !fp || (period != 0 && make_periodic(&in, fabs(period))))
		return NULL;
	return interpolate(&in);
}

tn_array *tn_interp(const tn_array *x, const tn_array *xp, const tn_array *fp, const double *left,
		    const double *right, double period)
{
	static const double zero = 0;
	const tn_array *all[] = {x, xp, fp};
	struct tn_runtime *runtime = tn_begin(3, all, "interp");
	if (!runtime || check_interp(x, xp, fp, period) || tn_scope_begin(runtime->context))
		return NULL;
	tn_dtype dtype = tn_arrays_result_type(3, all);
	if (!tn_is_inexact(dtype))
		dtype = TN_F64;
	const tn_dtype part = tn_real_dtype(dtype);
	struct interp in = {of_dtype(x, part), of_dtype(xp, part), NULL, left, right};
	fp = of_dtype(fp, dtype);
	tn_array *result;
	if (tn_is_complex(dtype)) {
		tn_array *real = interp_part(&in, tn_real(fp), period);
		in.left = left ? &zero : NULL;
		in.right = right ? &zero : NULL;
		result = tn_complex(real, interp_part(&in, tn_imag(fp), period));
	} else {
		result = interp_part(&in, fp, period);
	}
	return tn_scope_end(runtime->context, result);
}

/* ---- Phases ----------------------------------------------------------------------------------*/

/* What is added after a difference dd, in NumPy's names. */
static const struct tn_formula correction = {
	.text = "r = (dd - interval_low) % period; r = r < 0 ? r + period : r\n"
		"ddmod = r + interval_low\n"
		"ddmod = ddmod == interval_low && dd > 0 ? -interval_low : ddmod\n"
		"z = abs(dd) < discont ? 0.0 : ddmod - dd",
	.inputs = "dd",
	.scalars = "interval_low period discont"};

static tn_array *unwrapped(const tn_array *a, double discont, int axis, double period)
{
	const double scalars[] = {-period / 2, period, discont > 0 ? discont : period / 2};
	const int64_t length = a->shape[axis];
	if (length < 2)
		return tn_copy(a);
	const tn_array *after = tn_slice(a, axis, 1, length, 1);
	const tn_array *steps = tn_array_untracked(
		"unwrap", tn_subtract(after, tn_slice(a, axis, 0, length - 1, 1)));
	if (!steps)
		return NULL;
	tn_array *added =
		tn_formula_operation("unwrap", &correction, steps->dtype, &steps, scalars);
	const tn_array *both[] = {tn_slice(a, axis, 0, 1, 1),
				  tn_add(after, tn_cumsum(added, axis))};
	return tn_concatenate(2, both, axis);
}

tn_array *tn_unwrap(const tn_array *a, double discont, int axis, double period)
{
	struct tn_runtime *runtime = tn_begin(1, &a, "unwrap");
	if (!runtime || tn_axis_check(a, "unwrap", "axis", &axis))
		return NULL;
	if (tn_is_complex(a->dtype)) {
		tn_runtime_fail(runtime, TN_DTYPE, "unwrap", "a: expected real numbers, found %s",
				tn_dtype_name(a->dtype));
		return NULL;
	}
	if (!(period > 0) || !isfinite(period)) {
		tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, "unwrap",
				"period: expected a finite number above 0, found %g", period);
		return NULL;
	}
	if (tn_scope_begin(runtime->context))
		return NULL;
	const tn_array *x = of_dtype(a, tn_is_inexact(a->dtype) ? a->dtype : TN_F64);
	return tn_scope_end(runtime->context, x ? unwrapped(x, discont, axis, period) : NULL);
}
