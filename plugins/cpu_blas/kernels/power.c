/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * pow, sqrt and 1 / sqrt of f32, over the whole range.
 *
 * |x|^y = 2^(y log2 |x|), in f64: log2 to 2^-38 of its value, so that the exponent, which is at
 * most 150 unless the result is 0 or infinite, is accurate to 2^-30.  Special values are those of
 * C's pow (C11 F.10.4.4).
 */
#include "real.h"
#include "variant.h"

/* Two lanes of f64 are slower than libm's powf: the row is then left to the host. */
#if !defined(__x86_64__) || defined(__AVX2__)

#define SQRT_HALF_HIGH 0x3fe6a09e667f3bcdull
#define ROUND_F64 0x1.8p52

/* log2(1 + f) / f, f in [sqrt(1/2) - 1, sqrt(2) - 1]. */
static inline double log2_polynomial(double f)
{
	double p = -0x1.1db74c3dd2e53p-4;
	p = p * f + 0x1.0f71788a3bb64p-3;
	p = p * f - 0x1.13be01f907524p-3;
	p = p * f + 0x1.0acb8db61f08p-3;
	p = p * f - 0x1.23d4dc7aabc19p-3;
	p = p * f + 0x1.481fc1ef6bff2p-3;
	p = p * f - 0x1.7188f29c5d375p-3;
	p = p * f + 0x1.a61b7ea093c15p-3;
	p = p * f - 0x1.ec6f2cdc4912ap-3;
	p = p * f + 0x1.2776b6c63e989p-2;
	p = p * f - 0x1.7154788a65effp-2;
	p = p * f + 0x1.ec709de351c95p-2;
	p = p * f - 0x1.71547651b5dfep-1;
	return p * f + 0x1.71547652b58d3p0;
}

/* log2 of |x|: an f32 that is not 0 is normal in f64; the caller handles 0 and infinity. */
static inline double log2_wide(double a)
{
	uint64_t moved = tn_plugin_bits_of_f64(a) - SQRT_HALF_HIGH;
	double m = tn_plugin_f64_of_bits((moved & 0xfffffffffffffull) + SQRT_HALF_HIGH);
	/* The exponent, an integer of 12 bits: added to a large number's low bits,
	 * then taken off. */
	uint64_t k = (moved >> 52) ^ 0x800; /* biased by 2048 */
	double exponent = tn_plugin_f64_of_bits(0x4330000000000000ull | k) - (0x1p52 + 2048);
	double f = m - 1.0;
	return f * log2_polynomial(f) + exponent;
}

static inline double exp2_wide(double t)
{
	t = t < -200.0 ? -200.0 : t;
	t = t > 200.0 ? 200.0 : t;
	double rounded = t + ROUND_F64;
	double r = t - (rounded - ROUND_F64);
	double p = 0x1.41fbbc91efe2ep-13;
	p = p * r + 0x1.5f3e52f138af3p-10;
	p = p * r + 0x1.3b2d4cf0fbd52p-7;
	p = p * r + 0x1.c6aee88e97a4p-5;
	p = p * r + 0x1.ebfbdc3c31671p-3;
	p = p * r + 0x1.62e430af270cbp-1;
	p = p * r + 1.0;
	return p * tn_plugin_f64_of_bits((tn_plugin_bits_of_f64(rounded) + 1023) << 52);
}

static inline float pow_one(float x, float y)
{
	float infinity = tn_plugin_f32_of_bits(0x7f800000u),
	      nan = tn_plugin_f32_of_bits(0x7fc00000u);
	float ax = magnitude(x), ay = magnitude(y);
	/* Is y an integer, and an odd one?  From 2^24 on all are even. */
	float whole = __builtin_truncf(y), half = 0.5f * whole;
	uint32_t odd = ay < 0x1p24f && whole == y && __builtin_truncf(half) != half;
	double l = log2_wide((double)ax);
	l = ax == 0 ? -__builtin_inf() : l;
	l = ax < infinity ? l : (double)ax; /* infinity and NaN are their own */
	double t = (double)y * l;
	float value = (float)exp2_wide(t);
	value = ax == 1.0f && ay == infinity ? 1.0f : value;
	uint32_t negative = tn_plugin_bits_of_f32(x) >> 31 & odd;
	value = tn_plugin_f32_of_bits(tn_plugin_bits_of_f32(value) ^ negative << 31);
	value = x < 0 && ax < infinity && whole != y && y == y ? nan : value;
	return x == 1.0f || y == 0 ? 1.0f : value;
}

#define NAME block_pow
#define VALUE pow_one
#include "loop2.h"

#endif

static inline float rsqrt_one(float x)
{
	return 1.0f / __builtin_sqrtf(x);
}

#define NAME block_sqrt
#define VALUE __builtin_sqrtf
#include "loop1.h"
#define NAME block_rsqrt
#define VALUE rsqrt_one
#include "loop1.h"

const struct cpu_row VARIANT(cpu_rows_power)[] = {
#if !defined(__x86_64__) || defined(__AVX2__)
	{TN_OP_POW, TN_COLUMN_F32, block_pow},
#endif
	{TN_OP_SQRT, TN_COLUMN_F32, block_sqrt},
	{TN_OP_RSQRT, TN_COLUMN_F32, block_rsqrt},
	{0},
};
