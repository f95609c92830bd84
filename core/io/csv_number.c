/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Decimal numbers, NaN and infinities, whose syntax is checked first.
 */
#include "io/csv_number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/decimal.h"
#include "base/float_modes.h"

static const char *read_integer(const char *text, int negative, int64_t *value)
{
	uint64_t most = (uint64_t)INT64_MAX + (uint64_t)negative, magnitude = 0;
	if (!*text || text[strspn(text, "0123456789")])
		return "an integer";
	for (; *text; text++) {
		uint64_t digit = (uint64_t)(*text - '0');
		if (magnitude > (most - digit) / 10)
			return "an integer of i64, from -2^63 to 2^63 - 1";
		magnitude = magnitude * 10 + digit;
	}
	*value = negative ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
	return NULL;
}

/* A decimal number, nan or inf, into what `value` points at. */
static const char *read_floating(const char *text, int decimal, tn_dtype dtype, locale_t c_locale,
				 void *value)
{
	if (dtype == TN_F32) {
		float number = strtof_l(text, NULL, c_locale);
		if (decimal && isinf(number))
			return "a number of f32, at most 3.4028235e38";
		memcpy(value, &number, sizeof(number));
		return NULL;
	}
	double number = strtod_l(text, NULL, c_locale);
	if (decimal && isinf(number))
		return "a number of f64, at most 1.7976931348623157e308";
	memcpy(value, &number, sizeof(number));
	return NULL;
}

const char *tn_csv_number(const char *text, tn_dtype dtype, locale_t c_locale, void *value)
{
	const char *digits = text + (*text == '-' || *text == '+');
	if (dtype == TN_I64)
		return read_integer(digits, *text == '-', value);
	int decimal = tn_is_decimal(digits);
	if (!decimal && strcasecmp_l(digits, "nan", c_locale) &&
	    strcasecmp_l(digits, "inf", c_locale) && strcasecmp_l(digits, "infinity", c_locale))
		return "a number";
	struct tn_float_modes modes;
	tn_float_modes_standard(&modes);
	const char *expected = read_floating(text, decimal, dtype, c_locale, value);
	tn_float_modes_restore(&modes);
	return expected;
}
