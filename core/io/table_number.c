/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Reads integers, floating, boolean and complex numbers from the fields of tables of text, rounded
 * once and independent of the program's locale.
 */
#include "io/table_number.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/bits.h"
#include "base/dtype.h"
#include "io/csv_number.h"
#include "program/cast.h"

/* ---- Integers --------------------------------------------------------------------------------*/

static const char *read_u64(const char *text, void *value)
{
	const char *digit = text + (*text == '+');
	uint64_t number = 0;
	if (!*digit || digit[strspn(digit, "0123456789")])
		return "an integer of u64, from 0 to 2^64 - 1";
	for (; *digit; digit++) {
		const uint64_t next = (uint64_t)(*digit - '0');
		if (number > (UINT64_MAX - next) / 10)
			return "an integer of u64, from 0 to 2^64 - 1";
		number = number * 10 + next;
	}
	memcpy(value, &number, sizeof(number));
	return NULL;
}

static const char *read_integer(const char *text, tn_dtype dtype, locale_t c_locale, void *value)
{
	static const char *const ranges[TN_DTYPES] = {
		[TN_BOOL] = "a bool, 0 or 1",
		[TN_I8] = "an integer of i8, from -128 to 127",
		[TN_I16] = "an integer of i16, from -32768 to 32767",
		[TN_I32] = "an integer of i32, from -2^31 to 2^31 - 1",
		[TN_U8] = "an integer of u8, from 0 to 255",
		[TN_U16] = "an integer of u16, from 0 to 65535",
		[TN_U32] = "an integer of u32, from 0 to 2^32 - 1",
	};
	const size_t size = tn_dtype_size(dtype);
	int64_t number;
	const char *expected = tn_csv_number(text, TN_I64, c_locale, &number);
	if (expected || dtype == TN_I64) {
		if (!expected)
			memcpy(value, &number, sizeof(number));
		return expected;
	}
	const int is_signed = !tn_is_unsigned(dtype) && dtype != TN_BOOL;
	const int64_t high =
		dtype == TN_BOOL ? 1 : ((int64_t)1 << (8 * size - (size_t)is_signed)) - 1;
	if (number > high || number < (is_signed ? -high - 1 : 0))
		return ranges[dtype];
	bits_store(value, size, (uint64_t)number);
	return NULL;
}

/* ---- Floating numbers ------------------------------------------------------------------------*/

static const char *read_narrow(const char *text, tn_dtype dtype, locale_t c_locale, void *value)
{
	double number;
	const char *expected = tn_csv_number(text, TN_F64, c_locale, &number);
	if (expected)
		return expected;
	const uint64_t bits = tn_cast_bits(TN_F64, dtype, tn_bits_of_f64(number));
	if (isfinite(number) && isinf(tn_dtype_information(dtype)->value_of(bits)))
		return dtype == TN_F16 ? "a number of f16, at most 65504"
				       : "a number of bf16, at most 3.3895314e38";
	bits_store(value, tn_dtype_size(dtype), bits);
	return NULL;
}

/* The sign between the two parts of a complex number, or its end. */
static size_t split_of(const char *text, size_t length)
{
	for (size_t i = length; i-- > 1;) {
		if ((text[i] == '+' || text[i] == '-') && text[i - 1] != 'e' && text[i - 1] != 'E')
			return i;
	}
	return 0;
}

/* The whole of text[0 .. length), with another byte after it. */
static const char *read_part(char *text, size_t length, tn_dtype part, locale_t c_locale,
			     void *value)
{
	const char after = text[length];
	text[length] = '\0';
	const char *expected = tn_csv_number(text, part, c_locale, value);
	text[length] = after;
	return expected;
}

/* 1, 2j, 1+2j, with or without parentheses. */
static const char *read_complex(char *text, tn_dtype dtype, locale_t c_locale, void *value)
{
	static const char expected[] = "a complex number such as 1+2j";
	const tn_dtype part = tn_real_dtype(dtype);
	const size_t size = tn_dtype_size(part);
	unsigned char *parts = value;
	size_t length = strlen(text);
	if (length > 1 && text[0] == '(' && text[length - 1] == ')') {
		text++;
		length -= 2;
		for (; length && *text == ' '; length--)
			text++;
		while (length && text[length - 1] == ' ')
			length--;
	}
	memset(value, 0, 2 * size);
	if (!length)
		return expected;
	if (text[length - 1] != 'j' && text[length - 1] != 'J')
		return read_part(text, length, part, c_locale, parts) ? expected : NULL;
	const size_t split = split_of(text, length);
	if ((split && read_part(text, split, part, c_locale, parts)) ||
	    read_part(text + split, length - 1 - split, part, c_locale, parts + size))
		return expected;
	return NULL;
}

const char *tn_table_number(char *text, tn_dtype dtype, locale_t c_locale, void *value)
{
	switch (dtype) {
	case TN_F32:
	case TN_F64:
		return tn_csv_number(text, dtype, c_locale, value);
	case TN_F16:
	case TN_BF16:
		return read_narrow(text, dtype, c_locale, value);
	case TN_C64:
	case TN_C128:
		return read_complex(text, dtype, c_locale, value);
	case TN_U64:
		return read_u64(text, value);
	default:
		return read_integer(text, dtype, c_locale, value);
	}
}

void tn_table_fill(double number, tn_dtype dtype, void *value)
{
	const tn_dtype part = tn_real_dtype(dtype);
	const uint64_t bits = tn_cast_bits(TN_F64, part, tn_bits_of_f64(number));
	memset(value, 0, tn_dtype_size(dtype));
	bits_store(value, tn_dtype_size(part), bits);
}
