/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The elements of an array as texts of one width, as NumPy prints them.
 */
#ifndef TN_TEXT_ELEMENT_TEXT_H
#define TN_TEXT_ELEMENT_TEXT_H

#include <tenon/text.h>

#include "base/text.h"

/* Elements on the host, compact. */
struct tn_elements {
	tn_dtype dtype;
	int rank;
	size_t n;
	const void *data;
};

/* Of the real parts, or of the imaginary ones. */
struct tn_float_format {
	tn_dtype dtype; /* of a part */
	int is_scientific;
	int is_exact;
	int precision;
	int least;
	int keeps_zeros;
	int left;
	int right;
	int exponent_digits;
	int has_plus;
	const char *nanstr;
	const char *infstr;
};

struct tn_element_format {
	struct tn_float_format part[2];
	int width;   /* of integers */
	char sign;   /* of integers: '-', '+' or ' ' */
	int aligned; /* of bool: " True", as wide as "False" */
};

/* Chooses the format that fits all elements.  The options are checked and complete. */
void tn_element_format_init(struct tn_element_format *format, const struct tn_elements *elements,
			    const struct tn_print_options *options);
/* Appends element i. */
void tn_element_put(struct tn_text *text, const struct tn_element_format *format,
		    const struct tn_elements *elements, size_t i);

/* Element i as NumPy prints it outside of arrays, with all its digits. */
void tn_element_put_alone(struct tn_text *text, const struct tn_elements *elements, size_t i);

/* The value of a floating element, or of part 0 or 1 of a complex one. */
double tn_element_part(const struct tn_elements *elements, size_t i, int part);

#endif
