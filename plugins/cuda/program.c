/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The dialect in which the host prints element programs as CUDA C.
 */
#include "program.h"

const struct tn_dialect cuda_dialect = {
	.struct_size = sizeof(cuda_dialect),
	.n_operations = TN_OP_COUNT,
	.dtypes = CUDA_COMPUTES,
	.words = "typedef bool tn_bool;\n"
		 "typedef int tn_i32;\n"
		 "typedef unsigned int tn_u32;\n"
		 "typedef long long tn_i64;\n"
		 "typedef unsigned long long tn_u64;\n"
		 "typedef float tn_f32;\n"
		 "typedef double tn_f64;\n"
		 "#define TN_FN static __device__ __forceinline__ __attribute__((unused))\n"
		 "#define TN_DATA static __device__ const\n"
		 "#define TN_I64(n) n##LL\n"
		 "#define TN_U64(n) n##ULL\n"
		 "#define TN_F32(x) x##f\n"
		 "#define TN_F64(x) x\n"
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
		 "TN_FN tn_f64 tn_f64_of_bits(tn_u64 x) { return __longlong_as_double((long "
		 "long)x); }\n"
		 "TN_FN tn_u32 tn_bits_of_f32(tn_f32 x) { return __float_as_uint(x); }\n",
};

const char *cuda_value_type(tn_dtype dtype)
{
	return dtype == TN_BOOL ? "bool" : cuda_memory_type(dtype);
}

const char *cuda_memory_type(tn_dtype dtype)
{
	static const char *const types[16] = {
		[TN_BOOL] = "cu_bool", [TN_I8] = "cu_i8",     [TN_I16] = "cu_i16",
		[TN_I32] = "cu_i32",   [TN_I64] = "cu_i64",   [TN_U8] = "cu_u8",
		[TN_U16] = "cu_u16",   [TN_U32] = "cu_u32",   [TN_U64] = "cu_u64",
		[TN_F16] = "cu_f16",   [TN_BF16] = "cu_bf16", [TN_F32] = "cu_f32",
		[TN_F64] = "cu_f64",   [TN_C64] = "cu_u64",   [TN_C128] = "cu_u128"};
	return types[dtype];
}
