/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A command line, a path or a name in a file may have characters that a terminal obeys: none of
 * them is printed.
 */
#include "print_error.h"

#include <stdio.h>

#include "base/text.h"

void print_error_list(const char *words, const char *format, va_list arguments)
{
	/* With room for a path of any length. */
	char line[8192];
	int length = snprintf(line, sizeof(line), "%s", words);
	if (length >= 0 && (size_t)length < sizeof(line))
		vsnprintf(line + length, sizeof(line) - (size_t)length, format, arguments);
	tn_text_make_printable(line);
	fprintf(stderr, "%s\n", line);
}

void print_error(const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	print_error_list("", format, arguments);
	va_end(arguments);
}
