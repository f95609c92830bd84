/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 */

/* words: what the prelude and printed programs are written in (tenon-program(7)), in OpenCL C. */
#pragma OPENCL FP_CONTRACT OFF
#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#define TN_HAS_F64 1
typedef double tn_f64;
#endif
typedef uchar tn_bool;
typedef int tn_i32;
typedef uint tn_u32;
typedef long tn_i64;
typedef ulong tn_u64;
typedef float tn_f32;
#define TN_HAS_STORAGE 1
typedef char tn_i8;
typedef short tn_i16;
typedef uchar tn_u8;
typedef ushort tn_u16;
#define TN_FN static
#define TN_DATA __constant
#define TN_I64(n) n##L
#define TN_U64(n) n##UL
#define TN_F32(x) x##f
#define TN_F64(x) x
#define TN_M32(name) name
#define TN_M64(name) name
#define tn_add_f32(a, b) ((a) + (b))
#define tn_sub_f32(a, b) ((a) - (b))
#define tn_mul_f32(a, b) ((a) * (b))
#define tn_div_f32(a, b) ((a) / (b))
#define tn_sqrt_f32(a) sqrt(a)
#define tn_add_f64(a, b) ((a) + (b))
#define tn_sub_f64(a, b) ((a) - (b))
#define tn_mul_f64(a, b) ((a) * (b))
#define tn_div_f64(a, b) ((a) / (b))
#define tn_sqrt_f64(a) sqrt(a)
#define tn_f32_of_bits(x) as_float((tn_u32)(x))
#define tn_f64_of_bits(x) as_double((tn_u64)(x))
#define tn_bits_of_f32(x) as_uint(x)
