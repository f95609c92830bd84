/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The context of a program's tests, on the preferred backend unless the program opens another.
 */
#ifndef TN_TESTS_TEST_CONTEXT_H
#define TN_TESTS_TEST_CONTEXT_H

#include <tenon/context.h>

#include "check.h"

static tn_context *context;

static inline int context_setup(void **state)
{
	(void)state;
	assert_ok(tn_context_open(NULL, &context, NULL));
	return 0;
}

static inline int context_teardown(void **state)
{
	(void)state;
	tn_context_close(context);
	return 0;
}

/* The context keeps that error; clears it. */
static inline void expect_kept(tn_status status, const char *part)
{
	assert_non_null(tn_error(context));
	assert_status(tn_error(context)->status, status);
	assert_contains(tn_error(context)->text, part);
	tn_error_clear(context);
}

#endif
