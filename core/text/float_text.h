/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A floating number as text, as NumPy's format_float_positional and format_float_scientific write
 * it.
 */
#ifndef TN_TEXT_FLOAT_TEXT_H
#define TN_TEXT_FLOAT_TEXT_H

#include "base/text.h"
#include "text/digits.h"

/* Zeros at the end: kept, up to the precision; dropped, down to "1."; down to "1.0"; down to "1".
 */
enum tn_zeros { TN_ZEROS_KEPT, TN_ZEROS_NONE, TN_ZEROS_ONE, TN_ZEROS_NO_POINT };

struct tn_float_style {
	int is_exact;  /* as in struct tn_digits_wanted */
	int precision; /* digits after the point at most; -1: as many as it takes, not if exact */
	int least;     /* digits after the point at least, if not exact */
	enum tn_zeros zeros;
	int has_plus;        /* '+' before numbers that are not negative */
	int left;            /* columns before the point, filled with blanks */
	int right;           /* columns after the point, filled with blanks; positional */
	int exponent_digits; /* at least this many; scientific */
};

/* `value` is finite and a number of `dtype`. */
void tn_float_positional(struct tn_text *text, double value, tn_dtype dtype,
			 const struct tn_float_style *style);
void tn_float_scientific(struct tn_text *text, double value, tn_dtype dtype,
			 const struct tn_float_style *style);

/* `count` times that byte; none if it is not positive. */
void tn_text_fill(struct tn_text *text, char byte, int count);

#endif
