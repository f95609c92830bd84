/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Chooses one format for all elements of an array, and writes each in it.  The rules are those of
 * numpy/_core/arrayprint.py.
 */
#include "text/element_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/bits.h"
#include "base/dtype.h"
#include "text/float_text.h"

double tn_element_part(const struct tn_elements *elements, size_t i, int part)
{
	const tn_dtype dtype = tn_real_dtype(elements->dtype);
	const size_t size = tn_dtype_size(dtype);
	const size_t place = tn_is_complex(elements->dtype) ? 2 * i + (size_t)part : i;
	const char *at = (const char *)elements->data + place * size;
	return tn_dtype_information(dtype)->value_of(bits_load(at, size));
}

/* ---- Floating numbers ------------------------------------------------------------------------*/

/* The nearest number of a floating dtype. */
static double rounded(double value, tn_dtype dtype)
{
	const struct tn_dtype_info *info = tn_dtype_information(dtype);
	return info->value_of(info->bits_of(value));
}

/* Numbers from 10^8 on, or with more digits than a narrow dtype has, are scientific, and those
 * whose largest and smallest are far apart. */
static int is_scientific(double largest, double smallest, tn_dtype dtype, int suppress)
{
	const int digits =
		(int)((tn_dtype_information(dtype)->digits - 1) * 0.30102999566398119521);
	double limit = 1;
	for (int i = 0; i < 8 && i < digits; i++)
		limit *= 10;
	return largest >= limit || (!suppress && (smallest < rounded(0.0001, dtype) ||
						  rounded(largest / smallest, dtype) > 1000));
}

struct survey {
	size_t n_finite;
	int has_negative; /* a finite number with a sign, -0 too */
	int has_minus_infinity;
	double largest, smallest; /* |x|, of the finite ones but 0 */
};

static void survey_part(struct survey *survey, const struct tn_elements *elements, int part)
{
	*survey = (struct survey){0};
	for (size_t i = 0; i < elements->n; i++) {
		const double value = tn_element_part(elements, i, part), size = fabs(value);
		if (!isfinite(value)) {
			survey->has_minus_infinity |= value < 0;
			continue;
		}
		survey->n_finite++;
		survey->has_negative |= signbit(value) != 0;
		if (size > survey->largest)
			survey->largest = size;
		if (size != 0 && (survey->smallest == 0 || size < survey->smallest))
			survey->smallest = size;
	}
}

static int larger(int a, int b)
{
	return a > b ? a : b;
}

/* Widens the format to the parts of one number's text: SIGN DIGITS . DIGITS e+DIGITS. */
static void measure(struct tn_float_format *format, const char *text)
{
	const char *point = strchr(text, '.'), *exponent = strchr(text, 'e');
	const int after = (int)(exponent ? exponent - point - 1 : (long)strlen(point + 1));
	format->left = larger(format->left, (int)(point - text));
	format->right = larger(format->right, after);
	if (exponent)
		format->exponent_digits =
			larger(format->exponent_digits, (int)strlen(exponent + 2));
}

/* The widest of all numbers, each with as many digits as it takes. */
static void measure_all(struct tn_float_format *format, const struct tn_elements *elements,
			int part, struct tn_text *scratch)
{
	const struct tn_float_style style = {.is_exact = format->is_exact,
					     .precision = format->precision,
					     .least = -1,
					     .zeros = format->is_exact ? TN_ZEROS_KEPT
								       : TN_ZEROS_NONE,
					     .has_plus = format->has_plus,
					     .exponent_digits = 2};
	for (size_t i = 0; i < elements->n && !scratch->failed; i++) {
		const double value = tn_element_part(elements, i, part);
		if (!isfinite(value))
			continue;
		scratch->length = 0;
		(format->is_scientific ? tn_float_scientific : tn_float_positional)(
			scratch, value, format->dtype, &style);
		if (!scratch->failed)
			measure(format, scratch->data);
	}
}

static void set_digits(struct tn_float_format *format, uint32_t floatmode)
{
	if (format->is_scientific) {
		format->precision = format->least = format->right;
		format->keeps_zeros = 1;
		format->right += 2 + format->exponent_digits;
	} else if (floatmode == TN_FLOATMODE_FIXED || floatmode == TN_FLOATMODE_MAXPREC_EQUAL) {
		format->precision = format->least = format->right;
		format->keeps_zeros = 1;
	} else {
		format->least = 0;
	}
}

static void float_format_init(struct tn_float_format *format, const struct tn_elements *elements,
			      int part, int sign, const struct tn_print_options *options,
			      struct tn_text *scratch)
{
	struct survey survey;
	survey_part(&survey, elements, part);
	*format = (struct tn_float_format){
		.dtype = tn_real_dtype(elements->dtype),
		.precision = options->floatmode == TN_FLOATMODE_UNIQUE ? -1 : options->precision,
		.has_plus = sign == '+',
		.nanstr = options->nanstr,
		.infstr = options->infstr};
	if (survey.largest != 0)
		format->is_scientific = is_scientific(survey.largest, survey.smallest,
						      format->dtype, options->suppress != 0);
	if (survey.n_finite) {
		format->is_exact = options->floatmode == TN_FLOATMODE_FIXED;
		measure_all(format, elements, part, scratch);
		set_digits(format, options->floatmode);
	}
	if (sign == ' ' && !survey.has_negative)
		format->left++;
	if (survey.n_finite != elements->n) {
		const int signed_infinity = sign != '-' || survey.has_minus_infinity;
		const int offset = format->right + 1;
		format->left = larger(format->left, (int)strlen(format->nanstr) - offset);
		format->left = larger(format->left,
				      (int)strlen(format->infstr) + signed_infinity - offset);
	}
}

static void put_float(struct tn_text *text, const struct tn_float_format *format, double value)
{
	if (isfinite(value)) {
		const struct tn_float_style style = {.is_exact = format->is_exact,
						     .precision = format->precision,
						     .least = format->least,
						     .zeros = format->keeps_zeros ? TN_ZEROS_KEPT
										  : TN_ZEROS_NONE,
						     .has_plus = format->has_plus,
						     .left = format->left,
						     .right = format->right,
						     .exponent_digits = format->exponent_digits};
		(format->is_scientific ? tn_float_scientific
				       : tn_float_positional)(text, value, format->dtype, &style);
		return;
	}
	const char *sign = value < 0 ? "-" : format->has_plus ? "+" : "";
	const char *word = isnan(value) ? format->nanstr : format->infstr;
	tn_text_fill(text, ' ',
		     format->left + format->right + 1 - (int)(strlen(sign) + strlen(word)));
	tn_text_add(text, sign);
	tn_text_add(text, word);
}

/* The sum of both parts, with the letter before the blanks that fill the second. */
static void put_complex(struct tn_text *text, const struct tn_element_format *format,
			const struct tn_elements *elements, size_t i)
{
	put_float(text, &format->part[0], tn_element_part(elements, i, 0));
	put_float(text, &format->part[1], tn_element_part(elements, i, 1));
	int blanks = 0;
	while (!text->failed && text->length && text->data[text->length - 1] == ' ') {
		text->length--;
		blanks++;
	}
	tn_text_add(text, "j");
	tn_text_fill(text, ' ', blanks);
}

/* ---- Integers --------------------------------------------------------------------------------*/

struct integer {
	uint64_t magnitude;
	int is_negative;
};

static struct integer integer_of(const struct tn_elements *elements, size_t i)
{
	const size_t size = tn_dtype_size(elements->dtype);
	const uint64_t bits = bits_load((const char *)elements->data + i * size, size);
	const uint64_t top = (uint64_t)1 << (8 * size - 1);
	struct integer value = {bits, 0};
	if (!tn_is_unsigned(elements->dtype) && bits & top) {
		value.is_negative = 1;
		value.magnitude = (top << 1) - bits; /* of i64: 2^64 - bits */
	}
	return value;
}

static int width_of(struct integer value)
{
	int width = 1 + value.is_negative;
	for (uint64_t rest = value.magnitude; rest > 9; rest /= 10)
		width++;
	return width;
}

static void integer_format_init(struct tn_element_format *format,
				const struct tn_elements *elements, int sign)
{
	int has_negative = 0, has_other = 0, other_width = 0;
	for (size_t i = 0; i < elements->n; i++) {
		const struct integer value = integer_of(elements, i);
		if (value.is_negative) {
			has_negative = 1;
			format->width = larger(format->width, width_of(value));
		} else {
			has_other = 1;
			other_width = larger(other_width, width_of(value));
		}
	}
	format->sign = (char)(sign == ' ' && has_negative ? '-' : sign);
	if (has_other)
		format->width = larger(format->width, other_width + (format->sign != '-'));
}

static void put_integer(struct tn_text *text, const struct tn_elements *elements, size_t i,
			char sign, int width)
{
	const struct integer value = integer_of(elements, i);
	char digits[24];
	snprintf(digits, sizeof(digits), "%s%" PRIu64,
		 value.is_negative ? "-"
		 : sign == '+'     ? "+"
		 : sign == ' '     ? " "
				   : "",
		 value.magnitude);
	tn_text_fill(text, ' ', width - (int)strlen(digits));
	tn_text_add(text, digits);
}

/* ---- Elements --------------------------------------------------------------------------------*/

static int is_true(const struct tn_elements *elements, size_t i)
{
	return ((const unsigned char *)elements->data)[i] != 0;
}

void tn_element_format_init(struct tn_element_format *format, const struct tn_elements *elements,
			    const struct tn_print_options *options)
{
	struct tn_text scratch;
	*format = (struct tn_element_format){.aligned = elements->rank > 0};
	tn_text_init(&scratch);
	if (tn_is_inexact(elements->dtype))
		float_format_init(&format->part[0], elements, 0, options->sign, options, &scratch);
	if (tn_is_complex(elements->dtype))
		float_format_init(&format->part[1], elements, 1, '+', options, &scratch);
	if (tn_is_integer(elements->dtype))
		integer_format_init(format, elements, options->sign);
	tn_text_release(&scratch);
}

void tn_element_put(struct tn_text *text, const struct tn_element_format *format,
		    const struct tn_elements *elements, size_t i)
{
	if (tn_is_complex(elements->dtype))
		put_complex(text, format, elements, i);
	else if (tn_is_floating(elements->dtype))
		put_float(text, &format->part[0], tn_element_part(elements, i, 0));
	else if (tn_is_integer(elements->dtype))
		put_integer(text, elements, i, format->sign, format->width);
	else
		tn_text_add(text, !is_true(elements, i) ? "False"
				  : format->aligned     ? " True"
							: "True");
}

/* A number with all digits; without ".0" as a part of a complex one. */
static void put_float_alone(struct tn_text *text, double value, tn_dtype dtype, int is_part,
			    int has_plus)
{
	const int digits =
		(int)((tn_dtype_information(dtype)->digits - 1) * 0.30102999566398119521);
	double size = fabs(value), limit = 1;
	struct tn_float_style style = {.precision = -1,
				       .least = -1,
				       .zeros = is_part ? TN_ZEROS_NO_POINT : TN_ZEROS_ONE,
				       .has_plus = has_plus,
				       .exponent_digits = 2};
	for (int i = 0; i < (dtype == TN_F64 ? 16 : digits); i++)
		limit *= 10;
	if (!isfinite(value)) {
		tn_text_add(text, value < 0 ? "-" : has_plus ? "+" : "");
		tn_text_add(text, isnan(value) ? "nan" : "inf");
	} else if (size == 0 || (size < limit && size >= 1e-4)) {
		tn_float_positional(text, value, dtype, &style);
	} else {
		style.zeros = TN_ZEROS_NO_POINT;
		tn_float_scientific(text, value, dtype, &style);
	}
}

void tn_element_put_alone(struct tn_text *text, const struct tn_elements *elements, size_t i)
{
	const tn_dtype part = tn_real_dtype(elements->dtype);
	const struct tn_element_format plain = {.sign = '-'};
	if (!tn_is_inexact(elements->dtype)) {
		tn_element_put(text, &plain, elements, i);
		return;
	}
	const double real = tn_element_part(elements, i, 0);
	if (!tn_is_complex(elements->dtype)) {
		put_float_alone(text, real, part, 0, 0);
		return;
	}
	const double imaginary = tn_element_part(elements, i, 1);
	if (real == 0 && !signbit(real)) {
		put_float_alone(text, imaginary, part, 1, 0);
		tn_text_add(text, "j");
		return;
	}
	tn_text_add(text, "(");
	put_float_alone(text, real, part, 1, 0);
	put_float_alone(text, imaginary, part, 1, 1);
	tn_text_add(text, "j)");
}
