/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Numbers as arguments, of any kind and exact: a double holds neither every i64 or u64 nor a
 * complex number.
 *
 *     tn_array *id = tn_full_number(ctx, TN_I64, 0, NULL, tn_number_i64(9007199254740993));
 *     tn_array *unit = tn_full_number(ctx, TN_C64, 0, NULL, tn_number_c128(0, 1));
 *
 * An integer number must fit the dtype that it becomes (TN_INVALID_ARGUMENT); a floating one is
 * converted by the rules of the cast (tenon-program(7)); a complex one becomes complex dtypes alone
 * (TN_DTYPE).
 */
#ifndef TENON_NUMBER_H
#define TENON_NUMBER_H

#include <tenon/types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tn_number tn_number;

/* The dtype says which member counts; the others are 0. */
struct tn_number {
	tn_dtype dtype; /* TN_I64, TN_U64, TN_F64 or TN_C128 */
	uint32_t reserved;
	int64_t i64;
	uint64_t u64;
	double f64;       /* of TN_C128 the real part */
	double imaginary; /* of TN_C128 */
};

static inline tn_number tn_number_i64(int64_t value)
{
	tn_number number = {TN_I64, 0, value, 0, 0, 0};
	return number;
}

static inline tn_number tn_number_u64(uint64_t value)
{
	tn_number number = {TN_U64, 0, 0, value, 0, 0};
	return number;
}

static inline tn_number tn_number_f64(double value)
{
	tn_number number = {TN_F64, 0, 0, 0, value, 0};
	return number;
}

static inline tn_number tn_number_c128(double real, double imaginary)
{
	tn_number number = {TN_C128, 0, 0, 0, real, imaginary};
	return number;
}

#ifdef __cplusplus
}
#endif
#endif
