/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The error that a context keeps, whole: its status, its operation and words of its text.
 */
#ifndef TN_TESTS_KEPT_ERROR_H
#define TN_TESTS_KEPT_ERROR_H

#include <tenon/context.h>

#include "check.h"

/* Clears it. */
static inline void assert_error(tn_context *context, tn_status status, const char *operation,
				const char *words)
{
	const struct tn_error_info *error = tn_error(context);
	assert_non_null(error);
	if (error->status != status || strcmp(error->operation, operation) != 0 ||
	    !strstr(error->text, words))
		fail_msg("%s: %s: %s", tn_status_name(error->status), error->operation,
			 error->text);
	tn_error_clear(context);
}

/* The same of any operation. */
static inline void assert_kept(tn_context *context, tn_status status, const char *words)
{
	const struct tn_error_info *error = tn_error(context);
	assert_non_null(error);
	assert_error(context, status, error->operation, words);
}

/* The same of a call that gives nothing. */
static inline void assert_refused(tn_context *context, const void *made, tn_status status,
				  const char *operation, const char *words)
{
	assert_null(made);
	assert_error(context, status, operation, words);
}

#endif
