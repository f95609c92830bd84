/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The decimal digits of floating numbers, exactly: Steele and White's Dragon4, with the cutoffs of
 * NumPy.
 */
#ifndef TN_TEXT_DIGITS_H
#define TN_TEXT_DIGITS_H

#include <tenon/text.h>

/* No f64 has more than 309 digits before the point; a rounding may add one.  After it
 * there are at most TN_PRINT_MAX_PRECISION. */
enum { TN_DIGITS_ROOM = 309 + TN_PRINT_MAX_PRECISION + 2 };

struct tn_digits_wanted {
	int is_exact;      /* 0: as few as tell the number from its neighbours, within the bounds */
	int is_fractional; /* the bounds count digits after the point; 0: all digits */
	int most;          /* at most this many; -1: no bound, not if exact */
	int least;         /* at least this many, if not exact; -1: no bound */
};

/* value = digit[0].digit[1]digit[2]... * 10^exponent */
struct tn_digits {
	int n; /* 1 or more */
	int exponent;
	char digit[TN_DIGITS_ROOM]; /* '0' to '9' */
};

/* The digits of |value|, which is finite and a number of the floating `dtype`. */
void tn_digits_of(double value, tn_dtype dtype, const struct tn_digits_wanted *wanted,
		  struct tn_digits *digits);

#endif
