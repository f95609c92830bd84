/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Arrays as text, byte for byte as NumPy 2 prints them.
 *
 *     char *text = tn_array_repr(x, NULL);
 *     printf("%s\n", text ? text : tn_error_text(ctx));
 *     tn_string_free(text);
 *
 * The text is an owned string (tn_string_free).  NULL on failure, with the error kept:
 *   TN_INVALID_ARGUMENT  an option is out of range     TN_OUT_OF_MEMORY
 * and those of tn_to_host.  The functions wait for the array's elements and copy those that they
 * print to the host: of an array of more elements than the threshold, its corners only.
 * All functions: [thread: one per context | since 0.1].
 */
#ifndef TENON_TEXT_H
#define TENON_TEXT_H

#include <string.h>

#include <tenon/array.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Frees a text that the library has made.  Takes NULL.  [thread: any | since 0.1] */
TN_API void tn_string_free(char *string);

/* How many digits after the point a floating number has. */
enum {
	TN_FLOATMODE_MAXPREC = 0, /* as few as tell it from its neighbours, at most `precision` */
	TN_FLOATMODE_MAXPREC_EQUAL = 1, /* the same, and all elements as many as the longest */
	TN_FLOATMODE_UNIQUE = 2,        /* as few as tell it from its neighbours */
	TN_FLOATMODE_FIXED = 3,         /* `precision` */
};

/* The limits of the options: digits, items, columns, bytes of a text. */
#define TN_PRINT_MAX_PRECISION 1000
#define TN_PRINT_MAX_EDGEITEMS 1000000
#define TN_PRINT_MAX_LINEWIDTH 1000000
#define TN_PRINT_MAX_STRING 64

/* NumPy's print options, with its defaults.  Strings are ASCII. */
struct tn_print_options {
	uint32_t struct_size;
	int32_t precision;  /* digits after the point; default 8 */
	int64_t threshold;  /* larger arrays are summarised; default 1000; INT64_MAX: none is */
	int64_t edgeitems;  /* items at both ends of an axis of a summary; default 3 */
	int32_t linewidth;  /* columns; default 75 */
	int32_t sign;       /* of numbers that are not negative: '-' none, '+', ' '; default '-' */
	uint32_t floatmode; /* TN_FLOATMODE_... */
	uint32_t suppress;  /* 1: no scientific notation on account of small numbers */
	const char *nanstr; /* default "nan" */
	const char *infstr; /* default "inf" */
	const char *separator; /* tn_array2string: between elements; default " " */
	const char *prefix;    /* tn_array2string: lines after the first are indented as much */
	const char *suffix;    /* tn_array2string: lines are shorter by as much */
};
static inline struct tn_print_options tn_print_defaults(void)
{
	struct tn_print_options options;
	memset(&options, 0, sizeof(options));
	options.struct_size = sizeof(options);
	options.precision = 8;
	options.threshold = 1000;
	options.edgeitems = 3;
	options.linewidth = 75;
	options.sign = '-';
	options.nanstr = "nan";
	options.infstr = "inf";
	options.separator = " ";
	return options;
}

/* Python's str(a): "[1. 2. 3.]".  An array of rank 0 is printed as a number, with all its digits,
 * whatever the options are. */
TN_API char *tn_array_str(const tn_array *a, const struct tn_print_options *options);
/* Python's repr(a): "array([1., 2., 3.], dtype=float32)".  bf16 is "bfloat16". */
TN_API char *tn_array_repr(const tn_array *a, const struct tn_print_options *options);
/* The same text as of tn_array_str, with a chosen separator; of rank 0 too. */
TN_API char *tn_array2string(const tn_array *a, const struct tn_print_options *options);

#ifdef __cplusplus
}
#endif
#endif
