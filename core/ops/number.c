/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * See number.h.
 */
#include "ops/number.h"

#include <inttypes.h>
#include <stdio.h>

#include "program/cast.h"

static tn_dtype part_of(tn_dtype dtype)
{
	if (!tn_is_complex(dtype))
		return dtype;
	return dtype == TN_C64 ? TN_F32 : TN_F64;
}

struct tn_value_bits tn_bits_of_double(tn_dtype dtype, double value)
{
	return (struct tn_value_bits){
		{tn_cast_bits(TN_F64, part_of(dtype), tn_bits_of_f64(value)), 0}};
}

/* Does the integer, i64 or u64, keep its value in that dtype? */
static int fits(tn_number number, tn_dtype dtype)
{
	int is_negative = number.dtype == TN_I64 && number.as.i64 < 0;
	unsigned width = 8 * (unsigned)tn_dtype_size(dtype);
	if (dtype == TN_BOOL)
		return number.as.u64 <= 1;
	if (!tn_is_integer(dtype))
		return 1;
	if (tn_is_unsigned(dtype))
		return !is_negative && number.as.u64 <= UINT64_MAX >> (64 - width);
	/* A negative number keeps its value when its complement does. */
	return (is_negative ? ~number.as.u64 : number.as.u64) <= UINT64_MAX >> (65 - width);
}

tn_status tn_number_bits(struct tn_runtime *runtime, const char *operation, const char *argument,
			 tn_number number, tn_dtype dtype, struct tn_value_bits *bits)
{
	tn_dtype part = part_of(dtype);
	char text[32];
	*bits = (struct tn_value_bits){{0, 0}};
	switch (number.dtype) {
	case TN_F64:
		*bits = tn_bits_of_double(dtype, number.as.f64);
		return TN_OK;
	case TN_C128:
		if (!tn_is_complex(dtype))
			return tn_fail(&runtime->report, TN_DTYPE, operation,
				       "%s: a complex number for %s", argument,
				       tn_dtype_name(dtype));
		for (int i = 0; i < 2; i++)
			bits->part[i] =
				tn_cast_bits(TN_F64, part, tn_bits_of_f64(number.as.c128[i]));
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
			 number.as.u64);
		return tn_fail(&runtime->report, TN_INVALID_ARGUMENT, operation,
			       "%s: %s does not fit %s", argument, text, tn_dtype_name(dtype));
	}
	bits->part[0] = tn_cast_bits(number.dtype, part, number.as.u64);
	return TN_OK;
}

tn_number tn_number_of_bits(tn_dtype dtype, const struct tn_value_bits *bits)
{
	tn_dtype part = part_of(dtype);
	double value[2];
	if (tn_is_unsigned(dtype))
		return tn_number_u64(bits->part[0]);
	if (dtype == TN_BOOL || tn_is_integer(dtype))
		return tn_number_i64((int64_t)tn_cast_bits(dtype, TN_I64, bits->part[0]));
	for (int i = 0; i < 2; i++)
		value[i] = tn_f64_of_bits(tn_cast_bits(part, TN_F64, bits->part[i]));
	return tn_is_complex(dtype) ? tn_number_c128(value[0], value[1]) : tn_number_f64(value[0]);
}
