/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The functions that printed programs call, tn_OP_DTYPE, in the words of a dialect.  Where they are
 * printed for several dtypes, $T is the dtype, $U the unsigned type of its width, $W the width less
 * one, and $M the macro that names a function of the mathematics library.  embed.awk makes a string
 * of each section, without its comments.
 */

/* booleans: any value that is not 0 is true. */
TN_FN tn_bool tn_and_bool(tn_bool a, tn_bool b) { return (tn_bool)(a && b); }
TN_FN tn_bool tn_or_bool(tn_bool a, tn_bool b) { return (tn_bool)(a || b); }
TN_FN tn_bool tn_xor_bool(tn_bool a, tn_bool b) { return (tn_bool)(!a != !b); }
TN_FN tn_bool tn_not_bool(tn_bool a) { return (tn_bool)!a; }

/* integers: overflow wraps: sums are computed on unsigned numbers.  Shift counts are modulo the
 * width. */
TN_FN tn_$T tn_add_$T(tn_$T a, tn_$T b) { return (tn_$T)((tn_$U)a + (tn_$U)b); }
TN_FN tn_$T tn_sub_$T(tn_$T a, tn_$T b) { return (tn_$T)((tn_$U)a - (tn_$U)b); }
TN_FN tn_$T tn_mul_$T(tn_$T a, tn_$T b) { return (tn_$T)((tn_$U)a * (tn_$U)b); }
TN_FN tn_$T tn_neg_$T(tn_$T a) { return (tn_$T)((tn_$U)0 - (tn_$U)a); }
TN_FN tn_$T tn_min_$T(tn_$T a, tn_$T b) { return a < b ? a : b; }
TN_FN tn_$T tn_max_$T(tn_$T a, tn_$T b) { return a > b ? a : b; }
TN_FN tn_$T tn_and_$T(tn_$T a, tn_$T b) { return a & b; }
TN_FN tn_$T tn_or_$T(tn_$T a, tn_$T b) { return a | b; }
TN_FN tn_$T tn_xor_$T(tn_$T a, tn_$T b) { return a ^ b; }
TN_FN tn_$T tn_not_$T(tn_$T a) { return ~a; }
TN_FN tn_$T tn_shl_$T(tn_$T a, tn_$T b) { return (tn_$T)((tn_$U)a << ((tn_$U)b & $W)); }
TN_FN tn_$T tn_shr_$T(tn_$T a, tn_$T b) { return a >> ((tn_$U)b & $W); }

/* signed_integers: division by zero gives 0, and the one quotient that overflows wraps. */
TN_FN tn_$T tn_div_$T(tn_$T a, tn_$T b)
{
	return b == 0 ? 0 : b == -1 ? tn_neg_$T(a) : a / b;
}
TN_FN tn_$T tn_rem_$T(tn_$T a, tn_$T b) { return b == 0 || b == -1 ? 0 : a % b; }
TN_FN tn_$T tn_abs_$T(tn_$T a) { return a < 0 ? tn_neg_$T(a) : a; }
TN_FN tn_$T tn_sign_$T(tn_$T a) { return (tn_$T)((a > 0) - (a < 0)); }

/* unsigned_integers: division by zero gives 0. */
TN_FN tn_$T tn_div_$T(tn_$T a, tn_$T b) { return b == 0 ? 0 : a / b; }
TN_FN tn_$T tn_rem_$T(tn_$T a, tn_$T b) { return b == 0 ? 0 : a % b; }
TN_FN tn_$T tn_abs_$T(tn_$T a) { return a; }
TN_FN tn_$T tn_sign_$T(tn_$T a) { return (tn_$T)(a != 0); }

/* floats: min and max give NaN if either operand is; of equal operands the second. */
#define tn_neg_$T(a) (-(a))
#define tn_abs_$T(a) $M(fabs)(a)
#define tn_rem_$T(a, b) $M(fmod)(a, b)
#define tn_fma_$T(a, b, c) $M(fma)(a, b, c)
#define tn_mul_rounded_$T(a, b) tn_mul_$T(a, b)
#define tn_pow_$T(a, b) $M(pow)(a, b)
#define tn_floor_$T(a) $M(floor)(a)
#define tn_ceil_$T(a) $M(ceil)(a)
#define tn_round_$T(a) $M(rint)(a)
#define tn_trunc_$T(a) $M(trunc)(a)
#define tn_exp_$T(a) $M(exp)(a)
#define tn_exp2_$T(a) $M(exp2)(a)
#define tn_expm1_$T(a) $M(expm1)(a)
#define tn_log_$T(a) $M(log)(a)
#define tn_log2_$T(a) $M(log2)(a)
#define tn_log1p_$T(a) $M(log1p)(a)
#define tn_sin_$T(a) $M(sin)(a)
#define tn_cos_$T(a) $M(cos)(a)
#define tn_tan_$T(a) $M(tan)(a)
#define tn_asin_$T(a) $M(asin)(a)
#define tn_acos_$T(a) $M(acos)(a)
#define tn_atan_$T(a) $M(atan)(a)
#define tn_atan2_$T(a, b) $M(atan2)(a, b)
#define tn_sinh_$T(a) $M(sinh)(a)
#define tn_cosh_$T(a) $M(cosh)(a)
#define tn_tanh_$T(a) $M(tanh)(a)
#define tn_erf_$T(a) $M(erf)(a)
TN_FN tn_$T tn_min_$T(tn_$T a, tn_$T b) { return a < b || a != a ? a : b; }
TN_FN tn_$T tn_max_$T(tn_$T a, tn_$T b) { return a > b || a != a ? a : b; }
TN_FN tn_$T tn_sign_$T(tn_$T a) { return a != a ? a : (tn_$T)((a > 0) - (a < 0)); }
TN_FN tn_$T tn_rsqrt_$T(tn_$T a) { return tn_div_$T((tn_$T)1, tn_sqrt_$T(a)); }
TN_FN tn_$T tn_sigmoid_$T(tn_$T a)
{
	tn_$T p = $M(exp)(a < 0 ? a : -a);
	return tn_div_$T(a < 0 ? p : (tn_$T)1, tn_add_$T((tn_$T)1, p));
}
TN_FN tn_i32 tn_i32_of_$T(tn_$T a)
{
	return a != a ? 0 : a >= TN_F32(2147483648.0) ? 2147483647 :
	       a <= -TN_F32(2147483648.0) ? -2147483647 - 1 : (tn_i32)a;
}
TN_FN tn_u32 tn_u32_of_$T(tn_$T a)
{
	return !(a > 0) ? 0u : a >= TN_F32(4294967296.0) ? 4294967295u : (tn_u32)a;
}
TN_FN tn_i64 tn_i64_of_$T(tn_$T a)
{
	return a != a ? 0 : a >= TN_F32(9223372036854775808.0) ? TN_I64(0x7fffffffffffffff) :
	       a <= -TN_F32(9223372036854775808.0) ? -TN_I64(0x7fffffffffffffff) - 1 : (tn_i64)a;
}

/* halves: conversions between storage and compute dtypes, by the rules of the cast (cast.c). */
TN_FN tn_f32 tn_f32_of_f16(tn_u16 h)
{
	tn_u32 sign = (tn_u32)(h & 0x8000u) << 16, exponent = (tn_u32)h >> 10 & 31u;
	tn_u32 fraction = h & 0x3ffu;
	if (exponent == 31u)
		return tn_f32_of_bits(sign | 0x7f800000u | fraction << 13);
	if (exponent)
		return tn_f32_of_bits(sign | (exponent + 112u) << 23 | fraction << 13);
	tn_f32 magnitude = tn_mul_f32((tn_f32)fraction, TN_F32(5.9604644775390625e-08));
	return sign ? -magnitude : magnitude;
}
TN_FN tn_u16 tn_f16_of_f32(tn_f32 x)
{
	tn_u32 bits = tn_bits_of_f32(x), sign = bits >> 16 & 0x8000u;
	tn_u32 magnitude = bits & 0x7fffffffu;
	if (magnitude > 0x7f800000u)
		return (tn_u16)(sign | 0x7e00u | (magnitude >> 13 & 0x1ffu));
	if (magnitude >= 0x477ff000u)
		return (tn_u16)(sign | 0x7c00u);
	if (magnitude < 0x38800000u)
		return (tn_u16)(sign | (tn_u32)TN_M32(rint)(
			tn_mul_f32(tn_f32_of_bits(magnitude), TN_F32(16777216.0))));
	return (tn_u16)(sign |
			(magnitude - (112u << 23) + 0xfffu + (magnitude >> 13 & 1u)) >> 13);
}
TN_FN tn_f32 tn_f32_of_bf16(tn_u16 b) { return tn_f32_of_bits((tn_u32)b << 16); }
TN_FN tn_u16 tn_bf16_of_f32(tn_f32 x)
{
	tn_u32 bits = tn_bits_of_f32(x);
	if ((bits & 0x7fffffffu) > 0x7f800000u)
		return (tn_u16)(bits >> 16 | 0x40u);
	return (tn_u16)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

/* saturating: conversions to narrow integers and to u64; NaN gives 0. */
TN_FN tn_i8 tn_i8_of_$T(tn_$T a)
{
	return (tn_i8)(a != a ? 0 : a >= TN_F32(127.0) ? 127 :
		       a <= TN_F32(-128.0) ? -128 : (tn_i32)a);
}
TN_FN tn_i16 tn_i16_of_$T(tn_$T a)
{
	return (tn_i16)(a != a ? 0 : a >= TN_F32(32767.0) ? 32767 :
			a <= TN_F32(-32768.0) ? -32768 : (tn_i32)a);
}
TN_FN tn_u8 tn_u8_of_$T(tn_$T a)
{
	return (tn_u8)(!(a > 0) ? 0 : a >= TN_F32(255.0) ? 255 : (tn_i32)a);
}
TN_FN tn_u16 tn_u16_of_$T(tn_$T a)
{
	return (tn_u16)(!(a > 0) ? 0 : a >= TN_F32(65535.0) ? 65535 : (tn_i32)a);
}
TN_FN tn_u64 tn_u64_of_$T(tn_$T a)
{
	return !(a > 0) ? TN_U64(0) : a >= TN_F32(18446744073709551616.0)
	       ? TN_U64(0xffffffffffffffff) : (tn_u64)a;
}

/* philox: random.h in the dialect's words. */
TN_FN tn_u32 tn_random(tn_i64 seed, tn_i64 stream, tn_i64 i)
{
	tn_u64 n = (tn_u64)i >> 2;
	tn_u32 c0 = (tn_u32)n, c1 = (tn_u32)(n >> 32);
	tn_u32 c2 = (tn_u32)stream, c3 = (tn_u32)((tn_u64)stream >> 32);
	tn_u32 k0 = (tn_u32)seed, k1 = (tn_u32)((tn_u64)seed >> 32);
	for (int round = 0; round < 10; round++) {
		tn_u64 p0 = (tn_u64)0xD2511F53u * c0, p1 = (tn_u64)0xCD9E8D57u * c2;
		c0 = (tn_u32)(p1 >> 32) ^ c1 ^ k0;
		c1 = (tn_u32)p1;
		c2 = (tn_u32)(p0 >> 32) ^ c3 ^ k1;
		c3 = (tn_u32)p0;
		k0 += 0x9E3779B9u;
		k1 += 0xBB67AE85u;
	}
	return i & 2 ? (i & 1 ? c3 : c2) : (i & 1 ? c1 : c0);
}

/* normal: the quantile of the normal distribution, by the table before it. */
TN_FN tn_f32 tn_normal(tn_u32 word)
{
	int positive = (word >> 31) != 0, z = 0;
	tn_u32 n = (positive ? ~word : word) << 1 | 1u;
	for (; !(n >> 31); n <<= 1)
		z++;
	int row = 5 * (8 * (31 - z) + (int)(n >> 28 & 7u));
	tn_f32 u = tn_mul_f32((tn_f32)((tn_i32)(n >> 4 & 0xffffffu) - 0x800000),
			      TN_F32(1.1920928955078125e-07));
	tn_f32 q = tn_mul_f32(tn_f32_of_bits(tn_normal_table[row + 4]), u);
	q = tn_mul_f32(tn_add_f32(q, tn_f32_of_bits(tn_normal_table[row + 3])), u);
	q = tn_mul_f32(tn_add_f32(q, tn_f32_of_bits(tn_normal_table[row + 2])), u);
	q = tn_mul_f32(tn_add_f32(q, tn_f32_of_bits(tn_normal_table[row + 1])), u);
	q = tn_add_f32(q, tn_f32_of_bits(tn_normal_table[row]));
	return positive ? q : -q;
}
