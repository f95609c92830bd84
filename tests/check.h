/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * cmocka with the assertions of Tenon's tests.  Case names are sentences; a test program that
 * cannot run here exits with 77.
 */
#ifndef TN_TESTS_CHECK_H
#define TN_TESTS_CHECK_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <tenon/status.h>

#define TEST_SKIPPED 77

/* The status must be OK; prints its name otherwise. */
#define assert_ok(expression) check_status((expression), TN_OK, #expression, __FILE__, __LINE__)
/* The status must be `expected`. */
#define assert_status(expression, expected)                                                        \
	check_status((expression), (expected), #expression, __FILE__, __LINE__)
/* |value - expected| <= tolerance, or both NaN, or equal infinities. */
#define assert_close(value, expected, tolerance)                                                   \
	check_close((double)(value), (double)(expected), (double)(tolerance), #value, __FILE__,    \
		    __LINE__)
/* `text` must contain `part`. */
#define assert_contains(text, part) check_contains((text), (part), __FILE__, __LINE__)

/* Makes a folder for a test that loads what it puts there: below TMPDIR, which `make check` sets
 * where /tmp allows no programs. */
static inline int make_program_folder(char *folder, size_t size)
{
	const char *parent = getenv("TMPDIR");
	int length =
		snprintf(folder, size, "%s/tenon-test-XXXXXX", parent && *parent ? parent : "/tmp");
	return length < 0 || (size_t)length >= size || !mkdtemp(folder) ? -1 : 0;
}

static inline void check_status(tn_status found, tn_status expected, const char *what,
				const char *file, int line)
{
	if (found == expected)
		return;
	print_error("%s: expected %s, found %s\n", what, tn_status_name(expected),
		    tn_status_name(found));
	_fail(file, line);
}

static inline void check_close(double value, double expected, double tolerance, const char *what,
			       const char *file, int line)
{
	if ((isnan(value) && isnan(expected)) || value == expected ||
	    fabs(value - expected) <= tolerance)
		return;
	print_error("%s: expected %.17g within %g, found %.17g\n", what, expected, tolerance,
		    value);
	_fail(file, line);
}

static inline void check_contains(const char *text, const char *part, const char *file, int line)
{
	if (text && strstr(text, part))
		return;
	print_error("expected \"%s\" in \"%s\"\n", part, text ? text : "(null)");
	_fail(file, line);
}

#endif
