/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Conversions between storage types that are frequent in programs; the rules are those of
 * tenon-program(7): floating to integer saturates and a NaN gives 0, integers wrap, f16 and bf16
 * are rounded to nearest with ties to even.
 */
#include "real.h"
#include "variant.h"

/* Clamped before the conversion, because C leaves other values undefined; the limit is the largest
 * f32 below 2^31, which i32 cannot represent. */
static inline int32_t i32_of_f32(float x)
{
	float inside = x < -0x1p31f ? -0x1p31f : x;
	inside = inside < 0x1.fffffep30f ? inside : 0x1.fffffep30f; /* a NaN too */
	int32_t value = (int32_t)inside;
	value = x >= 0x1p31f ? INT32_MAX : value;
	return x == x ? value : 0;
}

#define FROM float
#define TO double
#define NAME f32_to_f64
#define VALUE(x) ((double)(x))
#include "loop1.h"
#define FROM double
#define TO float
#define NAME f64_to_f32
#define VALUE(x) ((float)(x))
#include "loop1.h"
#define FROM int32_t
#define TO float
#define NAME i32_to_f32
#define VALUE(x) ((float)(x))
#include "loop1.h"
#define FROM float
#define TO int32_t
#define NAME f32_to_i32
#define VALUE(x) i32_of_f32(x)
#include "loop1.h"
#define FROM int32_t
#define TO int64_t
#define NAME i32_to_i64
#define VALUE(x) ((int64_t)(x))
#include "loop1.h"
#define FROM int64_t
#define TO int32_t
#define NAME i64_to_i32
#define VALUE(x) ((int32_t)(x))
#include "loop1.h"
#define FROM uint8_t
#define TO float
#define NAME u8_to_f32
#define VALUE(x) ((float)(x))
#include "loop1.h"
#define FROM uint8_t
#define TO float
#define NAME bool_to_f32
#define VALUE(x) ((x) ? 1.0f : 0.0f)
#include "loop1.h"
#define FROM float
#define TO uint8_t
#define NAME f32_to_bool
#define VALUE(x) ((uint8_t)((x) != 0))
#include "loop1.h"
#define FROM int8_t
#define TO int32_t
#define NAME i8_to_i32
#define VALUE(x) ((int32_t)(x))
#include "loop1.h"
#define FROM int16_t
#define TO int32_t
#define NAME i16_to_i32
#define VALUE(x) ((int32_t)(x))
#include "loop1.h"
#define FROM uint16_t
#define TO int32_t
#define NAME u16_to_i32
#define VALUE(x) ((int32_t)(x))
#include "loop1.h"
#define FROM uint8_t
#define TO int32_t
#define NAME u8_to_i32
#define VALUE(x) ((int32_t)(x))
#include "loop1.h"
#define FROM uint8_t
#define TO int32_t
#define NAME bool_to_i32
#define VALUE(x) ((x) != 0)
#include "loop1.h"
#define FROM uint16_t
#define TO float
#define NAME bf16_to_f32
#define VALUE(x) tn_plugin_f32_of_bf16(x)
#include "loop1.h"
#define FROM float
#define TO uint16_t
#define NAME f32_to_bf16
#define VALUE(x) tn_plugin_bf16_of_f32(x)
#include "loop1.h"

#if defined(__F16C__)
#include <immintrin.h>

static void f16_to_f32(void *dst, const void *a, const void *b, const void *c, size_t n)
{
	float *out = dst;
	const uint16_t *x = a;
	size_t i = 0;
	(void)b, (void)c;
	for (; i + 8 <= n; i += 8)
		_mm256_storeu_ps(out + i,
				 _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(x + i))));
	for (; i < n; i++)
		out[i] = _cvtsh_ss(x[i]);
}

static void f32_to_f16(void *dst, const void *a, const void *b, const void *c, size_t n)
{
	uint16_t *out = dst;
	const float *x = a;
	size_t i = 0;
	(void)b, (void)c;
	for (; i + 8 <= n; i += 8)
		_mm_storeu_si128((__m128i *)(out + i), _mm256_cvtps_ph(_mm256_loadu_ps(x + i),
								       _MM_FROUND_TO_NEAREST_INT));
	for (; i < n; i++)
		out[i] = _cvtss_sh(x[i], _MM_FROUND_TO_NEAREST_INT);
}
#endif

const struct cpu_cast_row VARIANT(cpu_casts)[] = {
	{TN_F32, TN_F64, f32_to_f64},
	{TN_F64, TN_F32, f64_to_f32},
	{TN_I32, TN_F32, i32_to_f32},
	{TN_F32, TN_I32, f32_to_i32},
	{TN_I32, TN_I64, i32_to_i64},
	{TN_I64, TN_I32, i64_to_i32},
	{TN_U8, TN_F32, u8_to_f32},
	{TN_BOOL, TN_F32, bool_to_f32},
	{TN_F32, TN_BOOL, f32_to_bool},
	{TN_I8, TN_I32, i8_to_i32},
	{TN_I16, TN_I32, i16_to_i32},
	{TN_U16, TN_I32, u16_to_i32},
	{TN_U8, TN_I32, u8_to_i32},
	{TN_BOOL, TN_I32, bool_to_i32},
	{TN_BF16, TN_F32, bf16_to_f32},
	{TN_F32, TN_BF16, f32_to_bf16},
#if defined(__F16C__)
	{TN_F16, TN_F32, f16_to_f32},
	{TN_F32, TN_F16, f32_to_f16},
#endif
	{0},
};
