/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The functions that printed programs call, tn_OP_DTYPE, in three parts: the words of the
 * dialect, which the caller supplies; templates for integers and floating types; random numbers.
 * In a template $T is the dtype, $U the unsigned type of its width, $W the width less one, $M the
 * macro that names a function of the mathematics library.
 */
#include "program/prelude.h"

#include <string.h>

#include "program/printer.h"
#include "program/random.h"
#include "program/sink.h"

static const char booleans[] =
	"TN_FN tn_bool tn_and_bool(tn_bool a, tn_bool b) { return (tn_bool)(a && b); }\n"
	"TN_FN tn_bool tn_or_bool(tn_bool a, tn_bool b) { return (tn_bool)(a || b); }\n"
	"TN_FN tn_bool tn_xor_bool(tn_bool a, tn_bool b) { return (tn_bool)(!a != !b); }\n"
	"TN_FN tn_bool tn_not_bool(tn_bool a) { return (tn_bool)!a; }\n";

/* Overflow wraps: sums are computed on unsigned numbers.  Shift counts are modulo the width. */
static const char integers[] =
	"TN_FN tn_$T tn_add_$T(tn_$T a, tn_$T b) { return (tn_$T)((tn_$U)a + (tn_$U)b); }\n"
	"TN_FN tn_$T tn_sub_$T(tn_$T a, tn_$T b) { return (tn_$T)((tn_$U)a - (tn_$U)b); }\n"
	"TN_FN tn_$T tn_mul_$T(tn_$T a, tn_$T b) { return (tn_$T)((tn_$U)a * (tn_$U)b); }\n"
	"TN_FN tn_$T tn_neg_$T(tn_$T a) { return (tn_$T)((tn_$U)0 - (tn_$U)a); }\n"
	"TN_FN tn_$T tn_min_$T(tn_$T a, tn_$T b) { return a < b ? a : b; }\n"
	"TN_FN tn_$T tn_max_$T(tn_$T a, tn_$T b) { return a > b ? a : b; }\n"
	"TN_FN tn_$T tn_and_$T(tn_$T a, tn_$T b) { return a & b; }\n"
	"TN_FN tn_$T tn_or_$T(tn_$T a, tn_$T b) { return a | b; }\n"
	"TN_FN tn_$T tn_xor_$T(tn_$T a, tn_$T b) { return a ^ b; }\n"
	"TN_FN tn_$T tn_not_$T(tn_$T a) { return ~a; }\n"
	"TN_FN tn_$T tn_shl_$T(tn_$T a, tn_$T b) { return (tn_$T)((tn_$U)a << ((tn_$U)b & $W)); }\n"
	"TN_FN tn_$T tn_shr_$T(tn_$T a, tn_$T b) { return a >> ((tn_$U)b & $W); }\n";

/* Division by zero gives 0, and the one quotient that overflows wraps. */
static const char signed_integers[] =
	"TN_FN tn_$T tn_div_$T(tn_$T a, tn_$T b)\n"
	"{\n"
	"\treturn b == 0 ? 0 : b == -1 ? tn_neg_$T(a) : a / b;\n"
	"}\n"
	"TN_FN tn_$T tn_rem_$T(tn_$T a, tn_$T b) { return b == 0 || b == -1 ? 0 : a % b; }\n"
	"TN_FN tn_$T tn_abs_$T(tn_$T a) { return a < 0 ? tn_neg_$T(a) : a; }\n"
	"TN_FN tn_$T tn_sign_$T(tn_$T a) { return (tn_$T)((a > 0) - (a < 0)); }\n";

static const char unsigned_integers[] =
	"TN_FN tn_$T tn_div_$T(tn_$T a, tn_$T b) { return b == 0 ? 0 : a / b; }\n"
	"TN_FN tn_$T tn_rem_$T(tn_$T a, tn_$T b) { return b == 0 ? 0 : a % b; }\n"
	"TN_FN tn_$T tn_abs_$T(tn_$T a) { return a; }\n"
	"TN_FN tn_$T tn_sign_$T(tn_$T a) { return (tn_$T)(a != 0); }\n";

/* min and max give NaN if either operand is; of equal operands the second. */
static const char floats[] =
	"#define tn_neg_$T(a) (-(a))\n"
	"#define tn_abs_$T(a) $M(fabs)(a)\n"
	"#define tn_rem_$T(a, b) $M(fmod)(a, b)\n"
	"#define tn_fma_$T(a, b, c) $M(fma)(a, b, c)\n"
	"#define tn_pow_$T(a, b) $M(pow)(a, b)\n"
	"#define tn_floor_$T(a) $M(floor)(a)\n"
	"#define tn_ceil_$T(a) $M(ceil)(a)\n"
	"#define tn_round_$T(a) $M(rint)(a)\n"
	"#define tn_trunc_$T(a) $M(trunc)(a)\n"
	"#define tn_exp_$T(a) $M(exp)(a)\n"
	"#define tn_exp2_$T(a) $M(exp2)(a)\n"
	"#define tn_expm1_$T(a) $M(expm1)(a)\n"
	"#define tn_log_$T(a) $M(log)(a)\n"
	"#define tn_log2_$T(a) $M(log2)(a)\n"
	"#define tn_log1p_$T(a) $M(log1p)(a)\n"
	"#define tn_sin_$T(a) $M(sin)(a)\n"
	"#define tn_cos_$T(a) $M(cos)(a)\n"
	"#define tn_tan_$T(a) $M(tan)(a)\n"
	"#define tn_asin_$T(a) $M(asin)(a)\n"
	"#define tn_acos_$T(a) $M(acos)(a)\n"
	"#define tn_atan_$T(a) $M(atan)(a)\n"
	"#define tn_atan2_$T(a, b) $M(atan2)(a, b)\n"
	"#define tn_sinh_$T(a) $M(sinh)(a)\n"
	"#define tn_cosh_$T(a) $M(cosh)(a)\n"
	"#define tn_tanh_$T(a) $M(tanh)(a)\n"
	"#define tn_erf_$T(a) $M(erf)(a)\n"
	"TN_FN tn_$T tn_min_$T(tn_$T a, tn_$T b) { return a < b || a != a ? a : b; }\n"
	"TN_FN tn_$T tn_max_$T(tn_$T a, tn_$T b) { return a > b || a != a ? a : b; }\n"
	"TN_FN tn_$T tn_sign_$T(tn_$T a) { return a != a ? a : (tn_$T)((a > 0) - (a < 0)); }\n"
	"TN_FN tn_$T tn_rsqrt_$T(tn_$T a) { return tn_div_$T((tn_$T)1, tn_sqrt_$T(a)); }\n"
	"TN_FN tn_$T tn_sigmoid_$T(tn_$T a)\n"
	"{\n"
	"\ttn_$T p = $M(exp)(a < 0 ? a : -a);\n"
	"\treturn tn_div_$T(a < 0 ? p : (tn_$T)1, tn_add_$T((tn_$T)1, p));\n"
	"}\n"
	"TN_FN tn_i32 tn_i32_of_$T(tn_$T a)\n"
	"{\n"
	"\treturn a != a ? 0 : a >= TN_F32(2147483648.0) ? 2147483647 :\n"
	"\t       a <= -TN_F32(2147483648.0) ? -2147483647 - 1 : (tn_i32)a;\n"
	"}\n"
	"TN_FN tn_u32 tn_u32_of_$T(tn_$T a)\n"
	"{\n"
	"\treturn !(a > 0) ? 0u : a >= TN_F32(4294967296.0) ? 4294967295u : (tn_u32)a;\n"
	"}\n"
	"TN_FN tn_i64 tn_i64_of_$T(tn_$T a)\n"
	"{\n"
	"\treturn a != a ? 0 : a >= TN_F32(9223372036854775808.0) ? TN_I64(0x7fffffffffffffff) :\n"
	"\t       a <= -TN_F32(9223372036854775808.0) ? -TN_I64(0x7fffffffffffffff) - 1 : "
	"(tn_i64)a;\n"
	"}\n";

/* Conversions between storage and compute dtypes, by the rules of the cast (cast.c). */
static const char halves[] =
	"TN_FN tn_f32 tn_f32_of_f16(tn_u16 h)\n"
	"{\n"
	"\ttn_u32 sign = (tn_u32)(h & 0x8000u) << 16, exponent = (tn_u32)h >> 10 & 31u;\n"
	"\ttn_u32 fraction = h & 0x3ffu;\n"
	"\tif (exponent == 31u)\n"
	"\t\treturn tn_f32_of_bits(sign | 0x7f800000u | fraction << 13);\n"
	"\tif (exponent)\n"
	"\t\treturn tn_f32_of_bits(sign | (exponent + 112u) << 23 | fraction << 13);\n"
	"\ttn_f32 magnitude = tn_mul_f32((tn_f32)fraction, TN_F32(5.9604644775390625e-08));\n"
	"\treturn sign ? -magnitude : magnitude;\n"
	"}\n"
	"TN_FN tn_u16 tn_f16_of_f32(tn_f32 x)\n"
	"{\n"
	"\ttn_u32 bits = tn_bits_of_f32(x), sign = bits >> 16 & 0x8000u;\n"
	"\ttn_u32 magnitude = bits & 0x7fffffffu;\n"
	"\tif (magnitude > 0x7f800000u)\n"
	"\t\treturn (tn_u16)(sign | 0x7e00u | (magnitude >> 13 & 0x1ffu));\n"
	"\tif (magnitude >= 0x477ff000u)\n"
	"\t\treturn (tn_u16)(sign | 0x7c00u);\n"
	"\tif (magnitude < 0x38800000u)\n"
	"\t\treturn (tn_u16)(sign | (tn_u32)TN_M32(rint)(\n"
	"\t\t\ttn_mul_f32(tn_f32_of_bits(magnitude), TN_F32(16777216.0))));\n"
	"\treturn (tn_u16)(sign |\n"
	"\t\t\t(magnitude - (112u << 23) + 0xfffu + (magnitude >> 13 & 1u)) >> 13);\n"
	"}\n"
	"TN_FN tn_f32 tn_f32_of_bf16(tn_u16 b) { return tn_f32_of_bits((tn_u32)b << 16); }\n"
	"TN_FN tn_u16 tn_bf16_of_f32(tn_f32 x)\n"
	"{\n"
	"\ttn_u32 bits = tn_bits_of_f32(x);\n"
	"\tif ((bits & 0x7fffffffu) > 0x7f800000u)\n"
	"\t\treturn (tn_u16)(bits >> 16 | 0x40u);\n"
	"\treturn (tn_u16)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);\n"
	"}\n";

static const char saturating[] =
	"TN_FN tn_i8 tn_i8_of_$T(tn_$T a)\n"
	"{\n"
	"\treturn (tn_i8)(a != a ? 0 : a >= TN_F32(127.0) ? 127 :\n"
	"\t\t       a <= TN_F32(-128.0) ? -128 : (tn_i32)a);\n"
	"}\n"
	"TN_FN tn_i16 tn_i16_of_$T(tn_$T a)\n"
	"{\n"
	"\treturn (tn_i16)(a != a ? 0 : a >= TN_F32(32767.0) ? 32767 :\n"
	"\t\t\ta <= TN_F32(-32768.0) ? -32768 : (tn_i32)a);\n"
	"}\n"
	"TN_FN tn_u8 tn_u8_of_$T(tn_$T a)\n"
	"{\n"
	"\treturn (tn_u8)(!(a > 0) ? 0 : a >= TN_F32(255.0) ? 255 : (tn_i32)a);\n"
	"}\n"
	"TN_FN tn_u16 tn_u16_of_$T(tn_$T a)\n"
	"{\n"
	"\treturn (tn_u16)(!(a > 0) ? 0 : a >= TN_F32(65535.0) ? 65535 : (tn_i32)a);\n"
	"}\n"
	"TN_FN tn_u64 tn_u64_of_$T(tn_$T a)\n"
	"{\n"
	"\treturn !(a > 0) ? TN_U64(0) : a >= TN_F32(18446744073709551616.0)\n"
	"\t       ? TN_U64(0xffffffffffffffff) : (tn_u64)a;\n"
	"}\n";

/* random.h in the dialect's words. */
static const char philox[] =
	"TN_FN tn_u32 tn_random(tn_i64 seed, tn_i64 stream, tn_i64 i)\n"
	"{\n"
	"\ttn_u64 n = (tn_u64)i >> 2;\n"
	"\ttn_u32 c0 = (tn_u32)n, c1 = (tn_u32)(n >> 32);\n"
	"\ttn_u32 c2 = (tn_u32)stream, c3 = (tn_u32)((tn_u64)stream >> 32);\n"
	"\ttn_u32 k0 = (tn_u32)seed, k1 = (tn_u32)((tn_u64)seed >> 32);\n"
	"\tfor (int round = 0; round < 10; round++) {\n"
	"\t\ttn_u64 p0 = (tn_u64)0xD2511F53u * c0, p1 = (tn_u64)0xCD9E8D57u * c2;\n"
	"\t\tc0 = (tn_u32)(p1 >> 32) ^ c1 ^ k0;\n"
	"\t\tc1 = (tn_u32)p1;\n"
	"\t\tc2 = (tn_u32)(p0 >> 32) ^ c3 ^ k1;\n"
	"\t\tc3 = (tn_u32)p0;\n"
	"\t\tk0 += 0x9E3779B9u;\n"
	"\t\tk1 += 0xBB67AE85u;\n"
	"\t}\n"
	"\treturn i & 2 ? (i & 1 ? c3 : c2) : (i & 1 ? c1 : c0);\n"
	"}\n";

static const char normal[] =
	"TN_FN tn_f32 tn_normal(tn_u32 word)\n"
	"{\n"
	"\tint positive = (word >> 31) != 0, z = 0;\n"
	"\ttn_u32 n = (positive ? ~word : word) << 1 | 1u;\n"
	"\tfor (; !(n >> 31); n <<= 1)\n"
	"\t\tz++;\n"
	"\tint row = 5 * (8 * (31 - z) + (int)(n >> 28 & 7u));\n"
	"\ttn_f32 u = tn_mul_f32((tn_f32)((tn_i32)(n >> 4 & 0xffffffu) - 0x800000),\n"
	"\t\t\t      TN_F32(1.1920928955078125e-07));\n"
	"\ttn_f32 q = tn_mul_f32(tn_f32_of_bits(tn_normal_table[row + 4]), u);\n"
	"\tq = tn_mul_f32(tn_add_f32(q, tn_f32_of_bits(tn_normal_table[row + 3])), u);\n"
	"\tq = tn_mul_f32(tn_add_f32(q, tn_f32_of_bits(tn_normal_table[row + 2])), u);\n"
	"\tq = tn_mul_f32(tn_add_f32(q, tn_f32_of_bits(tn_normal_table[row + 1])), u);\n"
	"\tq = tn_add_f32(q, tn_f32_of_bits(tn_normal_table[row]));\n"
	"\treturn positive ? q : -q;\n"
	"}\n";

struct words {
	const char *dtype;
	const char *unsigned_type;
	const char *last_bit;
	const char *mathematics;
};

static const char *word_of(const struct words *words, char mark)
{
	switch (mark) {
	case 'T':
		return words->dtype;
	case 'U':
		return words->unsigned_type;
	case 'W':
		return words->last_bit;
	default:
		return words->mathematics;
	}
}

/* Adds the template with its marks replaced. */
static void add_template(struct tn_sink *sink, const char *text, const struct words *words)
{
	for (const char *mark = strchr(text, '$'); mark; mark = strchr(text, '$')) {
		tn_sink_append(sink, text, (size_t)(mark - text));
		tn_sink_add(sink, word_of(words, mark[1]));
		text = mark + 2;
	}
	tn_sink_add(sink, text);
}

tn_status tn_print_prelude(const struct tn_print_args *args)
{
	struct tn_sink sink;
	if (!tn_print_begin(args, &sink))
		return TN_INVALID_ARGUMENT;
	tn_sink_add(&sink, args->dialect->words);
	static const struct words i32 = {.dtype = "i32", .unsigned_type = "u32", .last_bit = "31"};
	static const struct words u32 = {.dtype = "u32", .unsigned_type = "u32", .last_bit = "31"};
	static const struct words i64 = {.dtype = "i64", .unsigned_type = "u64", .last_bit = "63"};
	static const struct words f32 = {.dtype = "f32", .mathematics = "TN_M32"};
	static const struct words f64 = {.dtype = "f64", .mathematics = "TN_M64"};
	tn_sink_add(&sink, booleans);
	add_template(&sink, integers, &i32);
	add_template(&sink, signed_integers, &i32);
	add_template(&sink, integers, &u32);
	add_template(&sink, unsigned_integers, &u32);
	add_template(&sink, integers, &i64);
	add_template(&sink, signed_integers, &i64);
	add_template(&sink, floats, &f32);
	tn_sink_add(&sink, "#ifdef TN_HAS_F64\n");
	add_template(&sink, floats, &f64);
	tn_sink_add(&sink, "#endif\n#ifdef TN_HAS_STORAGE\n");
	tn_sink_add(&sink, halves);
	add_template(&sink, saturating, &f32);
	tn_sink_add(&sink, "#ifdef TN_HAS_F64\n");
	add_template(&sink, saturating, &f64);
	tn_sink_add(&sink, "#endif\n#endif\n");
	tn_sink_add(&sink, philox);
	/* Half of the text, which compilers do not drop when it is unused. */
	tn_sink_add(&sink, "#ifndef TN_NO_NORMAL\n");
	/* The coefficients of the normal quantile, as bits. */
	const int n = TN_NORMAL_SEGMENTS * TN_NORMAL_COEFFICIENTS;
	const float *table = &tn_normal_table[0][0];
	tn_sink_format(&sink, "TN_DATA tn_u32 tn_normal_table[%d] = {", n);
	for (int k = 0; k < n; k++) {
		uint32_t bits;
		memcpy(&bits, &table[k], sizeof(bits));
		tn_sink_format(&sink, "%s0x%08xu,", k % 8 ? " " : "\n\t", bits);
	}
	tn_sink_add(&sink, "\n};\n");
	tn_sink_add(&sink, normal);
	tn_sink_add(&sink, "#endif\n");
	return TN_OK;
}
