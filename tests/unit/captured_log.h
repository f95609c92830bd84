/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * What the library logs, in a file in the place of stderr: also of what belongs to no context.
 */
#ifndef TN_TESTS_CAPTURED_LOG_H
#define TN_TESTS_CAPTURED_LOG_H

#include <stdio.h>
#include <unistd.h>

#include "check.h"

static FILE *captured_file;
static int captured_terminal; /* what stderr is else */

static inline void captured_begin(void)
{
	captured_file = tmpfile();
	assert_non_null(captured_file);
	captured_terminal = dup(STDERR_FILENO);
	assert_true(captured_terminal >= 0 &&
		    dup2(fileno(captured_file), STDERR_FILENO) == STDERR_FILENO);
}

static inline void captured_end(void)
{
	dup2(captured_terminal, STDERR_FILENO);
	close(captured_terminal);
	fclose(captured_file);
}

/* What was logged since the last call of this function. */
static inline const char *captured_take(void)
{
	static char text[4096];
	const ssize_t n = pread(STDERR_FILENO, text, sizeof(text) - 1, 0);
	text[n > 0 ? n : 0] = '\0';
	assert_int_equal(ftruncate(STDERR_FILENO, 0), 0);
	lseek(STDERR_FILENO, 0, SEEK_SET);
	return text;
}

#endif
