/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Uniform and normal numbers, and true ones with a probability: integer operations, and sums and
 * products that no program that draws may contract.
 */
#include <math.h>

#include <tenon/random.h>

#include "array/make.h"
#include "base/dtype.h"
#include "capture/stepped.h"
#include "dispatch/ledger.h"
#include "ops/complex_parts.h"
#include "ops/map.h"
#include "random/device_draw.h"
#include "random/sample.h"

#define UNIT_24 "uniform(seed, stream, element())"
#define UNIT_53 "(f64(i64(" TN_WORD_0 ") << 21 | i64(" TN_WORD_1 " >> 11)) * 0x1p-53)"

static tn_status check_real(tn_generator *generator, const char *operation, tn_dtype dtype)
{
	struct tn_runtime *runtime = generator->runtime;
	tn_status status = tn_runtime_ready(runtime);
	if (!status && !tn_is_floating(dtype))
		status = tn_runtime_fail(runtime, TN_DTYPE, operation,
					 "dtype: expected f16, bf16, f32 or f64, found %s",
					 tn_dtype_name(dtype));
	return status;
}

/* ---- Uniform ---------------------------------------------------------------------------------*/

/* Rounded to the dtype, or the next number of the dtype below. */
static double rounded(tn_dtype dtype, double value)
{
	const struct tn_dtype_info *info = tn_dtype_information(dtype);
	return info->value_of(info->bits_of(value));
}

static double below(tn_dtype dtype, double value)
{
	const struct tn_dtype_info *info = tn_dtype_information(dtype);
	const uint64_t sign = (uint64_t)1 << (8 * tn_dtype_size(dtype) - 1);
	uint64_t bits = info->bits_of(value);
	if (value == 0)
		return info->value_of(sign | 1);
	return info->value_of(value < 0 ? bits + 1 : bits - 1);
}

/* What is computed as `limit` or more is `last`, the largest number of the dtype below high.
 * Limits in descending order, which tn_random_uniform has always taken, exclude the second one
 * too. */
static tn_array *draw_uniform(tn_generator *generator, uint32_t operation, tn_dtype dtype, int rank,
			      const int64_t *shape, double low, double high)
{
	const tn_dtype compute = dtype == TN_F64 ? TN_F64 : TN_F32;
	const double from = rounded(dtype, low), to = rounded(dtype, high);
	struct tn_device_draw draw = {
		.operation = operation,
		.formula = {.scalars = "seed stream low length limit last"},
	};
	double last = to, limit = to;
	draw.formula.text = dtype == TN_F64
				    ? "v = low + length * " UNIT_53 "\nz = v >= limit ? last : v"
				    : "v = low + length * " UNIT_24 "\nz = v >= limit ? last : v";
	if (from < to)
		last = below(dtype, to);
	if (dtype != compute)
		limit = (to + last) / 2;
	if (from > to) {
		draw.formula.text = "v = low + length * " UNIT_24 "\nz = v == limit ? last : v";
		last = nextafterf((float)to, (float)from);
	}
	draw.scalars[0] = tn_scalar_of(compute, from);
	draw.scalars[1] = tn_scalar_of(compute, to - from);
	draw.scalars[2] = tn_scalar_of(compute, limit);
	draw.scalars[3] = tn_scalar_of(compute, last);
	return tn_draw_new(generator, &draw, dtype, rank, shape);
}

tn_array *tn_generator_uniform(tn_generator *generator, tn_dtype dtype, int rank,
			       const int64_t *shape, double low, double high)
{
	if (!generator || check_real(generator, "uniform", dtype))
		return NULL;
	struct tn_runtime *runtime = generator->runtime;
	const double from = rounded(dtype, low), to = rounded(dtype, high);
	const double length = rounded(dtype == TN_F64 ? TN_F64 : TN_F32, to - from);
	if (!(low <= high && isfinite(from) && isfinite(to) && isfinite(length))) {
		tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, "uniform",
				"expected a low of at most high, finite in %s with their "
				"difference, found %g and %g",
				tn_dtype_name(dtype), low, high);
		return NULL;
	}
	return draw_uniform(generator, tn_operation_named(runtime, "uniform"), dtype, rank, shape,
			    low, high);
}

tn_array *tn_generator_random(tn_generator *generator, tn_dtype dtype, int rank,
			      const int64_t *shape)
{
	if (!generator || check_real(generator, "random", dtype))
		return NULL;
	return draw_uniform(generator, TN_DO_RANDOM, dtype, rank, shape, 0, 1);
}

tn_array *tn_random_uniform(tn_context *context, int rank, const int64_t *shape, double low,
			    double high)
{
	tn_generator *generator = tn_default_generator(context);
	if (!generator || tn_runtime_ready(generator->runtime))
		return NULL;
	return draw_uniform(generator, TN_DO_RANDOM, TN_F32, rank, shape, low, high);
}

/* ---- Normal ----------------------------------------------------------------------------------*/

static tn_array *draw_real_normal(tn_generator *generator, uint32_t operation, tn_dtype dtype,
				  int rank, const int64_t *shape, double mean, double deviation)
{
	const struct tn_device_draw draw = {
		.operation = operation,
		.formula = {.text = "z = mean + deviation * normal(seed, stream, element())",
			    .scalars = "seed stream mean deviation"},
		.scalars = {tn_scalar_of(TN_F32, mean), tn_scalar_of(TN_F32, deviation)}};
	if (dtype == TN_F64)
		return tn_sample_host(generator, TN_DISTRIBUTION_NORMAL, dtype, rank, shape,
				      (const double[]){mean, deviation});
	return tn_draw_new(generator, &draw, dtype, rank, shape);
}

/* Each part from a stream of its own. */
static tn_array *draw_complex_normal(tn_generator *generator, uint32_t operation, tn_dtype dtype,
				     int rank, const int64_t *shape, double mean, double deviation)
{
	const struct tn_random_state before = *generator->state;
	const tn_dtype part = tn_real_dtype(dtype);
	struct tn_runtime *runtime = generator->runtime;
	if (tn_scope_begin(runtime->context))
		return NULL;
	deviation *= 0.70710678118654752440; /* 1 / sqrt(2) */
	tn_array *real = draw_real_normal(generator, operation, part, rank, shape, mean, deviation);
	tn_array *imaginary =
		draw_real_normal(generator, operation, part, rank, shape, 0, deviation);
	tn_array *out = tn_complex(real, imaginary);
	(void)tn_stepped_end_draw(generator, before, out ? TN_OK : runtime->error.status);
	return tn_scope_end(runtime->context, out);
}

static tn_array *draw_normal(tn_generator *generator, const char *operation, tn_dtype dtype,
			     int rank, const int64_t *shape, double mean, double deviation)
{
	struct tn_runtime *runtime = generator->runtime;
	const tn_dtype part = tn_real_dtype(dtype);
	if (tn_runtime_ready(runtime))
		return NULL;
	if (!tn_is_inexact(dtype)) {
		tn_runtime_fail(runtime, TN_DTYPE, operation,
				"dtype: expected a floating or complex one, found %s",
				tn_dtype_name(dtype));
		return NULL;
	}
	if (!(deviation >= 0 && isfinite(rounded(part, deviation)) &&
	      isfinite(rounded(part, mean)))) {
		tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, operation,
				"expected a mean and a deviation of at least 0, finite in %s, "
				"found %g and %g",
				tn_dtype_name(dtype), mean, deviation);
		return NULL;
	}
	const uint32_t named = tn_operation_named(runtime, operation);
	if (tn_is_complex(dtype))
		return draw_complex_normal(generator, named, dtype, rank, shape, mean, deviation);
	return draw_real_normal(generator, named, dtype, rank, shape, mean, deviation);
}

tn_array *tn_generator_normal(tn_generator *generator, tn_dtype dtype, int rank,
			      const int64_t *shape, double mean, double deviation)
{
	if (!generator)
		return NULL;
	return draw_normal(generator, "normal", dtype, rank, shape, mean, deviation);
}

tn_array *tn_generator_standard_normal(tn_generator *generator, tn_dtype dtype, int rank,
				       const int64_t *shape)
{
	if (!generator)
		return NULL;
	return draw_normal(generator, "normal", dtype, rank, shape, 0, 1);
}

tn_array *tn_random_normal(tn_context *context, int rank, const int64_t *shape, double mean,
			   double deviation)
{
	tn_generator *generator = tn_default_generator(context);
	if (!generator || tn_runtime_ready(generator->runtime))
		return NULL;
	return draw_real_normal(generator, TN_DO_RANDOM, TN_F32, rank, shape, mean, deviation);
}

/* ---- Bernoulli -------------------------------------------------------------------------------*/

/* A number of 63 bits is below p 2^63: at most p 2^63 - 1, which fits i64 for p = 1 too. */
tn_array *tn_generator_bernoulli(tn_generator *generator, int rank, const int64_t *shape, double p)
{
	if (!generator || tn_runtime_ready(generator->runtime))
		return NULL;
	struct tn_runtime *runtime = generator->runtime;
	if (!(p >= 0 && p <= 1)) {
		tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, "bernoulli",
				"p: expected a number in [0, 1], found %g", p);
		return NULL;
	}
	const int64_t last = (int64_t)((uint64_t)rint(p * 0x1p63) - 1);
	const struct tn_device_draw draw = {
		.operation = tn_operation_named(runtime, "bernoulli"),
		.formula = {.text = "z = " TN_BITS_63 " <= last", .scalars = "seed stream last"},
		.scalars = {{.dtype = TN_I64, .bits = (uint64_t)last}}};
	return tn_draw_new(generator, &draw, TN_BOOL, rank, shape);
}

tn_array *tn_generator_bernoulli_array(tn_generator *generator, const tn_array *p)
{
	struct tn_runtime *runtime = tn_draw_begin(generator, p, "bernoulli");
	if (!runtime)
		return NULL;
	if (!tn_is_floating(p->dtype)) {
		tn_runtime_fail(runtime, TN_DTYPE, "bernoulli",
				"p: expected f16, bf16, f32 or f64, found %s",
				tn_dtype_name(p->dtype));
		return NULL;
	}
	const struct tn_device_draw draw = {
		.operation = tn_operation_named(runtime, "bernoulli"),
		.formula = {.text = "z = p >= 1 || " TN_BITS_63 " < i64(p * 0x1p63)",
			    .inputs = "p",
			    .scalars = "seed stream"},
		.input = p};
	tn_array *out = tn_array_make(runtime, tn_array_home(p), TN_BOOL, p->rank, p->shape);
	if (!out)
		return tn_end(runtime, runtime->report.status, NULL);
	return tn_end(runtime, tn_draw_fill(generator, &draw, out), out);
}
