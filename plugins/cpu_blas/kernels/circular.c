/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * sin, cos, tan and their inverses of f32, over the whole range.
 *
 * The argument is reduced in f64: k = nearest integer to x 2/pi, r = x - k pi/2 with pi/2 in two
 * parts, the first of 33 bits, so that its product with k is exact for |x| < 2^20.  Larger
 * arguments are reduced with as many bits of 2/pi as they need (Payne and Hanek, 1983), one by one.
 */
#include "real.h"
#include "variant.h"

#define ROUND_F64 0x1.8p52
#define TWO_OVER_PI 0x1.45f306dc9c883p-1
#define HALF_PI_HIGH 0x1.921fb544p0
#define HALF_PI_LOW 0x1.0b4611a626331p-34

struct angle {
	float r; /* within +-pi/4 */
	uint32_t quadrant;
};

static inline struct angle angle_ordinary(float x)
{
	double wide = x;
	double rounded = wide * TWO_OVER_PI + ROUND_F64;
	double k = rounded - ROUND_F64;
	double r = wide - k * HALF_PI_HIGH;
	struct angle angle = {(float)(r - k * HALF_PI_LOW),
			      (uint32_t)tn_plugin_bits_of_f64(rounded)};
	return angle;
}

/* The bits of 2/pi after the point, 32 at a time; the first word is the whole part. */
static const uint32_t two_over_pi[] = {0x00000000u, 0xa2f9836eu, 0x4e441529u, 0xfc2757d1u,
				       0xf534ddc0u, 0xdb629599u, 0x3c439041u, 0xfe5163abu};

/* With |x| = m 2^e, m of 24 bits: x 2/pi modulo 4 with 62 bits after the point, from the 96 bits of
 * 2/pi that matter: those before them give multiples of 4, those after them less than 2^-37. */
static struct angle angle_large(float x)
{
	uint32_t bits = tn_plugin_bits_of_f32(x), exponent = bits >> 23 & 255;
	struct angle angle = {tn_plugin_f32_of_bits(0x7fc00000u), 0};
	if (exponent == 255)
		return angle;
	uint64_t m = (bits & 0x7fffffu) | 0x800000u;
	/* The window begins at the bit of 2/pi times 2^e that has weight 2: at 30 + e in the
	 * table. */
	uint32_t shift = exponent - 127 - 23 + 30;
	uint32_t word = shift / 32, rest = shift % 32;
	uint32_t window[3];
	for (uint32_t i = 0; i < 3; i++) {
		uint64_t pair = (uint64_t)two_over_pi[word + i] << 32 |
				(word + i + 1 < 8 ? two_over_pi[word + i + 1] : 0);
		window[i] = (uint32_t)(pair << rest >> 32);
	}
	uint64_t product = (m * window[0] << 32) + m * window[1] + (m * window[2] >> 32);
	uint64_t quadrant = (product + (UINT64_C(1) << 61)) >> 62;
	int64_t fraction = (int64_t)(product - (quadrant << 62));
	double r = (double)fraction * (0x1.921fb54442d18p0 * 0x1p-62);
	angle.r = (float)(bits >> 31 ? -r : r);
	angle.quadrant = (uint32_t)(bits >> 31 ? -quadrant : quadrant);
	return angle;
}

/* Fits on [0, pi/4], relative errors 2^-27.9 and 2^-33. */
static inline float sin_polynomial(float r, float t)
{
	float p = -0x1.9953fep-13f * t + 0x1.110778p-7f;
	p = p * t - 0x1.555546p-3f;
	return r + r * t * p;
}

static inline float cos_polynomial(float t)
{
	float p = 0x1.99e91p-16f * t - 0x1.6c0c2ap-10f;
	p = p * t + 0x1.55554ap-5f;
	return 1.0f + t * (p * t - 0.5f);
}

static inline float sin_of(struct angle angle)
{
	float t = angle.r * angle.r;
	float s = sin_polynomial(angle.r, t), c = cos_polynomial(t);
	float value = angle.quadrant & 1 ? c : s;
	return tn_plugin_f32_of_bits(tn_plugin_bits_of_f32(value) ^ (angle.quadrant & 2) << 30);
}

static inline float cos_of(struct angle angle)
{
	angle.quadrant++;
	return sin_of(angle);
}

/* sin / cos, or -cos / sin in odd quadrants. */
static inline float tan_of(struct angle angle)
{
	float t = angle.r * angle.r;
	float s = sin_polynomial(angle.r, t), c = cos_polynomial(t);
	int odd = angle.quadrant & 1;
	return (odd ? -c : s) / (odd ? s : c);
}

static inline int is_large(float x)
{
	return !(magnitude(x) < 0x1p20f);
}

static inline struct angle angle_any(float x)
{
	return is_large(x) ? angle_large(x) : angle_ordinary(x);
}

static inline float sin_ordinary(float x)
{
	return x == 0 ? x : sin_of(angle_ordinary(x));
}

static inline float cos_ordinary(float x)
{
	return cos_of(angle_ordinary(x));
}

static inline float tan_ordinary(float x)
{
	return x == 0 ? x : tan_of(angle_ordinary(x));
}

static float sin_one(float x)
{
	return x == 0 ? x : sin_of(angle_any(x));
}

static float cos_one(float x)
{
	return cos_of(angle_any(x));
}

static float tan_one(float x)
{
	return x == 0 ? x : tan_of(angle_any(x));
}

/* asin x = x + x t A(t) for t = x^2 <= 1/4; relative error of the fit 2^-27.6. */
static inline float asin_polynomial(float x, float t)
{
	float u = t * t;
	float a = 0x1.3301fep-4f * t + 0x1.5555c8p-3f;
	float b = 0x1.8c30b4p-6f * t + 0x1.747cbep-5f;
	b = 0x1.596a7ep-5f * u + b;
	return x + x * t * (b * u + a);
}

#define HALF_PI 0x1.921fb6p0f
#define HALF_PI_REST (-0x1.777a5cp-25f)

/* Above 1/2: asin x = pi/2 - 2 asin(sqrt((1 - x) / 2)).  Above 1 that root is a NaN. */
static inline float asin_one(float x)
{
	float a = magnitude(x), half = 0.5f - 0.5f * a;
	int small = a <= 0.5f;
	float y = small ? a : __builtin_sqrtf(half);
	float value = asin_polynomial(y, small ? a * a : half);
	float large = HALF_PI - (value + value - HALF_PI_REST);
	return with_sign(small ? value : large, x);
}

/* acos x = pi/2 - asin x; above 1/2: 2 asin(sqrt((1 - x) / 2)), and pi minus that for -x. */
static inline float acos_one(float x)
{
	float a = magnitude(x), half = 0.5f - 0.5f * a;
	int small = a <= 0.5f;
	float y = small ? x : __builtin_sqrtf(half);
	float value = asin_polynomial(y, small ? a * a : half);
	float near = HALF_PI - (value - HALF_PI_REST);
	float twice = value + value;
	float far = x < 0 ? 2.0f * HALF_PI - (twice - 2.0f * HALF_PI_REST) : twice;
	return small ? near : far;
}

/* atan t = t + t^3 B(t^2) for 0 <= t <= 1; relative error of the fit 2^-28.5. */
static inline float atan_polynomial(float t)
{
	float s = t * t, u = s * s;
	float a = 0x1.9991ecp-3f * s - 0x1.55553ep-2f;
	float b = 0x1.c0946cp-4f * s - 0x1.24211ap-3f;
	float c = 0x1.da9c2ep-5f * s - 0x1.5825f2p-4f;
	float d = 0x1.6551e2p-7f * s - 0x1.fe7d24p-6f;
	d = -0x1.d5a1aap-10f * u + d;
	a = b * u + a;
	c = d * u + c;
	return t + t * s * (c * (u * u) + a);
}

static inline float atan_one(float x)
{
	float a = magnitude(x);
	int large = a > 1.0f;
	float value = atan_polynomial(large ? 1.0f / a : a);
	float far = HALF_PI - (value - HALF_PI_REST);
	return with_sign(large ? far : value, x);
}

/* The angle of (x, y), by the octant: of q = min / max, then pi/2 minus it, then pi minus it. */
static inline float atan2_one(float y, float x)
{
	float ay = magnitude(y), ax = magnitude(x);
	int steep = ay > ax;
	float low = steep ? ax : ay, high = steep ? ay : ax;
	float q = low / high;
	q = high == 0 ? 0.0f : q;
	q = low == high && high > 0 ? 1.0f : q;
	float value = atan_polynomial(q);
	value = steep ? HALF_PI - (value - HALF_PI_REST) : value;
	value = tn_plugin_bits_of_f32(x) >> 31 ? 2.0f * HALF_PI - (value - 2.0f * HALF_PI_REST)
					       : value;
	return (x != x || y != y) ? x + y : with_sign(value, y);
}

#define ANGLE_GUARD(bits) ((bits)&0x7fffffffu)
#define ANGLE_LIMIT 0x497fffffu /* below 2^20 */

#define NAME block_sin
#define VALUE sin_one
#define FAST sin_ordinary
#define GUARD ANGLE_GUARD
#define LIMIT ANGLE_LIMIT
#define VALUE_BY_ONE 1
#include "loop1_guarded.h"
#define NAME block_cos
#define VALUE cos_one
#define FAST cos_ordinary
#define GUARD ANGLE_GUARD
#define LIMIT ANGLE_LIMIT
#define VALUE_BY_ONE 1
#include "loop1_guarded.h"
#define NAME block_tan
#define VALUE tan_one
#define FAST tan_ordinary
#define GUARD ANGLE_GUARD
#define LIMIT ANGLE_LIMIT
#define VALUE_BY_ONE 1
#include "loop1_guarded.h"
#define NAME block_asin
#define VALUE asin_one
#include "loop1.h"
#define NAME block_acos
#define VALUE acos_one
#include "loop1.h"
#define NAME block_atan
#define VALUE atan_one
#include "loop1.h"
#define NAME block_atan2
#define VALUE atan2_one
#include "loop2.h"

const struct cpu_row VARIANT(cpu_rows_circular)[] = {
	{TN_OP_SIN, TN_COLUMN_F32, block_sin},     {TN_OP_COS, TN_COLUMN_F32, block_cos},
	{TN_OP_TAN, TN_COLUMN_F32, block_tan},     {TN_OP_ASIN, TN_COLUMN_F32, block_asin},
	{TN_OP_ACOS, TN_COLUMN_F32, block_acos},   {TN_OP_ATAN, TN_COLUMN_F32, block_atan},
	{TN_OP_ATAN2, TN_COLUMN_F32, block_atan2}, {0},
};
