/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Numbers by a conversion of printf, which is checked and never reaches printf: the same text in
 * every locale.
 */
#ifndef TN_TEXT_NUMBER_FORMAT_H
#define TN_TEXT_NUMBER_FORMAT_H

#include <tenon/text.h>

#include "base/text.h"

struct tn_number_format {
	int is_left; /* '-' */
	char sign;   /* '+', ' ', or 0 */
	int has_zeros;
	int width;
	int precision;
	char conversion; /* one of d e E f F g G */
};

/* The largest width and precision. */
enum { TN_NUMBER_FORMAT_MOST = TN_PRINT_MAX_PRECISION };

/* Returns NULL, or what was expected; *at is then the place in the text. */
const char *tn_number_format_parse(const char *text, struct tn_number_format *format, size_t *at);

/* Appends a number, or an integer that an f64 may not hold.  Conversion d takes finite numbers. */
void tn_number_put(struct tn_text *text, const struct tn_number_format *format, double value);
void tn_integer_put(struct tn_text *text, const struct tn_number_format *format, uint64_t magnitude,
		    int is_negative);

#endif
