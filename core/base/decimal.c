/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * strtod accepts more (blanks, hexadecimal numbers, "nan(1)"), so that the syntax is checked first.
 */
#include "base/decimal.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>

#include "base/float_modes.h"

static const char *skip_digits(const char *text)
{
	while (*text >= '0' && *text <= '9')
		text++;
	return text;
}

int tn_is_decimal(const char *text)
{
	const char *end = skip_digits(text);
	int digits = end != text;
	if (*end == '.') {
		const char *fraction = end + 1;
		end = skip_digits(fraction);
		digits |= end != fraction;
	}
	if (digits && (*end == 'e' || *end == 'E')) {
		const char *exponent = end + 1 + (end[1] == '-' || end[1] == '+');
		end = skip_digits(exponent);
		digits = end != exponent;
	}
	return digits && !*end;
}

int tn_decimal_read(const char *text, double *value)
{
	struct tn_float_modes modes;
	if (!tn_is_decimal(text + (*text == '-' || *text == '+')))
		return 0;
	locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	if (!c_locale)
		return 0;
	tn_float_modes_standard(&modes);
	*value = strtod_l(text, NULL, c_locale);
	tn_float_modes_restore(&modes);
	freelocale(c_locale);
	return isfinite(*value);
}
