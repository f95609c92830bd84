/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Element operations on complex arrays.  A text reads the parts of its inputs as xr, xi, yr, yi,
 * cr, ci and the scalars a, b; it assigns zr and zi, or z for a real or boolean result.  A real
 * input has no second part: the text begins with the assignment of a literal 0.
 */
#include "ops/complex.h"

#include <stdio.h>
#include <string.h>

#include "array/make.h"
#include "array/result_type.h"
#include "array/shape.h"
#include "dispatch/programs.h"
#include "ops/complex_parts.h"
#include "ops/copy.h"
#include "ops/layout.h"
#include "ops/map.h"

enum { MOST_INPUTS = 3, TEXT = 2048 };
enum gives { GIVES_NOTHING, GIVES_COMPLEX, GIVES_REAL, GIVES_BOOL };

/* Where a choice guards a division, its divisor is 1 on the other branch: the derivatives of both
 * branches are finite. */
static const struct complex_operation {
	const char *text;
	enum gives gives;
} operations[TN_ELEMENT_OPERATIONS] = {
	[TN_DO_ADD] = {"zr = xr + yr; zi = xi + yi", GIVES_COMPLEX},
	[TN_DO_SUBTRACT] = {"zr = xr - yr; zi = xi - yi", GIVES_COMPLEX},
	[TN_DO_MULTIPLY] = {"zr = xr*yr - xi*yi; zi = xr*yi + xi*yr", GIVES_COMPLEX},
	/* Smith, Algorithm 116 (1962): by the larger part of the divisor. */
	[TN_DO_DIVIDE] = {"by_real = abs(yr) >= abs(yi)\n"
			  "large = by_real ? yr : yi; small = by_real ? yi : yr\n"
			  "by_zero = large == 0; ratio = small / (by_zero ? 1.0 : large)\n"
			  "scale = 1.0 / (by_zero ? abs(yr) : large + small*ratio)\n"
			  "zr = (by_real ? xr + xi*ratio : xr*ratio + xi) * scale\n"
			  "zi = (by_real ? xi - xr*ratio : xi*ratio - xr) * scale",
			  GIVES_COMPLEX},
	/* exp(y log x), x itself for y = 1; 0 to the power 0 is 1, and NaN to a power without a
	 * positive real part. */
	[TN_DO_POWER] = {"is_zero = xr == 0 && xi == 0; sr = is_zero ? 1.0 : xr\n"
			 "is_one = yr == 1 && yi == 0; is_none = yr == 0 && yi == 0\n"
			 "lr = log(hypot(sr, xi)); li = atan2(xi, sr)\n"
			 "size = exp(yr*lr - yi*li); angle = yr*li + yi*lr\n"
			 "at_zero = is_none ? 1.0 : yr > 0 ? 0.0 : nan\n"
			 "zr = is_one ? xr : is_zero ? at_zero : size*cos(angle)\n"
			 "zi = is_one ? xi : is_zero ? (is_none ? 0.0 : at_zero) : size*sin(angle)",
			 GIVES_COMPLEX},
	[TN_DO_EQUAL] = {"z = xr == yr && xi == yi", GIVES_BOOL},
	[TN_DO_NOT_EQUAL] = {"z = xr != yr || xi != yi", GIVES_BOOL},
	[TN_DO_WHERE] = {"zr = bool(xr) ? yr : cr; zi = bool(xr) ? yi : ci", GIVES_COMPLEX},
	[TN_DO_NEGATIVE] = {"zr = -xr; zi = -xi", GIVES_COMPLEX},
	[TN_DO_CONJ] = {"zr = xr; zi = -xi", GIVES_COMPLEX},
	[TN_DO_COMPLEX] = {"zr = xr; zi = yr", GIVES_COMPLEX},
	[TN_DO_ABS] = {"z = hypot(xr, xi)", GIVES_REAL},
	/* The derivative at 0 is 0. */
	[TN_DO_ANGLE] = {"is_zero = xr == 0 && xi == 0; sr = is_zero ? 1.0 : xr\n"
			 "at_zero = copysign(pi*(0.5 - 0.5*copysign(1.0, xr)), xi)\n"
			 "z = is_zero ? at_zero : atan2(xi, sr)",
			 GIVES_REAL},
	[TN_DO_SIGN] = {"is_zero = xr == 0 && xi == 0; large = max(abs(xr), abs(xi))\n"
			"scale = is_zero ? 1.0 : large; sr = is_zero ? 1.0 : xr / scale\n"
			"si = xi / scale; size = hypot(sr, si)\n"
			"zr = is_zero ? 0.0 : sr / size; zi = is_zero ? 0.0 : si / size",
			GIVES_COMPLEX},
	[TN_DO_SQUARE] = {"zr = xr*xr - xi*xi; zi = xr*xi + xi*xr", GIVES_COMPLEX},
	/* Of x scaled by its larger part, so that nothing overflows; the larger part of the result
	 * first, so that nothing cancels. */
	[TN_DO_SQRT] =
		{"is_zero = xr == 0 && xi == 0; is_right = xr >= 0\n"
		 "is_tall = abs(xi) == inf; is_wide = abs(xr) == inf\n"
		 "scale = is_zero || is_tall || is_wide ? 1.0 : max(abs(xr), abs(xi))\n"
		 "sr = is_zero ? 1.0 : xr / scale; si = xi / scale; outer = sqrt(scale)\n"
		 "inner = sqrt(0.5*hypot(sr, si) + 0.5*(is_right ? sr : -sr))\n"
		 "root = outer*inner; other = outer*(si / (2.0*inner))\n"
		 "real = is_right ? root : other*copysign(1.0, xi)\n"
		 "imaginary = is_right ? other : copysign(root, xi)\n"
		 "is_nan = xi != xi; left = is_nan ? nan : 0.0\n"
		 "zr = is_zero ? 0.0 : is_tall ? inf : is_wide ? (is_right ? inf : left) : real\n"
		 "end = is_right && is_nan ? nan : copysign(is_right ? 0.0 : inf, xi)\n"
		 "zi = is_zero || is_tall ? xi : is_wide ? end : imaginary",
		 GIVES_COMPLEX},
	/* By the square of exp(x / 2), which overflows later.  Here and below: infinity times a
	 * direction that is NaN is infinite in the first part, and 0 times NaN stays 0, as in C. */
	[TN_DO_EXP] = {"half = exp(0.5*xr); is_lost = !(abs(xi) < inf)\n"
		       "is_zero = half == 0 && (xr == -inf || !is_lost)\n"
		       "zr = is_zero ? 0.0 : is_lost && xr == inf ? inf : half*(half*cos(xi))\n"
		       "zi = is_zero ? 0.0 : xi == 0 && !(half < inf) ? xi : half*(half*sin(xi))",
		       GIVES_COMPLEX},
	[TN_DO_LOG] = {"large = max(abs(xr), abs(xi)); small = min(abs(xr), abs(xi))\n"
		       "is_far = abs(xr) == inf || abs(xi) == inf\n"
		       "ratio = small / (large == 0 || is_far ? 1.0 : large)\n"
		       "zr = is_far ? inf : log(large) + 0.5*log1p(ratio*ratio)\n"
		       "zi = atan2(xi, xr)",
		       GIVES_COMPLEX},
	/* Where cosh overflows or is NaN, a factor of 0 stays 0. */
	[TN_DO_SIN] = {"s = sin(xr); c = cos(xr); h = cosh(xi)\n"
		       "is_lost = !(abs(xr) < inf) && (xi == 0 || abs(xi) == inf)\n"
		       "zr = s == 0 && !(h < inf) ? s : s*h\n"
		       "zi = is_lost ? xi : c == 0 && h == inf ? c : c*sinh(xi)",
		       GIVES_COMPLEX},
	[TN_DO_COS] = {"s = sin(xr); c = cos(xr); h = cosh(xi); is_lost = !(abs(xr) < inf)\n"
		       "zr = is_lost && abs(xi) == inf ? inf : c == 0 && h == inf ? c : c*h\n"
		       "zi = is_lost && xi == 0 ? xi : s == 0 && !(h < inf) ? s : -s*sinh(xi)",
		       GIVES_COMPLEX},
	/* tanh(x + iy) = (t (1 + u^2) + i u (1 - t^2)) / (1 + t^2 u^2), t = tanh x, u = tan y. */
	[TN_DO_TANH] = {"t = tanh(xr); u = tan(xi); c = 1.0 / cosh(xr); d = 1.0 + t*t*u*u\n"
			"is_lost = !(abs(xi) < inf); is_far = abs(xr) == inf\n"
			"zr = is_lost && (xr == 0 || is_far) ? t : t*(1.0 + u*u) / d\n"
			"zi = is_lost && is_far ? 0.0 : xi == 0 && t != t ? xi : u*c*c / d",
			GIVES_COMPLEX},
	[TN_DO_POSITIVE] = {"zr = xr; zi = xi", GIVES_COMPLEX},
	[TN_DO_RECIPROCAL] = {"by_real = abs(xr) >= abs(xi)\n"
			      "large = by_real ? xr : xi; small = by_real ? xi : xr\n"
			      "by_zero = large == 0; ratio = small / (by_zero ? 1.0 : large)\n"
			      "scale = 1.0 / (by_zero ? abs(xr) : large + small*ratio)\n"
			      "zr = by_real ? scale : ratio*scale\n"
			      "zi = by_real ? -ratio*scale : -scale",
			      GIVES_COMPLEX},
	/* tan z = -i tanh(iz). */
	[TN_DO_TAN] = {"t = tanh(xi); u = tan(xr); c = 1.0 / cosh(xi); d = 1.0 + t*t*u*u\n"
		       "is_lost = !(abs(xr) < inf); is_far = abs(xi) == inf\n"
		       "zr = is_lost && is_far ? 0.0 : xr == 0 && t != t ? xr : u*c*c / d\n"
		       "zi = is_lost && (xi == 0 || is_far) ? t : t*(1.0 + u*u) / d",
		       GIVES_COMPLEX},
	[TN_DO_SINH] = {"s = sin(xi); c = cos(xi); h = cosh(xr)\n"
			"is_lost = !(abs(xi) < inf) && (xr == 0 || abs(xr) == inf)\n"
			"zr = is_lost ? xr : c == 0 && h == inf ? c : c*sinh(xr)\n"
			"zi = s == 0 && !(h < inf) ? s : s*h",
			GIVES_COMPLEX},
	[TN_DO_COSH] = {"s = sin(xi); c = cos(xi); h = cosh(xr); is_lost = !(abs(xi) < inf)\n"
			"zr = is_lost && abs(xr) == inf ? inf : c == 0 && h == inf ? c : c*h\n"
			"zi = is_lost && xr == 0 ? xr : s == 0 && !(h < inf) ? s : s*sinh(xr)",
			GIVES_COMPLEX},
	[TN_DO_LOG2] = {"large = max(abs(xr), abs(xi)); small = min(abs(xr), abs(xi))\n"
			"is_far = abs(xr) == inf || abs(xi) == inf\n"
			"ratio = small / (large == 0 || is_far ? 1.0 : large)\n"
			"zr = is_far ? inf : log2(large) + 0.7213475204444817*log1p(ratio*ratio)\n"
			"zi = 1.4426950408889634*atan2(xi, xr)",
			GIVES_COMPLEX},
	[TN_DO_LOG10] = {"large = max(abs(xr), abs(xi)); small = min(abs(xr), abs(xi))\n"
			 "is_far = abs(xr) == inf || abs(xi) == inf\n"
			 "ratio = small / (large == 0 || is_far ? 1.0 : large)\n"
			 "zr = is_far ? inf : 0.4342944819032518*log(large) + "
			 "0.2171472409516259*log1p(ratio*ratio)\n"
			 "zi = 0.4342944819032518*atan2(xi, xr)",
			 GIVES_COMPLEX},
	/* Near 0 by what |1 + x|^2 exceeds 1. */
	[TN_DO_LOG1P] =
		{"near = abs(xr) < 0.5 && abs(xi) < 0.5; sr = near ? xr : 0.0; si = near ? xi : "
		 "0.0\n"
		 "u = xr + 1; large = max(abs(u), abs(xi)); small = min(abs(u), abs(xi))\n"
		 "is_far = abs(xr) == inf || abs(xi) == inf\n"
		 "ratio = small / (large == 0 || is_far ? 1.0 : large)\n"
		 "zr = near ? 0.5*log1p(sr*(2 + sr) + si*si) : is_far ? inf :\n"
		 "log(large) + 0.5*log1p(ratio*ratio); zi = atan2(xi, u)",
		 GIVES_COMPLEX},
	/* e^x cos y - 1 = expm1(x) cos y - 2 sin^2(y / 2). */
	[TN_DO_EXPM1] =
		{"half = exp(0.5*xr); is_zero = half == 0 && (xr == -inf || abs(xi) < inf)\n"
		 "s = sin(0.5*xi); c = 2*s*s\n"
		 "is_far = xr == inf && !(abs(xi) < inf)\n"
		 "real = xr < 80 ? expm1(xr)*cos(xi) - c : half*(half*cos(xi))\n"
		 "zr = is_zero ? -1.0 : is_far ? inf : real\n"
		 "zi = is_zero ? 0.0 : xi == 0 && !(half < inf) ? xi : half*(half*sin(xi))",
		 GIVES_COMPLEX},
	[TN_DO_EXP2] =
		{"half = exp2(0.5*xr); is_zero = half == 0 && (xr == -inf || abs(xi) < inf)\n"
		 "t = 0.6931471805599453*xi\n"
		 "is_far = xr == inf && !(abs(xi) < inf)\n"
		 "zr = is_zero ? 0.0 : is_far ? inf : half*(half*cos(t))\n"
		 "zi = is_zero ? 0.0 : xi == 0 && !(half < inf) ? xi : half*(half*sin(t))",
		 GIVES_COMPLEX},
	/* Kahan (1987): a quarter of the logarithm of |1 + z|^2 / |1 - z|^2, of the size of x. */
	[TN_DO_ARCTANH] =
		{"is_near = abs(xr) < inf && abs(xi) < inf\n"
		 "is_far = abs(xr) == inf || abs(xi) == inf\n"
		 "left = xr < 0; s = !is_near ? 0.0 : left ? -xr : xr; t = is_near ? xi : 0.0\n"
		 "u = 1 - s; r = 0.25*log1p(4*s / (u*u + t*t)); real = left ? -r : r\n"
		 "far_real = is_far || xr == 0 ? copysign(0.0, xr) : nan\n"
		 "far_imaginary = is_far && xi == xi ? 1.5707963267948966*copysign(1.0, xi) : nan\n"
		 "zr = is_near ? real : far_real\n"
		 "zi = is_near ? 0.5*atan2(t, 0.5*(u*(1 + s) - t*t)) : far_imaginary",
		 GIVES_COMPLEX},
	/* -i arctanh(iz). */
	[TN_DO_ARCTAN] =
		{"is_near = abs(xr) < inf && abs(xi) < inf\n"
		 "is_far = abs(xr) == inf || abs(xi) == inf\n"
		 "low = xi < 0; s = !is_near ? 0.0 : low ? -xi : xi; t = is_near ? xr : 0.0\n"
		 "u = 1 - s; r = 0.25*log1p(4*s / (u*u + t*t)); imaginary = low ? -r : r\n"
		 "far_real = is_far && xr == xr ? 1.5707963267948966*copysign(1.0, xr) : nan\n"
		 "far_imaginary = is_far || xi == 0 ? copysign(0.0, xi) : nan\n"
		 "zr = is_near ? 0.5*atan2(t, 0.5*(u*(1 + s) - t*t)) : far_real\n"
		 "zi = is_near ? imaginary : far_imaginary",
		 GIVES_COMPLEX},
	[TN_DO_ISNAN] = {"z = xr != xr || xi != xi", GIVES_BOOL},
	[TN_DO_ISINF] = {"z = abs(xr) == inf || abs(xi) == inf", GIVES_BOOL},
	[TN_DO_ISFINITE] = {"z = abs(xr) < inf && abs(xi) < inf", GIVES_BOOL},
	[TN_DO_LOGICAL_AND] = {"z = (bool(xr) || bool(xi)) && (bool(yr) || bool(yi))", GIVES_BOOL},
	[TN_DO_LOGICAL_OR] = {"z = bool(xr) || bool(xi) || bool(yr) || bool(yi)", GIVES_BOOL},
	[TN_DO_LOGICAL_XOR] = {"z = (bool(xr) || bool(xi)) ^ (bool(yr) || bool(yi))", GIVES_BOOL},
	[TN_DO_LOGICAL_NOT] = {"z = !(bool(xr) || bool(xi))", GIVES_BOOL},
	[TN_DO_AFFINE] = {"zr = a*xr + b; zi = a*xi", GIVES_COMPLEX},
};

/* ---- The program -----------------------------------------------------------------------------*/

struct lowered {
	const struct tn_program *program;
	tn_dtype result;
};

/* The program over the parts that inputs of those dtypes have. */
static tn_status lower(struct tn_runtime *runtime, enum tn_operation operation,
		       const tn_dtype *dtypes, struct lowered *lowered)
{
	static const char *const part_names[MOST_INPUTS][2] = {
		{"xr", "xi"}, {"yr", "yi"}, {"cr", "ci"}};
	static const char *const scalar_names[] = {"a", "b"}, *const real[] = {"z"},
				 *const complex[] = {"zr", "zi"};
	const struct tn_element_operation *element = &tn_operations[operation];
	const struct complex_operation *own = &operations[operation];
	const char *inputs[2 * MOST_INPUTS];
	tn_dtype read[2 * MOST_INPUTS], scalar_dtypes[2], common = dtypes[element->typed_from];
	char text[TEXT];
	struct tn_program_names names = {.struct_size = sizeof(names),
					 .n_scalars = tn_count_words(element->scalars),
					 .n_outputs = own->gives == GIVES_COMPLEX ? 2 : 1,
					 .inputs = inputs,
					 .input_dtypes = read,
					 .scalars = scalar_names,
					 .scalar_dtypes = scalar_dtypes,
					 .outputs = own->gives == GIVES_COMPLEX ? complex : real};
	const uint32_t n = tn_count_words(element->inputs);
	if (own->gives == GIVES_NOTHING)
		return tn_fail(&runtime->report, TN_DTYPE, tn_operations[operation].name,
			       "not defined for complex numbers");
	for (uint32_t i = element->typed_from; i < n; i++)
		common = tn_result_type(common, dtypes[i]);
	common = tn_result_type(common, TN_C64);
	tn_dtype part = tn_complex_part_dtype(common);
	size_t length = 0;
	for (uint32_t i = 0; i < n; i++) {
		int n_parts = tn_is_complex(dtypes[i]) ? 2 : 1;
		for (int k = 0; k < n_parts; k++) {
			read[names.n_inputs] =
				i < element->typed_from ? tn_complex_part_dtype(dtypes[i]) : part;
			inputs[names.n_inputs++] = part_names[i][k];
		}
		if (n_parts == 1)
			length += (size_t)snprintf(text + length, TEXT - length, "%s = 0.0\n",
						   part_names[i][1]);
	}
	snprintf(text + length, TEXT - length, "%s", own->text);
	scalar_dtypes[0] = scalar_dtypes[1] = part;
	lowered->result = own->gives == GIVES_BOOL   ? TN_BOOL
			  : own->gives == GIVES_REAL ? part
						     : common;
	return tn_programs_get(runtime, tn_operations[operation].name, text, &names,
			       &lowered->program);
}

static tn_status run_lowered(struct tn_runtime *runtime, enum tn_operation operation,
			     const struct lowered *lowered, const tn_array *const *inputs,
			     const struct tn_scalar *scalars, tn_array *out)
{
	struct tn_complex_parts in = {0}, to = {0};
	tn_array *outputs[2];
	const uint32_t n = tn_count_words(tn_operations[operation].inputs);
	tn_status status = tn_complex_parts_add(&to, out);
	for (uint32_t i = 0; i < n && !status; i++)
		status = tn_complex_parts_add(&in, inputs[i]);
	for (uint32_t k = 0; k < to.n && !status; k++)
		outputs[k] = to.views[k] ? to.views[k] : out;
	if (!status)
		status = tn_map_run(runtime, &(struct tn_map_run){.operation = operation,
								  .program = lowered->program,
								  .inputs = in.arrays,
								  .outputs = outputs,
								  .scalars = scalars,
								  .are_apart = 1});
	tn_complex_parts_release(&in);
	tn_complex_parts_release(&to);
	return status;
}

tn_array *tn_complex_element(struct tn_runtime *runtime, enum tn_operation operation,
			     const tn_array *const *inputs, const double *values)
{
	uint32_t n = tn_count_words(tn_operations[operation].inputs);
	const char *name = tn_operations[operation].name;
	struct tn_scalar scalars[2];
	tn_dtype dtypes[MOST_INPUTS] = {0};
	struct lowered lowered;
	tn_array *out;
	tn_status status;
	for (uint32_t i = 0; i < n; i++)
		dtypes[i] = inputs[i]->dtype;
	status = lower(runtime, operation, dtypes, &lowered);
	if (status)
		return tn_end(runtime, status, NULL);
	out = tn_array_make_broadcast(runtime, name, lowered.result, n, inputs);
	if (!out)
		return tn_end(runtime, runtime->report.status, NULL);
	tn_scalars_of(lowered.program, values, scalars);
	status = run_lowered(runtime, operation, &lowered, inputs, scalars, out);
	if (!status && lowered.result != TN_BOOL) {
		struct tn_record record = {.kind = TN_RECORD_COMPLEX,
					   .operation = name,
					   .program = lowered.program,
					   .scalars = scalars};
		status = tn_record_made(runtime, &record, n, inputs, out);
	}
	return tn_end(runtime, status, out);
}

tn_status tn_complex_element_into(struct tn_runtime *runtime, enum tn_operation operation,
				  const tn_array *const *inputs, tn_array *out)
{
	tn_dtype dtypes[MOST_INPUTS] = {0};
	struct lowered lowered;
	const uint32_t n = tn_count_words(tn_operations[operation].inputs);
	for (uint32_t i = 0; i < n; i++)
		dtypes[i] = inputs[i]->dtype;
	tn_status status = lower(runtime, operation, dtypes, &lowered);
	if (!status && !tn_is_complex(out->dtype))
		status = tn_fail(&runtime->report, TN_DTYPE, tn_operations[operation].name,
				 "the result is %s, the output %s: a lower kind needs tn_astype",
				 tn_dtype_name(lowered.result), tn_dtype_name(out->dtype));
	return status ? status : run_lowered(runtime, operation, &lowered, inputs, NULL, out);
}

/* ---- Public functions ------------------------------------------------------------------------*/

tn_array *tn_complex(const tn_array *real, const tn_array *imaginary)
{
	const tn_array *inputs[] = {real, imaginary};
	struct tn_runtime *runtime = tn_begin(2, inputs, "complex");
	if (!runtime)
		return NULL;
	if (tn_is_complex(real->dtype) || tn_is_complex(imaginary->dtype)) {
		tn_runtime_fail(runtime, TN_DTYPE, "complex",
				"expected real parts, found %s and %s", tn_dtype_name(real->dtype),
				tn_dtype_name(imaginary->dtype));
		return NULL;
	}
	return tn_complex_element(runtime, TN_DO_COMPLEX, inputs, NULL);
}

/* A view of a real array as a whole. */
static tn_array *whole(const char *operation, const tn_array *a)
{
	struct tn_record record = {.kind = TN_RECORD_RESHAPE, .operation = operation};
	tn_array *view = tn_array_view(a, a->rank, a->shape, a->strides, a->offset);
	tn_status status =
		view ? tn_record_made(a->runtime, &record, 1, &a, view) : a->runtime->report.status;
	return tn_end(a->runtime, status, view);
}

static tn_array *part(const char *operation, const tn_array *a, int which)
{
	struct tn_runtime *runtime = tn_begin(1, &a, operation);
	struct tn_record record = {.kind = TN_RECORD_PART, .operation = operation, .axis = which};
	tn_array *view;
	tn_status status;
	if (!runtime)
		return NULL;
	if (!tn_is_complex(a->dtype) && !which)
		return whole(operation, a);
	if (!tn_is_complex(a->dtype)) {
		view = tn_array_make(runtime, tn_array_home(a), a->dtype, a->rank, a->shape);
		status = view ? tn_fill_run(runtime, TN_DO_FILL, view, 0) : runtime->report.status;
		return tn_end(runtime, status, view);
	}
	view = tn_complex_part_view(a, which);
	status = view ? tn_record_made(runtime, &record, 1, &a, view) : runtime->report.status;
	return tn_end(runtime, status, view);
}

tn_array *tn_real(const tn_array *a)
{
	return part("real", a, 0);
}

tn_array *tn_imag(const tn_array *a)
{
	return part("imag", a, 1);
}

tn_array *tn_conj(const tn_array *a)
{
	struct tn_runtime *runtime = tn_begin(1, &a, "conj");
	if (!runtime)
		return NULL;
	if (!tn_is_complex(a->dtype))
		return whole("conj", a);
	return tn_complex_element(runtime, TN_DO_CONJ, &a, NULL);
}
