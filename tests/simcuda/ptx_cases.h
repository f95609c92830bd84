/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Expressions over x, y, z that are CUDA C and C alike: (name, type of the result, type of the
 * operands, expression).  ptx_nvrtc_test.c compiles each both ways.
 */
#ifndef SIMCUDA_PTX_CASES_H
#define SIMCUDA_PTX_CASES_H

/* Both must give the same bits (any NaN equals any other). */
#define EXACT_CASES(X)                                                                             \
	X(i32_arithmetic, i32, i32, x + y * 3 - z)                                                 \
	X(i32_divide, i32, i32, x / (y == 0 || y == -1 ? 7 : y))                                   \
	X(i32_remainder, i32, i32, x % (y == 0 || y == -1 ? 7 : y))                                \
	X(i32_by_constant, i32, i32, x / 7 + x % 13)                                               \
	X(i32_logic, i32, i32, (x & y) | (~x ^ z))                                                 \
	X(i32_shifts, i32, i32, (x << (y & 31)) ^ (x >> (z & 31)))                                 \
	X(i32_choose, i32, i32, x < y ? z : x >= z ? y : -x)                                       \
	X(u32_arithmetic, u32, u32, x *y + z)                                                      \
	X(u32_divide, u32, u32, x / (y | 1) + x % (z | 1))                                         \
	X(u32_shift, u32, u32, x >> (y & 31))                                                      \
	X(u32_compare, i32, u32, (x < y) + (y <= z) * 2 + (x > z) * 4)                             \
	X(i64_arithmetic, i64, i64, x *y + z)                                                      \
	X(i64_divide, i64, i64, x / (y == 0 || y == -1 ? 7 : y))                                   \
	X(i64_remainder, i64, i64, x % (y == 0 || y == -1 ? 7 : y))                                \
	X(u64_divide, u64, u64, x / (y | 1) + x % (z | 1))                                         \
	X(u64_shifts, u64, u64, (x << (y & 63)) ^ (x >> (z & 63)))                                 \
	X(i64_shift, i64, i64, x >> (y & 63))                                                      \
	X(i64_choose, i64, i64, x < y ? z : x)                                                     \
	X(i64_of_i32, i64, i32, (i64)x *y + (u32)z)                                                \
	X(i16_arithmetic, i16, i16, (i16)(x * y + z))                                              \
	X(i16_divide, i16, i16, (i16)(x / (y == 0 ? 3 : y)))                                       \
	X(u16_arithmetic, u16, u16, (u16)(x * y - z))                                              \
	X(u16_shift, u16, u16, (u16)(x >> (y & 15)))                                               \
	X(i8_arithmetic, i8, i8, (i8)(x * y + z))                                                  \
	X(i8_compare, i32, i8, (x < y) + 2 * (y == z))                                             \
	X(u8_arithmetic, u8, u8, (u8)(x + y / (z | 1)))                                            \
	X(cast_i8, i32, i32, (i8)x + (u8)y + (i16)z)                                               \
	X(cast_u64, u64, i32, (u64)(i64)x + (u32)y)                                                \
	X(f32_of_i32, f32, i32, (f32)x)                                                            \
	X(f32_of_u32, f32, u32, (f32)x)                                                            \
	X(f32_of_i64, f32, i64, (f32)x)                                                            \
	X(f32_of_u64, f32, u64, (f32)x)                                                            \
	X(f32_of_i8, f32, i8, (f32)x)                                                              \
	X(f64_of_i64, f64, i64, (f64)x)                                                            \
	X(f64_of_u64, f64, u64, (f64)x)                                                            \
	X(f64_of_i32, f64, i32, (f64)x)                                                            \
	X(f64_of_f32, f64, f32, (f64)x)                                                            \
	X(f32_of_f64, f32, f64, (f32)x)                                                            \
	X(i32_of_f32, i32, f32, x > -1e9f && x < 1e9f ? (i32)x : 5)                                \
	X(u32_of_f32, u32, f32, x >= 0 && x < 4e9f ? (u32)x : 5)                                   \
	X(i64_of_f32, i64, f32, x > -1e18f && x < 1e18f ? (i64)x : 5)                              \
	X(i8_of_f32, i8, f32, x > -100 && x < 100 ? (i8)x : 5)                                     \
	X(i32_of_f64, i32, f64, x > -1e9 && x < 1e9 ? (i32)x : 5)                                  \
	X(u64_of_f64, u64, f64, x >= 0 && x < 1e19 ? (u64)x : 5)                                   \
	X(f32_sum, f32, f32, x + y)                                                                \
	X(f32_difference, f32, f32, x - y)                                                         \
	X(f32_product, f32, f32, x *y)                                                             \
	X(f32_quotient, f32, f32, x / y)                                                           \
	X(f32_root, f32, f32, sqrtf(fabsf(x)))                                                     \
	X(f32_fma, f32, f32, fmaf(x, y, z))                                                        \
	X(f32_least, f32, f32, fminf(x, y == 0 ? 1 : y))                                           \
	X(f32_most, f32, f32, fmaxf(x, y == 0 ? 1 : y))                                            \
	X(f32_negative, f32, f32, -fabsf(x))                                                       \
	X(f32_sign, f32, f32, copysignf(x, y))                                                     \
	X(f32_floor, f32, f32, floorf(x))                                                          \
	X(f32_ceil, f32, f32, ceilf(x))                                                            \
	X(f32_trunc, f32, f32, truncf(x))                                                          \
	X(f32_rint, f32, f32, rintf(x))                                                            \
	X(f32_round, f32, f32, roundf(x))                                                          \
	X(f32_compare, i32, f32,                                                                   \
	  (x < y) + 2 * (x <= y) + 4 * (x > y) + 8 * (x >= y) + 16 * (x == y) + 32 * (x != y))     \
	X(f32_compare_not, i32, f32, !(x < y) + 2 * !(x <= y) + 4 * !(x > y) + 8 * !(x >= y))      \
	X(f32_classes, i32, f32,                                                                   \
	  !!isnan(x) + 2 * !!isinf(x) + 4 * !!isfinite(x) + 8 * !!signbit(x))                      \
	X(f64_sum, f64, f64, x + y)                                                                \
	X(f64_product, f64, f64, x *y)                                                             \
	X(f64_quotient, f64, f64, x / y)                                                           \
	X(f64_root, f64, f64, sqrt(fabs(x)))                                                       \
	X(f64_fma, f64, f64, fma(x, y, z))                                                         \
	X(f64_least, f64, f64, fmin(x, y == 0 ? 1 : y))                                            \
	X(f64_floor, f64, f64, floor(x) - ceil(y))                                                 \
	X(f64_compare, i32, f64, (x < y) + 2 * (x <= y) + 4 * (x == y) + 8 * !(x > y))

/* Functions: to a few units in the last place. */
#define NEAR_CASES(X)                                                                              \
	X(f32_exp, f32, f32, expf(x))                                                              \
	X(f32_exp2, f32, f32, exp2f(x))                                                            \
	X(f32_expm1, f32, f32, expm1f(x))                                                          \
	X(f32_log, f32, f32, logf(x))                                                              \
	X(f32_log2, f32, f32, log2f(x))                                                            \
	X(f32_log1p, f32, f32, log1pf(x))                                                          \
	X(f32_sin, f32, f32, sinf(x))                                                              \
	X(f32_cos, f32, f32, cosf(x))                                                              \
	X(f32_tan, f32, f32, tanf(x))                                                              \
	X(f32_tanh, f32, f32, tanhf(x))                                                            \
	X(f32_sinh, f32, f32, sinhf(x))                                                            \
	X(f32_atan2, f32, f32, atan2f(x, y))                                                       \
	X(f32_asin, f32, f32, asinf(x))                                                            \
	X(f32_pow, f32, f32, powf(fabsf(x), y))                                                    \
	X(f32_erf, f32, f32, erff(x))                                                              \
	X(f32_cbrt, f32, f32, cbrtf(x))                                                            \
	X(f32_fmod, f32, f32, fmodf(x, y))                                                         \
	X(f64_exp, f64, f64, exp(x))                                                               \
	X(f64_log, f64, f64, log(x))                                                               \
	X(f64_sin, f64, f64, sin(x))                                                               \
	X(f64_tanh, f64, f64, tanh(x))                                                             \
	X(f64_pow, f64, f64, pow(fabs(x), y))                                                      \
	X(f64_erf, f64, f64, erf(x))                                                               \
	X(f64_lgamma, f64, f64, lgamma(x))

#endif
