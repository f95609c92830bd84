/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * erf of f32, over the whole range, and GELU, which uses it.
 *
 *     |x| < 1    x + x S(x^2),  S of degree 6: relative error of the fit 2^-29
 *     |x| >= 1   1 - q(|x|)^8,  q of degree 7: absolute error of the fit 2^-28
 *
 * q approximates erfc^(1/8), which decreases slowly and almost linearly while erfc decreases by
 * seven powers of ten; the weight of the fit is q^7, the effect of an error of q on q^8.  From 3.94
 * on erf is 1 in f32.
 */
#include "real.h"
#include "variant.h"

static inline float erf_small(float x)
{
	float t = x * x;
	float u = t * t;
	float a = -0x1.81274p-2f * t + 0x1.06eba8p-3f;
	float b = -0x1.b7fec4p-6f * t + 0x1.ce2d52p-4f;
	float c = -0x1.a51952p-11f * t + 0x1.542feap-8f;
	c = 0x1.4c5beep-14f * u + c;
	return x + x * ((c * u + b) * u + a);
}

/* erf of 1 <= a <= 3.94. */
static inline float erf_large(float a)
{
	float s = a * a;
	float b = -0.14293467998504638671875f * a + 1.00037288665771484375f;
	float c = -7.0435865782201290130615234375e-3f * a - 6.5538950264453887939453125e-2f;
	float d = -1.49832665920257568359375e-3f * a + 1.024858839809894561767578125e-2f;
	float e = 1.578420415171422064304351806640625e-5f * a -
		  4.15282338508404791355133056640625e-5f;
	d = e * s + d;
	b = c * s + b;
	float q = d * (s * s) + b;
	q = q * q;
	q = q * q;
	return 1.0f - q * q;
}

static inline float erf_one(float x)
{
	float a = magnitude(clamp(x, 3.94f));
	return a < 1.0f ? erf_small(x) : with_sign(erf_large(a), x);
}

#define NAME block_erf
#define VALUE erf_one
#include "loop1.h"

void VARIANT(cpu_gelu)(float *x, size_t n)
{
#pragma omp simd
	for (size_t i = 0; i < n; i++)
		x[i] = 0.5f * x[i] * (1.0f + erf_one(x[i] * 0.70710678118654752f));
}

const struct cpu_row VARIANT(cpu_rows_error_function)[] = {
	{TN_OP_ERF, TN_COLUMN_F32, block_erf},
	{0},
};
