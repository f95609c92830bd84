/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Initial values: drawn on the host in f64, then stored in the array's dtype.  Element i of an
 * array is made of word i of the context's next random stream; the elements of a truncated normal
 * take as many words as they need, in order.
 */
#include <tenon/init.h>

#include <fnmatch.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "array/array.h"
#include "array/make.h"
#include "array/shape.h"
#include "base/dtype.h"
#include "base/memory.h"
#include "base/options.h"
#include "nn/module.h"
#include "nn/orthogonal.h"
#include "nn/tree.h"
#include "program/random.h"

/* What is done to one array: the options with their defaults filled in. */
struct init {
	struct tn_init_options options;
	const char *operation;
	const char *parameter; /* the name of a module's parameter, for errors, or NULL */
};

static const char *const kind_names[] = {
	[TN_INIT_CONSTANT] = "init_constant",
	[TN_INIT_UNIFORM] = "init_uniform",
	[TN_INIT_NORMAL] = "init_normal",
	[TN_INIT_TRUNC_NORMAL] = "init_trunc_normal",
	[TN_INIT_XAVIER_UNIFORM] = "init_xavier_uniform",
	[TN_INIT_XAVIER_NORMAL] = "init_xavier_normal",
	[TN_INIT_KAIMING_UNIFORM] = "init_kaiming_uniform",
	[TN_INIT_KAIMING_NORMAL] = "init_kaiming_normal",
	[TN_INIT_ORTHOGONAL] = "init_orthogonal",
	[TN_INIT_DIRAC] = "init_dirac",
};
enum { N_KINDS = sizeof(kind_names) / sizeof(kind_names[0]) };

double tn_init_gain(uint32_t nonlinearity, double negative_slope)
{
	switch (nonlinearity) {
	case TN_NONLINEARITY_LEAKY_RELU:
		return sqrt(2.0 / (1.0 + negative_slope * negative_slope));
	case TN_NONLINEARITY_LINEAR:
	case TN_NONLINEARITY_SIGMOID:
		return 1.0;
	case TN_NONLINEARITY_TANH:
		return 5.0 / 3.0;
	case TN_NONLINEARITY_RELU:
	case TN_NONLINEARITY_GELU:
		return sqrt(2.0);
	case TN_NONLINEARITY_SELU:
		return 0.75;
	default:
		return NAN;
	}
}

/* ---- Checks ----------------------------------------------------------------------------------*/

static const struct tn_option normal[] = {
	{TN_MEMBER(struct tn_init_options, mean), TN_LEAST | TN_MOST, .least = -INFINITY,
	 .most = INFINITY},
	{TN_MEMBER(struct tn_init_options, deviation), TN_MOST, .most = INFINITY},
	{0},
};

static const struct tn_option with_gain[] = {
	{TN_MEMBER(struct tn_init_options, gain), TN_LEAST | TN_MOST, .least = -INFINITY,
	 .most = INFINITY},
	{0},
};

static const struct tn_option trunc_normal[] = {
	{TN_MEMBER(struct tn_init_options, mean), TN_LEAST | TN_MOST, .least = -INFINITY,
	 .most = INFINITY},
	{TN_MEMBER(struct tn_init_options, deviation), TN_LEAST | TN_MOST, .most = INFINITY},
	{0},
};

static tn_status check_trunc_normal(struct tn_runtime *rt, struct tn_init_options *o,
				    const char *operation)
{
	tn_status status = tn_runtime_check(rt, o, trunc_normal, operation);
	if (status || o->low < o->high)
		return status;
	return tn_runtime_fail(rt, TN_INVALID_ARGUMENT, operation,
			       "low: expected a number below high, which is %g, found %g", o->high,
			       o->low);
}

static tn_status check_kaiming(struct tn_runtime *rt, const struct tn_init_options *o,
			       const char *operation)
{
	if (o->mode > TN_FAN_OUT)
		return tn_runtime_fail(rt, TN_INVALID_ARGUMENT, operation,
				       "mode: expected TN_FAN_IN or TN_FAN_OUT, found %" PRIu32,
				       o->mode);
	if (isnan(tn_init_gain(o->nonlinearity, 0.0)))
		return tn_runtime_fail(rt, TN_INVALID_ARGUMENT, operation,
				       "nonlinearity: expected TN_NONLINEARITY_..., found %" PRIu32,
				       o->nonlinearity);
	if (isnan(tn_init_gain(o->nonlinearity, o->negative_slope)))
		return tn_runtime_fail(rt, TN_INVALID_ARGUMENT, operation,
				       "negative_slope: expected a number, found %g",
				       o->negative_slope);
	return TN_OK;
}

/* The numbers, which no array has a part in. */
static tn_status check_options(struct tn_runtime *rt, const struct init *init)
{
	struct tn_init_options o = init->options;
	switch (o.kind) {
	case TN_INIT_NORMAL:
		return tn_runtime_check(rt, &o, normal, init->operation);
	case TN_INIT_TRUNC_NORMAL:
		return check_trunc_normal(rt, &o, init->operation);
	case TN_INIT_XAVIER_UNIFORM:
	case TN_INIT_XAVIER_NORMAL:
	case TN_INIT_ORTHOGONAL:
		return tn_runtime_check(rt, &o, with_gain, init->operation);
	case TN_INIT_KAIMING_UNIFORM:
	case TN_INIT_KAIMING_NORMAL:
		return check_kaiming(rt, &o, init->operation);
	default:
		return TN_OK;
	}
}

static tn_status check_array(const struct init *init, const tn_array *array)
{
	struct tn_runtime *rt = array->runtime;
	const struct tn_init_options *o = &init->options;
	const char *name = init->parameter ? init->parameter : "";
	const char *colon = init->parameter ? ": " : "";
	char found[TN_SHAPE_TEXT];
	tn_status status = tn_array_writable(rt, init->operation, array);
	if (status)
		return tn_end_into(rt, status);
	if (!tn_is_floating(array->dtype))
		return tn_runtime_fail(rt, TN_DTYPE, init->operation,
				       "%s%sexpected a floating type, found %s", name, colon,
				       tn_dtype_name(array->dtype));
	if (o->kind < TN_INIT_XAVIER_UNIFORM)
		return TN_OK;
	if (o->kind != TN_INIT_DIRAC && array->rank < 2)
		return tn_runtime_fail(rt, TN_SHAPE, init->operation,
				       "%s%sexpected at least two axes, found shape %s", name,
				       colon, tn_array_text(array, found));
	if (o->kind != TN_INIT_DIRAC)
		return TN_OK;
	if (array->rank < 3 || array->rank > 5)
		return tn_runtime_fail(rt, TN_SHAPE, init->operation,
				       "%s%sexpected a weight of 3 to 5 axes, found shape %s", name,
				       colon, tn_array_text(array, found));
	if (o->groups < 1 || array->shape[0] % o->groups)
		return tn_runtime_fail(rt, TN_INVALID_ARGUMENT, init->operation,
				       "%s%sgroups: %" PRId64
				       " does not divide the outputs of shape %s",
				       name, colon, o->groups, tn_array_text(array, found));
	return TN_OK;
}

/* ---- Values ----------------------------------------------------------------------------------*/

static void fill_uniform(const struct tn_random_state *random, int64_t n, double low, double high,
			 double *values)
{
	for (int64_t i = 0; i < n; i++) {
		uint32_t word = tn_random(random->seed, random->stream, (uint64_t)i);
		values[i] = low + (high - low) * ((word >> 8) * 0x1p-24);
	}
}

static void fill_normal(const struct tn_random_state *random, int64_t n, double mean,
			double deviation, double *values)
{
	for (int64_t i = 0; i < n; i++) {
		uint32_t word = tn_random(random->seed, random->stream, (uint64_t)i);
		values[i] = mean + deviation * (double)tn_normal(word);
	}
}

/* Draws again what is outside.  Where the limits leave little of the middle, uniform numbers
 * between them are accepted in proportion to the density. */
static void fill_trunc_normal(const struct tn_random_state *random, int64_t n,
			      const struct tn_init_options *o, double *values)
{
	/* In deviations from the mean; nothing lies beyond 9. */
	double low = fmax((o->low - o->mean) / o->deviation, -9.0);
	double high = fmin((o->high - o->mean) / o->deviation, 9.0);
	int has_middle = low <= -0.5 && high >= 0.5;
	if (low >= high) /* all beyond 9: at the limit nearer to the mean */
		low = high = low > 0.0 ? (o->low - o->mean) / o->deviation
				       : (o->high - o->mean) / o->deviation;
	double peak = low > 0.0 ? low : high < 0.0 ? high : 0.0;
	uint64_t next = 0;
	for (int64_t i = 0; i < n; i++) {
		double z = low;
		for (int is_found = low == high; !is_found;) {
			uint32_t word = tn_random(random->seed, random->stream, next++);
			if (has_middle) {
				z = (double)tn_normal(word);
				is_found = z >= low && z <= high;
				continue;
			}
			z = low + (high - low) * ((double)word * 0x1p-32);
			word = tn_random(random->seed, random->stream, next++);
			is_found = (double)word * 0x1p-32 < exp(0.5 * (peak * peak - z * z));
		}
		values[i] = fmin(fmax(o->mean + o->deviation * z, o->low), o->high);
	}
}

static tn_status fill_orthogonal(const struct tn_random_state *random, const tn_array *array,
				 double gain, double *values)
{
	int64_t rows = array->shape[0], columns = array->size / (rows ? rows : 1);
	int64_t m = rows > columns ? rows : columns, n = rows > columns ? columns : rows;
	double *q = tn_mem_zeroed((size_t)(2 * m * n + n), sizeof(*q));
	if (!q)
		return tn_runtime_fail(array->runtime, TN_OUT_OF_MEMORY, "init_orthogonal",
				       "no host memory for %" PRId64 " numbers", 2 * m * n + n);
	double *a = q + m * n, *signs = a + m * n;
	/* a has the rows of the array as columns, or its columns where it has fewer of them. */
	int64_t row_step = rows > columns ? 1 : m, column_step = rows > columns ? m : 1;
	fill_normal(random, array->size, 0, 1, values);
	for (int64_t i = 0; i < rows; i++) {
		for (int64_t j = 0; j < columns; j++)
			a[i * row_step + j * column_step] = values[i * columns + j];
	}
	if (n)
		tn_orthogonalise(m, n, a, q, signs);
	for (int64_t i = 0; i < rows; i++) {
		for (int64_t j = 0; j < columns; j++)
			values[i * columns + j] = gain * a[i * row_step + j * column_step];
	}
	tn_mem_free(q);
	return TN_OK;
}

/* values are 0. */
static void fill_dirac(const tn_array *array, int64_t groups, double *values)
{
	int64_t each = array->shape[0] / groups, inputs = array->shape[1], window = 1, middle = 0;
	for (int axis = 2; axis < array->rank; axis++) {
		middle = middle * array->shape[axis] + array->shape[axis] / 2;
		window *= array->shape[axis];
	}
	for (int64_t out = 0; out < array->shape[0] && window; out++) {
		if (out % each < inputs)
			values[(out * inputs + out % each) * window + middle] = 1.0;
	}
}

static tn_status fill_values(const struct init *init, const tn_array *array, double *values)
{
	const struct tn_init_options *o = &init->options;
	const struct tn_random_state *random = &array->runtime->random;
	int64_t n = array->size;
	double fan_in = 1, fan_out = 1, deviation;
	for (int axis = 0; axis < array->rank && o->kind >= TN_INIT_XAVIER_UNIFORM; axis++) {
		fan_in *= axis == 0 ? 1.0 : (double)array->shape[axis];
		fan_out *= axis == 1 ? 1.0 : (double)array->shape[axis];
	}
	switch (o->kind) {
	case TN_INIT_UNIFORM:
		fill_uniform(random, n, o->low, o->high, values);
		return TN_OK;
	case TN_INIT_NORMAL:
		fill_normal(random, n, o->mean, o->deviation, values);
		return TN_OK;
	case TN_INIT_TRUNC_NORMAL:
		fill_trunc_normal(random, n, o, values);
		return TN_OK;
	case TN_INIT_XAVIER_UNIFORM:
	case TN_INIT_XAVIER_NORMAL:
		deviation = o->gain * sqrt(2.0 / (fan_in + fan_out));
		break;
	case TN_INIT_KAIMING_UNIFORM:
	case TN_INIT_KAIMING_NORMAL:
		deviation = tn_init_gain(o->nonlinearity, o->negative_slope) /
			    sqrt(o->mode == TN_FAN_IN ? fan_in : fan_out);
		break;
	case TN_INIT_ORTHOGONAL:
		return fill_orthogonal(random, array, o->gain, values);
	default:
		fill_dirac(array, o->groups, values);
		return TN_OK;
	}
	if (o->kind == TN_INIT_XAVIER_NORMAL || o->kind == TN_INIT_KAIMING_NORMAL)
		fill_normal(random, n, 0, deviation, values);
	else
		fill_uniform(random, n, -sqrt(3.0) * deviation, sqrt(3.0) * deviation, values);
	return TN_OK;
}

/* Writes values (n doubles, which it may overwrite) to the array. */
static tn_status store(tn_array *array, double *values)
{
	size_t n = (size_t)array->size;
	uint64_t (*bits_of)(double value) = tn_dtype_information(array->dtype)->bits_of;
	size_t size = tn_dtype_size(array->dtype);
	if (array->dtype == TN_F64)
		return tn_assign_host(array, values, n * size);
	/* Each narrower element lies before the next double that is read. */
	for (size_t i = 0; i < n; i++) {
		uint64_t bits = bits_of(values[i]);
		uint32_t word = (uint32_t)bits;
		uint16_t half = (uint16_t)bits;
		memcpy((char *)values + i * size, size == 2 ? (void *)&half : (void *)&word, size);
	}
	return tn_assign_host(array, values, n * size);
}

/* The array has been checked. */
static tn_status run_init(const struct init *init, tn_array *array)
{
	struct tn_runtime *rt = array->runtime;
	if (init->options.kind == TN_INIT_CONSTANT)
		return tn_fill(array, init->options.value);
	double *values = tn_mem_zeroed((size_t)(array->size ? array->size : 1), sizeof(*values));
	if (!values)
		return tn_runtime_fail(rt, TN_OUT_OF_MEMORY, init->operation,
				       "no host memory for %" PRId64 " values", array->size);
	tn_status status = fill_values(init, array, values);
	if (!status)
		status = store(array, values);
	tn_mem_free(values);
	if (!status && init->options.kind != TN_INIT_DIRAC)
		rt->random.stream++;
	return status;
}

static tn_status init_array(tn_array *array, const struct tn_init_options *options)
{
	const struct init init = {*options, kind_names[options->kind], NULL};
	if (!array)
		return TN_INVALID_ARGUMENT;
	tn_status status = tn_runtime_ready(array->runtime);
	if (!status)
		status = check_options(array->runtime, &init);
	if (!status)
		status = check_array(&init, array);
	return status ? status : run_init(&init, array);
}

/* ---- Arrays ----------------------------------------------------------------------------------*/

tn_status tn_init_constant(tn_array *array, double value)
{
	return init_array(array,
			  &(struct tn_init_options){.kind = TN_INIT_CONSTANT, .value = value});
}

tn_status tn_init_zeros(tn_array *array)
{
	return tn_init_constant(array, 0);
}

tn_status tn_init_ones(tn_array *array)
{
	return tn_init_constant(array, 1);
}

tn_status tn_init_uniform(tn_array *array, double low, double high)
{
	return init_array(array, &(struct tn_init_options){
					 .kind = TN_INIT_UNIFORM, .low = low, .high = high});
}

tn_status tn_init_normal(tn_array *array, double mean, double deviation)
{
	return init_array(array, &(struct tn_init_options){.kind = TN_INIT_NORMAL,
							   .mean = mean,
							   .deviation = deviation});
}

tn_status tn_init_trunc_normal(tn_array *array, double mean, double deviation, double low,
			       double high)
{
	return init_array(array, &(struct tn_init_options){.kind = TN_INIT_TRUNC_NORMAL,
							   .mean = mean,
							   .deviation = deviation,
							   .low = low,
							   .high = high});
}

tn_status tn_init_xavier_uniform(tn_array *array, double gain)
{
	return init_array(array,
			  &(struct tn_init_options){.kind = TN_INIT_XAVIER_UNIFORM, .gain = gain});
}

tn_status tn_init_xavier_normal(tn_array *array, double gain)
{
	return init_array(array,
			  &(struct tn_init_options){.kind = TN_INIT_XAVIER_NORMAL, .gain = gain});
}

static tn_status init_kaiming(tn_array *array, uint32_t kind,
			      const struct tn_kaiming_options *options)
{
	struct tn_kaiming_options o = tn_kaiming_defaults();
	if (!array)
		return TN_INVALID_ARGUMENT;
	tn_status status = tn_runtime_take(array->runtime, &o, sizeof(o), options,
					   "struct tn_kaiming_options", kind_names[kind]);
	if (status)
		return status;
	return init_array(array, &(struct tn_init_options){.kind = kind,
							   .mode = o.mode,
							   .nonlinearity = o.nonlinearity,
							   .negative_slope = o.negative_slope});
}

tn_status tn_init_kaiming_uniform(tn_array *array, const struct tn_kaiming_options *options)
{
	return init_kaiming(array, TN_INIT_KAIMING_UNIFORM, options);
}

tn_status tn_init_kaiming_normal(tn_array *array, const struct tn_kaiming_options *options)
{
	return init_kaiming(array, TN_INIT_KAIMING_NORMAL, options);
}

tn_status tn_init_orthogonal(tn_array *array, double gain)
{
	return init_array(array,
			  &(struct tn_init_options){.kind = TN_INIT_ORTHOGONAL, .gain = gain});
}

tn_status tn_init_dirac(tn_array *array, int64_t groups)
{
	return init_array(array,
			  &(struct tn_init_options){.kind = TN_INIT_DIRAC, .groups = groups});
}

tn_status tn_init_by_activation(tn_array *weight, tn_array *bias, uint32_t nonlinearity)
{
	struct tn_kaiming_options kaiming = tn_kaiming_defaults();
	tn_status status = TN_OK;
	if (!weight)
		return tn_runtime_null(bias ? bias->runtime : NULL, "init_by_activation", "weight");
	switch (nonlinearity) {
	case TN_NONLINEARITY_RELU:
	case TN_NONLINEARITY_LEAKY_RELU:
	case TN_NONLINEARITY_GELU:
		status = tn_init_kaiming_normal(weight, NULL); /* a gain of sqrt 2 */
		break;
	case TN_NONLINEARITY_TANH:
	case TN_NONLINEARITY_SIGMOID:
		kaiming.nonlinearity = TN_NONLINEARITY_LINEAR;
		status = tn_init_kaiming_normal(weight, &kaiming);
		break;
	case TN_NONLINEARITY_LINEAR:
	case TN_NONLINEARITY_SELU:
		status = tn_init_normal(weight, 0, 0.01);
		break;
	default:
		/* Refused by name. */
		kaiming.nonlinearity = nonlinearity;
		status = tn_init_kaiming_normal(weight, &kaiming);
	}
	if (status || !bias)
		return status;
	return tn_init_constant(bias, nonlinearity == TN_NONLINEARITY_RELU ? 0.01 : 0.0);
}

/* ---- Modules ---------------------------------------------------------------------------------*/

/* The limits that depend on the kind. */
static void fill_limits(struct tn_init_options *o)
{
	int is_truncated = o->kind == TN_INIT_TRUNC_NORMAL;
	if (isnan(o->low))
		o->low = is_truncated ? -2.0 : 0.0;
	if (isnan(o->high))
		o->high = is_truncated ? 2.0 : 1.0;
}

enum {
	NORMALS = 1 << TN_INIT_NORMAL | 1 << TN_INIT_TRUNC_NORMAL,
	LIMITED = 1 << TN_INIT_UNIFORM | 1 << TN_INIT_TRUNC_NORMAL,
	XAVIERS = 1 << TN_INIT_XAVIER_UNIFORM | 1 << TN_INIT_XAVIER_NORMAL,
	KAIMINGS = 1 << TN_INIT_KAIMING_UNIFORM | 1 << TN_INIT_KAIMING_NORMAL,
};

/* Which kinds use a member. */
static const struct {
	const char *name;
	size_t offset, size;
	uint32_t kinds;
} members[] = {
	{TN_MEMBER(struct tn_init_options, value), sizeof(double), 1 << TN_INIT_CONSTANT},
	{TN_MEMBER(struct tn_init_options, low), sizeof(double), LIMITED},
	{TN_MEMBER(struct tn_init_options, high), sizeof(double), LIMITED},
	{TN_MEMBER(struct tn_init_options, mean), sizeof(double), NORMALS},
	{TN_MEMBER(struct tn_init_options, deviation), sizeof(double), NORMALS},
	{TN_MEMBER(struct tn_init_options, gain), sizeof(double),
	 XAVIERS | 1 << TN_INIT_ORTHOGONAL},
	{TN_MEMBER(struct tn_init_options, mode), sizeof(uint32_t), KAIMINGS},
	{TN_MEMBER(struct tn_init_options, nonlinearity), sizeof(uint32_t), KAIMINGS},
	{TN_MEMBER(struct tn_init_options, negative_slope), sizeof(double), KAIMINGS},
	{TN_MEMBER(struct tn_init_options, groups), sizeof(int64_t), 1 << TN_INIT_DIRAC},
};

/* A member that the kind does not use has its default. */
static tn_status check_unused(struct tn_runtime *rt, const struct tn_init_options *options,
			      const char *operation)
{
	const struct tn_init_options defaults = tn_init_defaults();
	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
		if (!(members[i].kinds & 1u << options->kind) &&
		    memcmp((const char *)options + members[i].offset,
			   (const char *)&defaults + members[i].offset, members[i].size))
			return tn_runtime_fail(
				rt, TN_INVALID_ARGUMENT, operation,
				"%s: expected its default, because %s does not use it",
				members[i].name, kind_names[options->kind]);
	}
	return TN_OK;
}

static tn_status take_options(struct tn_runtime *rt, const struct tn_init_options *options,
			      struct init *init)
{
	static const char name[] = "module_init_parameters";
	*init = (struct init){.operation = name, .options = tn_init_defaults()};
	tn_status status = tn_runtime_take(rt, &init->options, sizeof(init->options), options,
					   "struct tn_init_options", name);
	if (status)
		return status;
	if (init->options.kind >= N_KINDS)
		return tn_runtime_fail(rt, TN_INVALID_ARGUMENT, name,
				       "kind: expected TN_INIT_..., found %" PRIu32,
				       init->options.kind);
	status = check_unused(rt, &init->options, name);
	if (status)
		return status;
	fill_limits(&init->options);
	return check_options(rt, init);
}

tn_status tn_module_init_parameters(tn_module *module, const char *pattern,
				    const struct tn_init_options *options)
{
	struct init init;
	size_t n_found = 0;
	struct tn_runtime *rt = module ? module->runtime : NULL;
	if (!module || !pattern)
		return tn_runtime_null(rt, "module_init_parameters", "pattern");
	tn_status status = tn_runtime_ready(rt);
	if (!status)
		status = take_options(rt, options, &init);
	if (status)
		return status;
	if (!tn_module_is_built(module))
		return tn_runtime_fail(rt, TN_STATE, init.operation,
				       "the module has not been built");
	/* First all are checked, then all are filled. */
	for (int is_filling = 0; is_filling < 2; is_filling++) {
		for (size_t i = 0; i < tn_module_parameter_count(module) && !status; i++) {
			tn_array *value = module->listing[i].weight->value;
			if (fnmatch(pattern, module->listing[i].name, 0))
				continue;
			n_found++;
			init.parameter = module->listing[i].name;
			status = is_filling ? run_init(&init, value) : check_array(&init, value);
		}
	}
	if (!n_found)
		return tn_runtime_fail(rt, TN_NOT_FOUND, init.operation,
				       "no parameter's name matches '%s'", pattern);
	return status;
}
