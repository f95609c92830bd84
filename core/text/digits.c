/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Finds the decimal digits of a floating number: the fewest that tell it from its neighbours, or as
 * many as are asked for.
 *
 * The value is the quotient of two natural numbers, from which one digit after the other is
 * divided; beside it goes the distance to the middles between the number and its neighbours, which
 * says when the digits tell it from them.  (Guy L. Steele and Jon L. White, How to Print
 * Floating-Point Numbers Accurately, 1990.)
 */
#include "text/digits.h"

#include <math.h>

#include "base/dtype.h"
#include "text/big.h"

/* value / scale, to be printed as digits from that of 10^(exponent - 1) on; the middles are low /
 * scale below and high / scale above it. */
struct state {
	struct tn_big value, scale, low, high;
	int exponent;
	int is_even; /* a middle itself is read as this number */
};

/* The exponent of the lowest bit of a dtype's least number. */
static int least_exponent(tn_dtype dtype)
{
	switch (dtype) {
	case TN_F16:
		return -24;
	case TN_BF16:
		return -133;
	case TN_F32:
		return -149;
	default:
		return -1074;
	}
}

/* A number and its two middles, as fractions; *first is the number of the highest bit. */
static void set_fraction(struct state *s, double value, tn_dtype dtype, int *first)
{
	const int digits = tn_dtype_information(dtype)->digits, least = least_exponent(dtype);
	frexp(value, first);
	const int exponent = *first - digits > least ? *first - digits : least;
	const uint64_t mantissa = (uint64_t)ldexp(value, -exponent);
	/* The neighbour below a power of 2 is nearer than that above. */
	const int is_uneven = mantissa == (uint64_t)1 << (digits - 1) && exponent > least;
	tn_big_set(&s->value, mantissa << (1 + is_uneven));
	tn_big_set(&s->scale, 2u << is_uneven);
	tn_big_set(&s->low, 1);
	tn_big_set(&s->high, 1u << is_uneven);
	if (exponent > 0) {
		tn_big_shift_left(&s->value, exponent);
		tn_big_shift_left(&s->low, exponent);
		tn_big_shift_left(&s->high, exponent);
	} else {
		tn_big_shift_left(&s->scale, -exponent);
	}
	s->is_even = !(mantissa & 1);
}

/* Middles further away than a unit of the digit say all that they will. */
static void multiply_by_10(struct state *s)
{
	tn_big_multiply(&s->value, 10);
	if (tn_big_compare(&s->low, &s->scale) > 0)
		return;
	tn_big_multiply(&s->low, 10);
	tn_big_multiply(&s->high, 10);
}

/* Scales the fraction so that its first digit is that before the point. */
static void set_exponent(struct state *s, int first, const struct tn_digits_wanted *wanted)
{
	/* log10(value), at most 1 too small. */
	s->exponent = (int)ceil((first - 1) * 0.30102999566398119521 - 0.69);
	/* A number below the last digit that is wanted has that one only. */
	if (wanted->most >= 0 && wanted->is_fractional && s->exponent <= -wanted->most)
		s->exponent = 1 - wanted->most;
	if (s->exponent > 0) {
		tn_big_multiply_power_of_10(&s->scale, s->exponent);
	} else {
		tn_big_multiply_power_of_10(&s->value, -s->exponent);
		tn_big_multiply_power_of_10(&s->low, -s->exponent);
		tn_big_multiply_power_of_10(&s->high, -s->exponent);
	}
	if (tn_big_compare(&s->value, &s->scale) >= 0)
		s->exponent++;
	else
		multiply_by_10(s);
}

static int divide(struct state *s)
{
	int digit = 0;
	for (; tn_big_compare(&s->value, &s->scale) >= 0; digit++)
		tn_big_subtract(&s->value, &s->scale);
	return digit;
}

/* Do the digits so far, and those with the last one raised, lie between the middles? */
static void compare_middles(const struct state *s, int *is_low, int *is_high)
{
	struct tn_big above = s->value;
	tn_big_add(&above, &s->high);
	const int low = tn_big_compare(&s->value, &s->low);
	const int high = tn_big_compare(&above, &s->scale);
	*is_low = s->is_even ? low <= 0 : low < 0;
	*is_high = s->is_even ? high >= 0 : high > 0;
}

/* Is the rest nearer to 0 than to a unit of the last digit?  Half a unit goes to the even digit. */
static int rounds_down(struct state *s, int digit)
{
	tn_big_shift_left(&s->value, 1);
	const int half = tn_big_compare(&s->value, &s->scale);
	return half < 0 || (half == 0 && !(digit & 1));
}

static void raise_last(struct tn_digits *digits)
{
	while (digits->n && digits->digit[digits->n - 1] == '9')
		digits->n--;
	if (digits->n) {
		digits->digit[digits->n - 1]++;
	} else {
		digits->digit[digits->n++] = '1';
		digits->exponent++;
	}
}

void tn_digits_of(double value, tn_dtype dtype, const struct tn_digits_wanted *wanted,
		  struct tn_digits *digits)
{
	struct state s;
	int first, is_low = 0, is_high = 0, digit;
	digits->n = 0;
	digits->exponent = 0;
	if (value == 0) {
		digits->digit[digits->n++] = '0';
		return;
	}
	set_fraction(&s, fabs(value), dtype, &first);
	set_exponent(&s, first, wanted);
	digits->exponent = s.exponent - 1;
	int last = s.exponent - (TN_DIGITS_ROOM - 1), enough = s.exponent;
	if (wanted->most >= 0)
		last = wanted->is_fractional ? -wanted->most : s.exponent - wanted->most;
	if (wanted->least >= 0)
		enough = wanted->is_fractional ? -wanted->least : s.exponent - wanted->least;
	for (;;) {
		s.exponent--;
		digit = divide(&s);
		if (!wanted->is_exact)
			compare_middles(&s, &is_low, &is_high);
		if (s.exponent <= last || (wanted->is_exact && !s.value.n) ||
		    ((is_low || is_high) && s.exponent <= enough))
			break;
		digits->digit[digits->n++] = (char)('0' + digit);
		multiply_by_10(&s);
	}
	digits->digit[digits->n++] = (char)('0' + digit);
	if (is_low == is_high ? !rounds_down(&s, digit) : is_high)
		raise_last(digits);
}
