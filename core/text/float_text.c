/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Writes a floating number's digits in positional or scientific form, with sign, blanks and zeros
 * as the style says.
 */
#include "text/float_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void tn_text_fill(struct tn_text *text, char byte, int count)
{
	char bytes[64];
	memset(bytes, byte, sizeof(bytes));
	for (; count > 0; count -= (int)sizeof(bytes))
		tn_text_append(text, bytes,
			       count < (int)sizeof(bytes) ? (size_t)count : sizeof(bytes));
}

/* Blanks, a sign, so that the `whole` columns after it end at style->left. */
static void put_sign(struct tn_text *text, double value, const struct tn_float_style *style,
		     int whole)
{
	const char *sign = signbit(value) ? "-" : style->has_plus ? "+" : "";
	tn_text_fill(text, ' ', style->left - whole - (int)strlen(sign));
	tn_text_add(text, sign);
}

/* Digits first to digits->n of the fraction, after `zeros` of it, and what follows them.  Returns
 * the columns after the point; *has_point: is there one? */
static int put_fraction(struct tn_text *text, const struct tn_digits *digits, int first, int zeros,
			const struct tn_float_style *style, int *has_point)
{
	const int fill = style->is_exact ? style->precision : style->least;
	int end = digits->n, length;
	if (style->zeros != TN_ZEROS_KEPT) {
		while (end > first && digits->digit[end - 1] == '0')
			end--;
	}
	if (first >= end) {
		first = end;
		if (style->zeros != TN_ZEROS_KEPT)
			zeros = 0;
	}
	length = zeros + end - first;
	*has_point = length || style->zeros != TN_ZEROS_NO_POINT;
	if (*has_point)
		tn_text_add(text, ".");
	tn_text_fill(text, '0', zeros);
	tn_text_append(text, digits->digit + first, (size_t)(end - first));
	if (style->zeros == TN_ZEROS_KEPT && fill > length) {
		tn_text_fill(text, '0', fill - length);
		length = fill;
	}
	if (style->zeros == TN_ZEROS_ONE && !length) {
		tn_text_add(text, "0");
		length = 1;
	}
	return length;
}

void tn_float_positional(struct tn_text *text, double value, tn_dtype dtype,
			 const struct tn_float_style *style)
{
	const struct tn_digits_wanted wanted = {.is_exact = style->is_exact,
						.is_fractional = 1,
						.most = style->precision,
						.least = style->least};
	struct tn_digits digits;
	int has_point;
	tn_digits_of(value, dtype, &wanted, &digits);
	const int whole = digits.exponent < 0 ? 1 : digits.exponent + 1;
	const int before = digits.exponent < 0 ? 0 : digits.n < whole ? digits.n : whole;
	put_sign(text, value, style, whole);
	tn_text_append(text, digits.exponent < 0 ? "0" : digits.digit,
		       (size_t)(before ? before : 1));
	tn_text_fill(text, '0', whole - (before ? before : 1));
	const int after =
		put_fraction(text, &digits, before, digits.exponent < 0 ? -digits.exponent - 1 : 0,
			     style, &has_point);
	tn_text_fill(text, ' ', style->right - after + (style->right && !has_point));
}

void tn_float_scientific(struct tn_text *text, double value, tn_dtype dtype,
			 const struct tn_float_style *style)
{
	const struct tn_digits_wanted wanted = {.is_exact = style->is_exact,
						.most = style->precision < 0 ? -1
									     : style->precision + 1,
						.least = style->least + 1};
	struct tn_digits digits;
	int has_point;
	tn_digits_of(value, dtype, &wanted, &digits);
	put_sign(text, value, style, 1);
	tn_text_append(text, digits.digit, 1);
	put_fraction(text, &digits, 1, 0, style, &has_point);
	tn_text_format(text, "e%c%0*d", digits.exponent < 0 ? '-' : '+', style->exponent_digits,
		       abs(digits.exponent));
}
