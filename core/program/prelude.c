/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The functions that printed programs call, tn_OP_DTYPE, in three parts: what a dialect calls things;
 * templates for integers and floating types; random numbers.  In a template $T is the dtype, $U the
 * unsigned type of its width, $W the width less one, $M the macro that names a function of the
 * mathematics library.
 */
#include <string.h>

#include "program/printer.h"
#include "program/random.h"
#include "program/sink.h"

static const char c_words[] =
	"#include <math.h>\n"
	"#include <stdint.h>\n"
	"#include <string.h>\n"
	"#if defined(__clang__)\n"
	"#pragma STDC FP_CONTRACT OFF\n"
	"#elif defined(__GNUC__)\n"
	"#pragma GCC optimize(\"fp-contract=off\")\n"
	"#endif\n"
	"typedef uint8_t tn_bool;\n"
	"typedef int32_t tn_i32;\n"
	"typedef uint32_t tn_u32;\n"
	"typedef int64_t tn_i64;\n"
	"typedef uint64_t tn_u64;\n"
	"typedef float tn_f32;\n"
	"typedef double tn_f64;\n"
	"#define TN_FN static inline\n"
	"#define TN_DATA static const\n"
	"#define TN_M32(name) name##f\n"
	"#define TN_M64(name) name\n"
	"#define TN_HAS_F64 1\n"
	"#define tn_add_f32(a, b) ((a) + (b))\n"
	"#define tn_sub_f32(a, b) ((a) - (b))\n"
	"#define tn_mul_f32(a, b) ((a) * (b))\n"
	"#define tn_div_f32(a, b) ((a) / (b))\n"
	"#define tn_sqrt_f32(a) sqrtf(a)\n"
	"#define tn_add_f64(a, b) ((a) + (b))\n"
	"#define tn_sub_f64(a, b) ((a) - (b))\n"
	"#define tn_mul_f64(a, b) ((a) * (b))\n"
	"#define tn_div_f64(a, b) ((a) / (b))\n"
	"#define tn_sqrt_f64(a) sqrt(a)\n"
	"TN_FN tn_f32 tn_f32_of_bits(tn_u32 x) { tn_f32 y; memcpy(&y, &x, 4); return y; }\n"
	"TN_FN tn_f64 tn_f64_of_bits(tn_u64 x) { tn_f64 y; memcpy(&y, &x, 8); return y; }\n"
	"TN_FN tn_u32 tn_bits_of_f32(tn_f32 x) { tn_u32 y; memcpy(&y, &x, 4); return y; }\n";

static const char cuda_words[] =
	"typedef bool tn_bool;\n"
	"typedef int tn_i32;\n"
	"typedef unsigned int tn_u32;\n"
	"typedef long long tn_i64;\n"
	"typedef unsigned long long tn_u64;\n"
	"typedef float tn_f32;\n"
	"typedef double tn_f64;\n"
	"#define TN_FN static __device__ __forceinline__ __attribute__((unused))\n"
	"#define TN_DATA static __device__ const\n"
	"#define TN_M32(name) name##f\n"
	"#define TN_M64(name) name\n"
	"#define TN_HAS_F64 1\n"
	"#define tn_add_f32(a, b) __fadd_rn(a, b)\n"
	"#define tn_sub_f32(a, b) __fsub_rn(a, b)\n"
	"#define tn_mul_f32(a, b) __fmul_rn(a, b)\n"
	"#define tn_div_f32(a, b) __fdiv_rn(a, b)\n"
	"#define tn_sqrt_f32(a) __fsqrt_rn(a)\n"
	"#define tn_add_f64(a, b) __dadd_rn(a, b)\n"
	"#define tn_sub_f64(a, b) __dsub_rn(a, b)\n"
	"#define tn_mul_f64(a, b) __dmul_rn(a, b)\n"
	"#define tn_div_f64(a, b) __ddiv_rn(a, b)\n"
	"#define tn_sqrt_f64(a) __dsqrt_rn(a)\n"
	"TN_FN tn_f32 tn_f32_of_bits(tn_u32 x) { return __uint_as_float(x); }\n"
	"TN_FN tn_f64 tn_f64_of_bits(tn_u64 x) { return __longlong_as_double((long long)x); }\n"
	"TN_FN tn_u32 tn_bits_of_f32(tn_f32 x) { return __float_as_uint(x); }\n";

static const char opencl_words[] = "#pragma OPENCL FP_CONTRACT OFF\n"
				   "#ifdef cl_khr_fp64\n"
				   "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"
				   "#define TN_HAS_F64 1\n"
				   "typedef double tn_f64;\n"
				   "#endif\n"
				   "typedef uchar tn_bool;\n"
				   "typedef int tn_i32;\n"
				   "typedef uint tn_u32;\n"
				   "typedef long tn_i64;\n"
				   "typedef ulong tn_u64;\n"
				   "typedef float tn_f32;\n"
				   "#define TN_FN static\n"
				   "#define TN_DATA __constant\n"
				   "#define TN_M32(name) name\n"
				   "#define TN_M64(name) name\n"
				   "#define tn_add_f32(a, b) ((a) + (b))\n"
				   "#define tn_sub_f32(a, b) ((a) - (b))\n"
				   "#define tn_mul_f32(a, b) ((a) * (b))\n"
				   "#define tn_div_f32(a, b) ((a) / (b))\n"
				   "#define tn_sqrt_f32(a) sqrt(a)\n"
				   "#define tn_add_f64(a, b) ((a) + (b))\n"
				   "#define tn_sub_f64(a, b) ((a) - (b))\n"
				   "#define tn_mul_f64(a, b) ((a) * (b))\n"
				   "#define tn_div_f64(a, b) ((a) / (b))\n"
				   "#define tn_sqrt_f64(a) sqrt(a)\n"
				   "#define tn_f32_of_bits(x) as_float((tn_u32)(x))\n"
				   "#define tn_f64_of_bits(x) as_double((tn_u64)(x))\n"
				   "#define tn_bits_of_f32(x) as_uint(x)\n";

static const char booleans[] =
	"TN_FN tn_bool tn_and_bool(tn_bool a, tn_bool b) { return (tn_bool)(a && b); }\n"
	"TN_FN tn_bool tn_or_bool(tn_bool a, tn_bool b) { return (tn_bool)(a || b); }\n"
	"TN_FN tn_bool tn_xor_bool(tn_bool a, tn_bool b) { return (tn_bool)(!a != !b); }\n"
	"TN_FN tn_bool tn_not_bool(tn_bool a) { return (tn_bool)!a; }\n";

/* Overflow wraps: the sums are those of unsigned numbers.  Shift counts are modulo the width. */
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

/* NaN wins min and max; of equal operands it is the second. */
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
	"\treturn a != a ? 0 : a >= 2147483648.0f ? 2147483647 :\n"
	"\t       a <= -2147483648.0f ? -2147483647 - 1 : (tn_i32)a;\n"
	"}\n"
	"TN_FN tn_u32 tn_u32_of_$T(tn_$T a)\n"
	"{\n"
	"\treturn !(a > 0) ? 0u : a >= 4294967296.0f ? 4294967295u : (tn_u32)a;\n"
	"}\n"
	"TN_FN tn_i64 tn_i64_of_$T(tn_$T a)\n"
	"{\n"
	"\treturn a != a ? 0 : a >= 9223372036854775808.0f ? (tn_i64)0x7fffffffffffffff :\n"
	"\t       a <= -9223372036854775808.0f ? -(tn_i64)0x7fffffffffffffff - 1 : (tn_i64)a;\n"
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
	"\t\t\t      1.1920928955078125e-07f);\n"
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

/* The template with its marks replaced. */
static void add_template(struct tn_sink *sink, const char *text, const struct words *words)
{
	for (const char *mark = strchr(text, '$'); mark; mark = strchr(text, '$')) {
		tn_sink_append(sink, text, (size_t)(mark - text));
		tn_sink_add(sink, word_of(words, mark[1]));
		text = mark + 2;
	}
	tn_sink_add(sink, text);
}

static void add_numbers(struct tn_sink *sink)
{
	static const struct words i32 = {.dtype = "i32", .unsigned_type = "u32", .last_bit = "31"};
	static const struct words u32 = {.dtype = "u32", .unsigned_type = "u32", .last_bit = "31"};
	static const struct words i64 = {.dtype = "i64", .unsigned_type = "u64", .last_bit = "63"};
	static const struct words f32 = {.dtype = "f32", .mathematics = "TN_M32"};
	static const struct words f64 = {.dtype = "f64", .mathematics = "TN_M64"};
	tn_sink_add(sink, booleans);
	add_template(sink, integers, &i32);
	add_template(sink, signed_integers, &i32);
	add_template(sink, integers, &u32);
	add_template(sink, unsigned_integers, &u32);
	add_template(sink, integers, &i64);
	add_template(sink, signed_integers, &i64);
	add_template(sink, floats, &f32);
	tn_sink_add(sink, "#ifdef TN_HAS_F64\n");
	add_template(sink, floats, &f64);
	tn_sink_add(sink, "#endif\n");
}

/* The coefficients of the normal quantile, as bits. */
static void add_table(struct tn_sink *sink)
{
	const int n = TN_NORMAL_SEGMENTS * TN_NORMAL_COEFFICIENTS;
	const float *table = &tn_normal_table[0][0];
	tn_sink_format(sink, "TN_DATA tn_u32 tn_normal_table[%d] = {", n);
	for (int k = 0; k < n; k++) {
		uint32_t bits;
		memcpy(&bits, &table[k], sizeof(bits));
		tn_sink_format(sink, "%s0x%08xu,", k % 8 ? " " : "\n\t", bits);
	}
	tn_sink_add(sink, "\n};\n");
}

static const char *dialect_words(uint32_t dialect)
{
	switch (dialect) {
	case TN_DIALECT_C:
		return c_words;
	case TN_DIALECT_CUDA:
		return cuda_words;
	case TN_DIALECT_OPENCL:
		return opencl_words;
	default:
		return NULL;
	}
}

size_t tn_print_prelude(const struct tn_print_args *args, char *buffer, size_t size)
{
	struct tn_sink sink;
	const char *words = dialect_words(args->dialect);
	tn_sink_init(&sink, buffer, size);
	if (!words)
		return 0;
	tn_sink_add(&sink, words);
	add_numbers(&sink);
	tn_sink_add(&sink, philox);
	/* Half of the text, which a compiler does not leave out where it is not used. */
	tn_sink_add(&sink, "#ifndef TN_NO_NORMAL\n");
	add_table(&sink);
	tn_sink_add(&sink, normal);
	tn_sink_add(&sink, "#endif\n");
	return sink.length;
}
