/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * f16 and bf16 are converted by their bits, which needs no extension.
 */
#include "program.h"

const struct tn_dialect opencl_dialect = {
	.struct_size = sizeof(opencl_dialect),
	.n_operations = TN_OP_COUNT,
	/* A device without f64 has already refused programs that compute in it. */
	.dtypes = OPENCL_COMPUTES,
	.words = "#pragma OPENCL FP_CONTRACT OFF\n"
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
		 "#define TN_HAS_STORAGE 1\n"
		 "typedef char tn_i8;\n"
		 "typedef short tn_i16;\n"
		 "typedef uchar tn_u8;\n"
		 "typedef ushort tn_u16;\n"
		 "#define TN_FN static\n"
		 "#define TN_DATA __constant\n"
		 "#define TN_I64(n) n##L\n"
		 "#define TN_U64(n) n##UL\n"
		 "#define TN_F32(x) x##f\n"
		 "#define TN_F64(x) x\n"
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
		 "#define tn_bits_of_f32(x) as_uint(x)\n",
};

const char *opencl_type(tn_dtype dtype)
{
	static const char *const types[16] = {
		[TN_BOOL] = "uchar", [TN_I8] = "char",    [TN_I16] = "short",   [TN_I32] = "int",
		[TN_I64] = "long",   [TN_U8] = "uchar",   [TN_U16] = "ushort",  [TN_U32] = "uint",
		[TN_U64] = "ulong",  [TN_F16] = "ushort", [TN_BF16] = "ushort", [TN_F32] = "float",
		[TN_F64] = "double", [TN_C64] = "ulong",  [TN_C128] = "ulong2"};
	return types[dtype];
}
