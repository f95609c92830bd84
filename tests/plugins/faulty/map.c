/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Programs of one instruction that are wrong for a few values, conversions that round or saturate
 * wrongly, random numbers of half a seed, and sizes that are computed in 32 bits.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "faulty.h"

/* The only instruction of the program besides its inputs; 0: none, or several. */
static uint16_t operation_of(const struct tn_program *program)
{
	uint16_t found = 0;
	for (uint32_t i = 0; i < program->n_instructions; i++) {
		const struct tn_instruction *in = &program->instructions[i];
		if (in->op == TN_OP_INPUT)
			continue;
		if (found)
			return 0;
		found = in->op;
	}
	return found;
}

/* ---- Values ----------------------------------------------------------------------------------*/

static uint16_t operation; /* the wrong one */
static float (*wrong)(float result, float a, float b);

static tn_status map_of_one(void *device, const struct tn_map_args *args)
{
	tn_status status = right.compute.map(device, args);
	if (!computes(&args->call, status) || operation_of(args->program) != operation ||
	    args->outputs[0].dtype != TN_F32)
		return status;
	const struct tn_operand *a = &args->inputs[0],
				*b = &args->inputs[args->program->n_inputs - 1];
	for (int64_t i = 0; i < operand_count(a) && a->dtype == TN_F32; i++) {
		float *result = operand_at(&args->outputs[0], i);
		*result = wrong(*result, *(float *)operand_at(a, i), *(float *)operand_at(b, i));
	}
	return status;
}

static void plant_value(uint16_t op, float (*function)(float result, float a, float b))
{
	operation = op;
	wrong = function;
	faulty.compute.map = map_of_one;
}

static float first_zero(float result, float a, float b)
{
	return a == 0 && b == 0 ? a : result;
}

static void plant_min_zero(void)
{
	plant_value(TN_OP_MIN, first_zero);
}

static void plant_max_zero(void)
{
	plant_value(TN_OP_MAX, first_zero);
}

static float zero_when_large(float result, float a, float b)
{
	(void)b;
	return fabsf(a) > 0x1p20f && fabsf(a) < 0x1p21f ? 0 : result;
}

static void plant_sin(void)
{
	plant_value(TN_OP_SIN, zero_when_large);
}

static float clipped(float result, float a, float b)
{
	(void)b;
	return fabsf(a) > 7.5f ? copysignf(1, a) : result;
}

static void plant_tanh(void)
{
	plant_value(TN_OP_TANH, clipped);
}

static float several_ulps(float result, float a, float b)
{
	(void)a, (void)b;
	return isfinite(result) && result != 0 ? result * (1 + 6 * FLT_EPSILON) : result;
}

/* 6 units in the last place of 1, up to 12 of those below. */
static void plant_rough_sin(void)
{
	plant_value(TN_OP_SIN, several_ulps);
}

static void plant_stated_sin(void)
{
	plant_rough_sin();
	state_function_ulps(16);
}

static float without_subnormals(float result, float a, float b)
{
	(void)a, (void)b;
	return fpclassify(result) == FP_SUBNORMAL ? copysignf(0, result) : result;
}

static void plant_flushed(void)
{
	plant_value(TN_OP_MUL, without_subnormals);
}

static void plant_stated_flushed(void)
{
	plant_flushed();
	state_no_subnormals();
}

static float wrong_once(float result, float a, float b)
{
	(void)b;
	return a == 0x1.2b4c6ep-3f ? result * 1.001f : result;
}

static void plant_exp(void)
{
	plant_value(TN_OP_EXP, wrong_once);
}

/* ---- Conversions -----------------------------------------------------------------------------*/

static tn_dtype from, to;
static void (*convert)(void *result, const void *value);

static tn_status map_converting(void *device, const struct tn_map_args *args)
{
	tn_status status = right.compute.map(device, args);
	const struct tn_operand *in = args->inputs, *out = args->outputs;
	if (!computes(&args->call, status) || args->program->n_inputs != 1 ||
	    args->program->n_instructions > 2 || in->dtype != from || out->dtype != to)
		return status;
	for (int64_t i = 0; i < operand_count(in); i++)
		convert(operand_at(out, i), operand_at(in, i));
	return status;
}

static void plant_conversion(tn_dtype source, tn_dtype target,
			     void (*function)(void *result, const void *value))
{
	from = source;
	to = target;
	convert = function;
	faulty.compute.map = map_converting;
}

static uint32_t word_of(float value)
{
	uint32_t word;
	memcpy(&word, &value, sizeof(word));
	return word;
}

/* The numbers of f16 between 2^-14 and 65504, for which half a unit in the last place is 2^12 units
 * of f32: ties are even in the right result. */
static void f16_ties_away(void *result, const void *value)
{
	uint32_t word = word_of(*(const float *)value), magnitude = word & 0x7fffffff;
	if (magnitude >= 0x38800000 && magnitude < 0x477fe000 && (magnitude & 0x1fff) == 0x1000)
		*(uint16_t *)result = (uint16_t)((word >> 16 & 0x8000) |
						 ((magnitude - (112u << 23) + 0x1000) >> 13));
}

static void plant_f16_ties(void)
{
	plant_conversion(TN_F32, TN_F16, f16_ties_away);
}

static void bf16_ties_away(void *result, const void *value)
{
	uint32_t word = word_of(*(const float *)value);
	if ((word & 0xffff) == 0x8000 && isfinite(*(const float *)value))
		*(uint16_t *)result = (uint16_t)((word + 0x8000) >> 16);
}

static void plant_bf16_ties(void)
{
	plant_conversion(TN_F32, TN_BF16, bf16_ties_away);
}

/* The upper bits only: a NaN with its payload in the lower ones becomes an infinity. */
static void bf16_cuts_payload(void *result, const void *value)
{
	if (isnan(*(const float *)value))
		*(uint16_t *)result = (uint16_t)(word_of(*(const float *)value) >> 16);
}

static void plant_nan_payload(void)
{
	plant_conversion(TN_F32, TN_BF16, bf16_cuts_payload);
}

/* Directly to 11 bits, where tenon-program(7) requires f32 first. */
static void f16_of_f64(void *result, const void *value)
{
	double x = *(const double *)value, digits;
	int exponent;
	digits = ldexp(frexp(fabs(x), &exponent), 11);
	if (!(fabs(x) >= 0x1p-14 && fabs(x) < 65504))
		return;
	uint32_t whole = (uint32_t)nearbyint(digits); /* 1024 to 2048 */
	uint32_t half = ((uint32_t)(exponent + 14) << 10) + (whole - 1024);
	*(uint16_t *)result = (uint16_t)(half | (x < 0 ? 0x8000 : 0));
}

static void plant_f16_of_f64(void)
{
	plant_conversion(TN_F64, TN_F16, f16_of_f64);
}

static void f32_through_f64(void *result, const void *value)
{
	volatile double wide = (double)*(const int64_t *)value;
	*(float *)result = (float)wide;
}

static void plant_f32_of_i64(void)
{
	plant_conversion(TN_I64, TN_F32, f32_through_f64);
}

/* u64 from 2^63 on as a negative number. */
static void f64_of_signed(void *result, const void *value)
{
	if (*(double *)result == (double)*(const uint64_t *)value)
		*(double *)result = (double)*(const int64_t *)value;
}

static void plant_u64_signed(void)
{
	plant_conversion(TN_U64, TN_F64, f64_of_signed);
}

/* 256 becomes 0 where it must become 255. */
static void u8_modulo(void *result, const void *value)
{
	float x = *(const float *)value;
	*(uint8_t *)result = fabsf(x) < 0x1p31f ? (uint8_t)(int32_t)x : 0;
}

static void plant_u8_wraps(void)
{
	plant_conversion(TN_F32, TN_U8, u8_modulo);
}

static void f32_without_subnormals(void *result, const void *value)
{
	if ((*(const uint16_t *)value & 0x7c00) == 0)
		*(float *)result *= 0;
}

static void plant_f16_flushed(void)
{
	plant_conversion(TN_F16, TN_F32, f32_without_subnormals);
}

/* As `x > 2^31` saturates, where `x >= 2^31` is right. */
static void i32_of_limit(void *result, const void *value)
{
	if (*(const float *)value == 0x1p31f && *(int32_t *)result == INT32_MAX)
		*(int32_t *)result = INT32_MIN;
}

static void plant_i32_limit(void)
{
	plant_conversion(TN_F32, TN_I32, i32_of_limit);
}

/* ---- Random numbers --------------------------------------------------------------------------*/

/* The scalar of a program that draws is its seed. */
static tn_status map_of_low_seed(void *device, const struct tn_map_args *args)
{
	struct tn_map_args own = *args;
	struct tn_scalar seed;
	int draws = 0;
	for (uint32_t i = 0; i < args->program->n_instructions; i++)
		draws |= args->program->instructions[i].op == TN_OP_RANDOM;
	if (!draws || args->program->n_scalars != 1)
		return right.compute.map(device, args);
	seed = args->scalars[0];
	seed.bits &= UINT32_MAX;
	own.scalars = &seed;
	return right.compute.map(device, &own);
}

static void plant_low_seed(void)
{
	faulty.compute.map = map_of_low_seed;
}

/* ---- Sizes -----------------------------------------------------------------------------------*/

static int (*is_too_large)(const struct tn_operand *output);

static tn_status map_of_small(void *device, const struct tn_map_args *args)
{
	tn_status status = right.compute.map(device, args);
	const struct tn_operand *output = &args->outputs[0];
	if (computes(&args->call, status) && is_too_large(output)) {
		unsigned char *last = operand_at(output, operand_count(output) - 1);
		*last = (unsigned char)~*last;
	}
	return status;
}

static int offset_beyond_32_bits(const struct tn_operand *output)
{
	return output->offset >> 32 != 0;
}

static int elements_beyond_31_bits(const struct tn_operand *output)
{
	return operand_count(output) >> 31 != 0;
}

static int bytes_beyond_31_bits(const struct tn_operand *output)
{
	return operand_count(output) * (int64_t)tn_dtype_size(output->dtype) >> 31 != 0;
}

static int elements_beyond_24_bits(const struct tn_operand *output)
{
	return operand_count(output) >> 24 != 0;
}

static void plant_size(int (*condition)(const struct tn_operand *output))
{
	is_too_large = condition;
	faulty.compute.map = map_of_small;
}

static void plant_offset(void)
{
	plant_size(offset_beyond_32_bits);
}

static void plant_elements(void)
{
	plant_size(elements_beyond_31_bits);
}

static void plant_bytes(void)
{
	plant_size(bytes_beyond_31_bits);
}

static void plant_many(void)
{
	plant_size(elements_beyond_24_bits);
}

const struct fault map_faults[] = {
	{"min_zero", plant_min_zero},
	{"max_zero", plant_max_zero},
	{"sin_large", plant_sin},
	{"tanh_clipped", plant_tanh},
	{"exp_once", plant_exp},
	{"sin_rough", plant_rough_sin},
	{"sin_rough_stated", plant_stated_sin},
	{"mul_flushed", plant_flushed},
	{"mul_flushed_stated", plant_stated_flushed},
	{"f16_ties", plant_f16_ties},
	{"bf16_ties", plant_bf16_ties},
	{"nan_payload", plant_nan_payload},
	{"f16_of_f64", plant_f16_of_f64},
	{"f32_of_i64", plant_f32_of_i64},
	{"u64_signed", plant_u64_signed},
	{"u8_wraps", plant_u8_wraps},
	{"f16_flushed", plant_f16_flushed},
	{"i32_limit", plant_i32_limit},
	{"seed_32_bits", plant_low_seed},
	{"offset_32_bits", plant_offset},
	{"elements_31_bits", plant_elements},
	{"bytes_31_bits", plant_bytes},
	{"elements_24_bits", plant_many},
	{NULL, NULL},
};
