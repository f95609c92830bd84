/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Errors and warnings of a command.
 */
#ifndef TENON_TOOLS_PRINT_ERROR_H
#define TENON_TOOLS_PRINT_ERROR_H

#include <stdarg.h>

/* Prints one line on stderr, of printable text whatever names and words the arguments have; the
 * format has no newline. */
void print_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same of a list, after some words. */
void print_error_list(const char *words, const char *format, va_list arguments)
	__attribute__((format(printf, 2, 0)));

#endif
