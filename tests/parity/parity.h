/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * What a program compares with recorded cases.  Its tests, in main.c, are the same everywhere: all
 * cases on the reference, on the preferred backend (TENON_BACKEND) and on the mock.
 *
 * usage: PROGRAM [BACKEND]    that backend alone, with the brief choice of cases if there is one
 */
#ifndef TN_TESTS_PARITY_PARITY_H
#define TN_TESTS_PARITY_PARITY_H

#include "check.h"
#include "parity/record.h"
#include "unit/mock_fixture.h"

enum { PARITY_FILES = 3 };

struct call_row;

struct parity {
	const char *claim; /* the tests are the_reference_CLAIM, the_mock_CLAIM, ... */
	struct {
		const char *file;
		int n_cases; /* that it has */
	} records[PARITY_FILES];

	/* Compares a case, in a scope of its own. */
	void (*check)(tn_context *context, const struct record *record, int number);

	/* The rest may be left out. */
	const struct call_row *rows; /* of check_call in numpy_calls.h */
	size_t n_rows;
	struct record *given; /* the first case of the file, which has what all others share */
	/* Reads the next case of another format, and returns 0 at the end; check gets no record. */
	int (*read)(FILE *file);
	/* Is the case one for backends that take long to compile a kernel for each program and
	 * dtype?  NULL: all are. */
	int (*is_brief)(const struct record *record, int number);
	int is_mock_brief;              /* the mock has no more cases than those */
	const struct CMUnitTest *tests; /* further ones, before the mock's */
	size_t n_tests;
};

/* That of the program. */
extern const struct parity parity;

/* Two choices of is_brief: the first case of each function, and the first in f32. */
int parity_is_first(const struct record *record, int number);
int parity_is_first_in_f32(const struct record *record, int number);

#endif
