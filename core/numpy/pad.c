/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Padding, axis by axis: an axis that is padded later extends what the earlier ones have added.
 */
#include <tenon/manipulate.h>
#include <tenon/statistics.h>

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "array/make.h"
#include "array/shape.h"
#include "base/dtype.h"
#include "numpy/pad_odd.h"
#include "ops/copy.h"
#include "ops/formula.h"
#include "ops/index_formula.h"

struct padding {
	uint32_t mode;
	int axis;
	int64_t before, after;
	double first, last; /* the values of the two ends, or how many elements have a statistic */
};

/* ---- Repeated elements -----------------------------------------------------------------------*/

/* The place of the element that each place of the padded axis repeats; `before` places are added
 * before the array's. */
static const char *place_text(uint32_t mode)
{
	switch (mode) {
	case TN_PAD_EDGE:
		return "i = index(0) - before; z = min(max(i, 0), length - 1)";
	case TN_PAD_WRAP:
		return "rest = (index(0) - before) % length; z = rest < 0 ? rest + length : rest";
	case TN_PAD_SYMMETRIC:
	case TN_PAD_SYMMETRIC_ODD:
		return "rest = (index(0) - before) % (2 * length)\n"
		       "i = rest < 0 ? rest + 2 * length : rest\n"
		       "z = i < length ? i : 2 * length - 1 - i";
	default: /* TN_PAD_REFLECT and its odd form; one element repeats itself */
		return "period = length > 1 ? 2 * length - 2 : 1\n"
		       "rest = (index(0) - before) % period\n"
		       "i = rest < 0 ? rest + period : rest; z = i < length ? i : period - i";
	}
}

static tn_array *pad_with_elements(const tn_array *a, const struct padding *padding)
{
	const int64_t length = a->shape[padding->axis];
	const int64_t whole = padding->before + length + padding->after;
	const struct tn_formula formula = {.text = place_text(padding->mode),
					   .scalars = "before length",
					   .scalar_dtype = TN_I64};
	tn_array *places =
		tn_index_formula_make(tn_array_home(a), "pad", TN_I64, 1, &whole, &formula,
				      (const double[]){(double)padding->before, (double)length});
	tn_array *padded = tn_take(a, places, padding->axis, TN_RAISE);
	tn_array_discard(places);
	if (padding->mode != TN_PAD_REFLECT_ODD && padding->mode != TN_PAD_SYMMETRIC_ODD)
		return padded;
	const int64_t period = length - (padding->mode == TN_PAD_REFLECT_ODD && length > 1);
	tn_array *odd = tn_pad_odd(a, padded, padding->axis, padding->before, period);
	tn_array_discard(padded);
	return odd;
}

/* ---- Parts before and after ------------------------------------------------------------------*/

/* A part of a's shape but for its length along the axis, all of one value. */
static tn_array *constant_part(const tn_array *a, int axis, int64_t n, double value)
{
	int64_t shape[TN_MAX_RANK];
	memcpy(shape, a->shape, sizeof(shape));
	shape[axis] = n;
	tn_array *one = tn_array_filled(a, a->dtype, 0, NULL, value);
	tn_array *part = tn_broadcast_to(one, a->rank, shape);
	tn_array_discard(one);
	return part;
}

static tn_array *statistic(const tn_array *a, uint32_t mode, int axis)
{
	switch (mode) {
	case TN_PAD_MAXIMUM:
		return tn_max(a, 1, &axis, 1);
	case TN_PAD_MINIMUM:
		return tn_min(a, 1, &axis, 1);
	case TN_PAD_MEDIAN:
		return tn_median(a, 1, &axis, 1);
	default:
		return tn_mean(a, 1, &axis, 1);
	}
}

/* The statistic of the first or last elements along the axis, or of all, as a's dtype, n times. */
static tn_array *statistic_part(const tn_array *a, const struct padding *padding, int64_t n,
				int is_after)
{
	const int axis = padding->axis;
	const int64_t length = a->shape[axis];
	const double asked = is_after ? padding->last : padding->first;
	const int64_t used = asked > 0 && asked < (double)length ? (int64_t)asked : length;
	int64_t shape[TN_MAX_RANK];
	tn_array *line = is_after ? tn_slice(a, axis, length - used, length, 1)
				  : tn_slice(a, axis, 0, used, 1);
	tn_array *value = statistic(line, padding->mode, axis);
	tn_array_discard(line);
	memcpy(shape, a->shape, sizeof(shape));
	shape[axis] = n;
	if (value && value->dtype != a->dtype) {
		tn_array *rounded = tn_is_integer(a->dtype) ? tn_round(value) : tn_copy(value);
		tn_array_discard(value);
		value = tn_astype(rounded, a->dtype);
		tn_array_discard(rounded);
	}
	tn_array *part = tn_broadcast_to(value, a->rank, shape);
	tn_array_discard(value);
	return part;
}

/* 0 to n - 1 along the axis, or n - 1 to 0. */
static tn_array *make_steps(const tn_array *a, int axis, int64_t n, int is_reversed)
{
	static const struct tn_formula up = {.text = "z = index(0)"};
	static const struct tn_formula down = {
		.text = "z = n - 1 - index(0)", .scalars = "n", .scalar_dtype = TN_I64};
	const double length = (double)n;
	int64_t shape[TN_MAX_RANK];
	tn_array *line = tn_index_formula_make(tn_array_home(a), "pad", TN_F64, 1, &n,
					       is_reversed ? &down : &up, &length);
	for (int i = 0; i < a->rank; i++)
		shape[i] = i == axis ? n : 1;
	tn_array *steps = tn_reshape(line, a->rank, shape);
	tn_array_discard(line);
	return steps;
}

/* Real elements from `end` to those of the edge, computed in f64; integers are rounded down. */
static tn_array *real_ramp(const tn_array *edge, const tn_array *steps, int64_t n, double end)
{
	const struct tn_formula ramp = {
		.text = "z = mul_rounded((f64(edge) - end) / n, step) + end",
		.inputs = "edge step",
		.scalars = "end n",
		.scalar_dtype = TN_F64};
	const struct tn_formula whole = {
		.text = "z = floor(mul_rounded((f64(edge) - end) / n, step) + end)",
		.inputs = "edge step",
		.scalars = "end n",
		.scalar_dtype = TN_F64};
	return tn_formula_operation("pad", tn_is_integer(edge->dtype) ? &whole : &ramp, edge->dtype,
				    (const tn_array *[]){edge, steps},
				    (const double[]){end, (double)n});
}

static tn_array *complex_ramp(const tn_array *edge, const tn_array *steps, int64_t n, double end)
{
	tn_array *real = tn_real(edge), *imaginary = tn_imag(edge);
	tn_array *first = real ? real_ramp(real, steps, n, end) : NULL;
	tn_array *second = imaginary ? real_ramp(imaginary, steps, n, 0) : NULL;
	tn_array *ramp = tn_complex(first, second);
	tn_array *const temporaries[] = {second, first, imaginary, real};
	for (size_t i = 0; i < sizeof(temporaries) / sizeof(temporaries[0]); i++)
		tn_array_discard(temporaries[i]);
	return ramp;
}

static tn_array *ramp_part(const tn_array *a, const struct padding *padding, int64_t n,
			   int is_after)
{
	const int axis = padding->axis;
	const int64_t at = is_after ? a->shape[axis] - 1 : 0;
	const double end = is_after ? padding->last : padding->first;
	tn_array *edge = tn_slice(a, axis, at, at + 1, 1);
	tn_array *line = edge ? make_steps(a, axis, n, is_after) : NULL;
	tn_array *ramp = NULL;
	if (line)
		ramp = tn_is_complex(a->dtype) ? complex_ramp(edge, line, n, end)
					       : real_ramp(edge, line, n, end);
	tn_array_discard(line);
	tn_array_discard(edge);
	return ramp;
}

/* ---- One axis --------------------------------------------------------------------------------*/

static tn_array *make_part(const tn_array *a, const struct padding *padding, int is_after)
{
	const int64_t n = is_after ? padding->after : padding->before;
	if (padding->mode == TN_PAD_CONSTANT || padding->mode == TN_PAD_EMPTY)
		return constant_part(a, padding->axis, n,
				     is_after ? padding->last : padding->first);
	if (padding->mode == TN_PAD_LINEAR_RAMP)
		return ramp_part(a, padding, n, is_after);
	return statistic_part(a, padding, n, is_after);
}

static tn_array *pad_with_parts(const tn_array *a, const struct padding *padding)
{
	const tn_array *all[3];
	tn_array *parts[2] = {NULL};
	int n = 0, n_parts = 0;
	if (padding->before)
		all[n++] = parts[n_parts++] = make_part(a, padding, 0);
	all[n++] = a;
	if (padding->after)
		all[n++] = parts[n_parts++] = make_part(a, padding, 1);
	tn_array *padded = a->runtime->error.status ? NULL : tn_concatenate(n, all, padding->axis);
	while (n_parts)
		tn_array_discard(parts[--n_parts]);
	return padded;
}

static tn_array *pad_axis(const tn_array *a, const struct padding *padding)
{
	switch (padding->mode) {
	case TN_PAD_EDGE:
	case TN_PAD_REFLECT:
	case TN_PAD_SYMMETRIC:
	case TN_PAD_WRAP:
	case TN_PAD_REFLECT_ODD:
	case TN_PAD_SYMMETRIC_ODD:
		return pad_with_elements(a, padding);
	default:
		return pad_with_parts(a, padding);
	}
}

/* ---- Pad -------------------------------------------------------------------------------------*/

static tn_status check_axis(const tn_array *a, uint32_t mode, int axis, const int64_t *widths)
{
	struct tn_error_info *error = &a->runtime->report;
	const int64_t most = INT64_MAX / 4;
	char shape[TN_SHAPE_TEXT];
	for (int i = 0; i < 2; i++)
		if (widths[i] < 0 || widths[i] > most - a->shape[axis] / 2)
			return tn_fail(error, TN_INVALID_ARGUMENT, "pad",
				       "widths[%d]: expected 0 or more for axis %d of shape %s, "
				       "found %" PRId64,
				       2 * axis + i, axis, tn_array_text(a, shape), widths[i]);
	if ((widths[0] || widths[1]) && !a->shape[axis] && mode != TN_PAD_CONSTANT &&
	    mode != TN_PAD_EMPTY)
		return tn_fail(error, TN_SHAPE, "pad",
			       "a: axis %d of shape %s is empty, which only TN_PAD_CONSTANT and "
			       "TN_PAD_EMPTY extend",
			       axis, tn_array_text(a, shape));
	return TN_OK;
}

/* Numbers of elements: whole, and 0 for all. */
static tn_status check_lengths(const tn_array *a, const double *values)
{
	for (int i = 0; i < 2 * a->rank; i++) {
		if (!(values[i] >= 0 && values[i] == floor(values[i])))
			return tn_fail(&a->runtime->report, TN_INVALID_ARGUMENT, "pad",
				       "values[%d]: expected a number of elements, or 0 for all, "
				       "found %g",
				       i, values[i]);
	}
	return TN_OK;
}

static tn_status check_pad(const tn_array *a, const int64_t *widths, uint32_t mode,
			   const double *values)
{
	struct tn_error_info *error = &a->runtime->report;
	const int is_odd = mode == TN_PAD_REFLECT_ODD || mode == TN_PAD_SYMMETRIC_ODD;
	const int is_ordered =
		mode == TN_PAD_MAXIMUM || mode == TN_PAD_MINIMUM || mode == TN_PAD_MEDIAN;
	int64_t shape[TN_MAX_RANK], size;
	tn_status status = TN_OK;
	if (mode > TN_PAD_SYMMETRIC_ODD)
		return tn_fail(error, TN_INVALID_ARGUMENT, "pad",
			       "mode: expected TN_PAD_CONSTANT (0) to TN_PAD_SYMMETRIC_ODD (%d), "
			       "found %" PRIu32,
			       TN_PAD_SYMMETRIC_ODD, mode);
	if (a->rank && !widths)
		return tn_fail(error, TN_INVALID_ARGUMENT, "pad",
			       "widths is NULL: expected two for each of %d axes", a->rank);
	if (is_ordered && tn_is_complex(a->dtype))
		return tn_fail(error, TN_DTYPE, "pad",
			       "a: expected real elements, which have an order, found %s",
			       tn_dtype_name(a->dtype));
	if (is_odd && a->dtype == TN_BOOL)
		return tn_fail(error, TN_DTYPE, "pad",
			       "a: expected numbers, which have a difference, found bool");
	if (values && (is_ordered || mode == TN_PAD_MEAN))
		status = check_lengths(a, values);
	for (int i = 0; i < a->rank && !status; i++) {
		status = check_axis(a, mode, i, widths + 2 * i);
		shape[i] = status ? 0 : a->shape[i] + widths[2 * i] + widths[2 * i + 1];
	}
	return status ? status : tn_shape_check(a->runtime, "pad", a->dtype, a->rank, shape, &size);
}

tn_array *tn_pad(const tn_array *a, const int64_t *widths, uint32_t mode, const double *values)
{
	struct tn_runtime *runtime = tn_begin(1, &a, "pad");
	if (!runtime)
		return NULL;
	if (check_pad(a, widths, mode, values))
		return tn_end(runtime, runtime->report.status, NULL);
	tn_array *padded = NULL;
	for (int i = 0; i < a->rank; i++) {
		const struct padding padding = {.mode = mode,
						.axis = i,
						.before = widths[2 * i],
						.after = widths[2 * i + 1],
						.first = values ? values[2 * i] : 0,
						.last = values ? values[2 * i + 1] : 0};
		if (!padding.before && !padding.after)
			continue;
		tn_array *next = pad_axis(padded ? padded : a, &padding);
		tn_array_discard(padded);
		padded = next;
		if (!next)
			return NULL;
	}
	return padded ? padded : tn_copy(a);
}
