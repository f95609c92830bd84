/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Converts numbers of a caller to the bit patterns of a dtype, exactly or with an error, and back.
 */
#include "ops/number.h"

#include <inttypes.h>
#include <stdio.h>

#include "ops/complex_parts.h"
#include "program/cast.h"

struct tn_value_bits tn_bits_of_double(tn_dtype dtype, double value)
{
	return (struct tn_value_bits){
		{tn_cast_bits(TN_F64, tn_real_dtype(dtype), tn_bits_of_f64(value)), 0}};
}

/* Of an integer: i64 by its bits. */
static uint64_t bits_of(tn_number number)
{
	return number.dtype == TN_I64 ? (uint64_t)number.i64 : number.u64;
}

/* Does the integer, i64 or u64, keep its value in that dtype? */
static int fits(tn_number number, tn_dtype dtype)
{
	uint64_t bits = bits_of(number);
	int is_negative = number.dtype == TN_I64 && number.i64 < 0;
	unsigned width = 8 * (unsigned)tn_dtype_size(dtype);
	if (dtype == TN_BOOL)
		return bits <= 1;
	if (!tn_is_integer(dtype))
		return 1;
	if (tn_is_unsigned(dtype))
		return !is_negative && bits <= UINT64_MAX >> (64 - width);
	/* A negative number keeps its value when its complement does. */
	return (is_negative ? ~bits : bits) <= UINT64_MAX >> (65 - width);
}

uint64_t tn_number_cast(tn_number number, tn_dtype dtype)
{
	uint64_t bits = number.dtype == TN_F64 ? tn_bits_of_f64(number.f64) : bits_of(number);
	return tn_cast_bits(number.dtype, dtype, bits);
}

tn_status tn_number_bits(struct tn_runtime *runtime, const char *operation, const char *argument,
			 tn_number number, tn_dtype dtype, struct tn_value_bits *bits)
{
	tn_dtype part = tn_real_dtype(dtype);
	char text[32];
	*bits = (struct tn_value_bits){{0, 0}};
	switch (number.dtype) {
	case TN_F64:
		*bits = tn_bits_of_double(dtype, number.f64);
		return TN_OK;
	case TN_C128:
		if (!tn_is_complex(dtype))
			return tn_fail(&runtime->report, TN_DTYPE, operation,
				       "%s: a complex number for %s", argument,
				       tn_dtype_name(dtype));
		bits->part[0] = tn_cast_bits(TN_F64, part, tn_bits_of_f64(number.f64));
		bits->part[1] = tn_cast_bits(TN_F64, part, tn_bits_of_f64(number.imaginary));
		return TN_OK;
	case TN_I64:
	case TN_U64:
		break;
	default:
		return tn_fail(&runtime->report, TN_INVALID_ARGUMENT, operation,
			       "%s: expected a number of i64, u64, f64 or c128, found dtype %d",
			       argument, number.dtype);
	}
	if (!fits(number, dtype)) {
		snprintf(text, sizeof(text), number.dtype == TN_I64 ? "%" PRId64 : "%" PRIu64,
			 bits_of(number));
		return tn_fail(&runtime->report, TN_INVALID_ARGUMENT, operation,
			       "%s: %s does not fit %s", argument, text, tn_dtype_name(dtype));
	}
	bits->part[0] = tn_number_cast(number, part);
	return TN_OK;
}

tn_number tn_number_of_bits(tn_dtype dtype, const struct tn_value_bits *bits)
{
	tn_dtype part = tn_real_dtype(dtype);
	double value[2];
	if (tn_is_unsigned(dtype))
		return tn_number_u64(bits->part[0]);
	if (dtype == TN_BOOL || tn_is_integer(dtype))
		return tn_number_i64((int64_t)tn_cast_bits(dtype, TN_I64, bits->part[0]));
	for (int i = 0; i < 2; i++)
		value[i] = tn_f64_of_bits(tn_cast_bits(part, TN_F64, bits->part[i]));
	return tn_is_complex(dtype) ? tn_number_c128(value[0], value[1]) : tn_number_f64(value[0]);
}
