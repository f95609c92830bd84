/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Parses a printf conversion for one number, and writes numbers by it without printf.
 */
#include "text/number_format.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "text/float_text.h"

/* ---- Reading ---------------------------------------------------------------------------------*/

/* At most TN_NUMBER_FORMAT_MOST; 0 if it is more. */
static int read_count(const char **text, int *count)
{
	*count = 0;
	for (; **text >= '0' && **text <= '9'; ++*text) {
		*count = *count * 10 + (**text - '0');
		if (*count > TN_NUMBER_FORMAT_MOST)
			return 0;
	}
	return 1;
}

static void read_flags(const char **text, struct tn_number_format *format)
{
	for (; **text && strchr("-+ 0", **text); ++*text) {
		if (**text == '-')
			format->is_left = 1;
		else if (**text == '0')
			format->has_zeros = 1;
		else if (format->sign != '+')
			format->sign = **text;
	}
}

static const char *parse(const char **text, struct tn_number_format *format)
{
	*format = (struct tn_number_format){.precision = -1};
	if (**text != '%')
		return "'%'";
	++*text;
	read_flags(text, format);
	if (!read_count(text, &format->width))
		return "a width of at most 1000";
	if (**text == '.') {
		++*text;
		if (!read_count(text, &format->precision))
			return "a precision of at most 1000";
	}
	if (!**text || !strchr("dieEfFgG", **text))
		return "one of d i e E f F g G";
	format->conversion = **text == 'i' ? 'd' : **text;
	++*text;
	return **text ? "the end" : NULL;
}

const char *tn_number_format_parse(const char *text, struct tn_number_format *format, size_t *at)
{
	const char *place = text;
	const char *expected = parse(&place, format);
	*at = (size_t)(place - text);
	return expected;
}

/* ---- Writing ---------------------------------------------------------------------------------*/

static const char *sign_of(const struct tn_number_format *format, int is_negative)
{
	return is_negative ? "-" : format->sign == '+' ? "+" : format->sign == ' ' ? " " : "";
}

/* Sign and digits in the format's width. */
static void put_padded(struct tn_text *text, const struct tn_number_format *format,
		       const char *sign, const struct tn_text *digits)
{
	const int fill = format->width - (int)(strlen(sign) + digits->length);
	const int zeros = format->has_zeros && !format->is_left;
	if (!zeros && !format->is_left)
		tn_text_fill(text, ' ', fill);
	tn_text_add(text, sign);
	if (zeros)
		tn_text_fill(text, '0', fill);
	tn_text_append(text, digits->data ? digits->data : "", digits->length);
	if (format->is_left)
		tn_text_fill(text, ' ', fill);
	text->failed |= digits->failed;
}

/* As many digits as the precision says, and no zeros at the end: %g. */
static void put_general(struct tn_text *digits, double size, int precision)
{
	struct tn_float_style style = {
		.is_exact = 1, .zeros = TN_ZEROS_NO_POINT, .exponent_digits = 2};
	struct tn_digits found;
	const int most = precision < 0 ? 6 : precision ? precision : 1;
	const struct tn_digits_wanted wanted = {.is_exact = 1, .most = most};
	tn_digits_of(size, TN_F64, &wanted, &found);
	const int is_scientific = found.exponent < -4 || found.exponent >= most;
	style.precision = is_scientific ? most - 1 : most - 1 - found.exponent;
	(is_scientific ? tn_float_scientific : tn_float_positional)(digits, size, TN_F64, &style);
}

static void put_digits(struct tn_text *digits, const struct tn_number_format *format, double size)
{
	struct tn_float_style style = {.is_exact = 1, .exponent_digits = 2};
	style.precision = format->precision < 0 ? 6 : format->precision;
	style.zeros = style.precision ? TN_ZEROS_KEPT : TN_ZEROS_NO_POINT;
	switch (format->conversion) {
	case 'e':
	case 'E':
		tn_float_scientific(digits, size, TN_F64, &style);
		break;
	case 'g':
	case 'G':
		put_general(digits, size, format->precision);
		break;
	default:
		tn_float_positional(digits, size, TN_F64, &style);
	}
}

static void to_upper(struct tn_text *text)
{
	for (size_t i = 0; i < text->length; i++) {
		if (text->data[i] >= 'a' && text->data[i] <= 'z')
			text->data[i] = (char)(text->data[i] - 'a' + 'A');
	}
}

/* At least `precision` digits. */
static void put_integer_digits(struct tn_text *text, const struct tn_number_format *format,
			       const char *sign, struct tn_text *digits)
{
	struct tn_text all;
	tn_text_init(&all);
	tn_text_fill(&all, '0', format->precision - (int)digits->length);
	tn_text_append(&all, digits->data ? digits->data : "", digits->length);
	all.failed |= digits->failed;
	put_padded(text, format, sign, &all);
	tn_text_release(&all);
}

void tn_number_put(struct tn_text *text, const struct tn_number_format *format, double value)
{
	struct tn_text digits;
	const char *sign = sign_of(format, signbit(value) && !isnan(value));
	tn_text_init(&digits);
	if (!isfinite(value)) {
		tn_text_add(&digits, isnan(value) ? "nan" : "inf");
	} else if (format->conversion == 'd') {
		const struct tn_float_style style = {.is_exact = 1, .zeros = TN_ZEROS_NO_POINT};
		tn_float_positional(&digits, trunc(fabs(value)), TN_F64, &style);
		put_integer_digits(text, format, sign_of(format, value <= -1), &digits);
	} else {
		put_digits(&digits, format, fabs(value));
	}
	if (format->conversion >= 'E' && format->conversion <= 'G')
		to_upper(&digits);
	if (format->conversion != 'd' || !isfinite(value))
		put_padded(text, format, sign, &digits);
	tn_text_release(&digits);
}

void tn_integer_put(struct tn_text *text, const struct tn_number_format *format, uint64_t magnitude,
		    int is_negative)
{
	struct tn_text digits;
	if (format->conversion != 'd') {
		tn_number_put(text, format, is_negative ? -(double)magnitude : (double)magnitude);
		return;
	}
	tn_text_init(&digits);
	tn_text_format(&digits, "%" PRIu64, magnitude);
	put_integer_digits(text, format, sign_of(format, is_negative), &digits);
	tn_text_release(&digits);
}
