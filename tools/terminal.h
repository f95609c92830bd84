/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The width of the terminal, and text broken to it.
 */
#ifndef TENON_TOOLS_TERMINAL_H
#define TENON_TOOLS_TERMINAL_H

#include <stddef.h>
#include <stdio.h>

/* The current number of columns, 80 if unknown; 0: the descriptor is not a terminal. */
size_t terminal_columns(int descriptor);

/* Would the terminal wrap a line of that many characters?  0 if there is no terminal. */
int terminal_breaks(int descriptor, size_t length);

/* Writes text in lines of at most `columns`, broken at blanks, with continuations indented by two
 * columns; longer words stay whole.  0: unchanged. */
void write_wrapped(FILE *out, const char *text, size_t columns);

/* Writes a line to standard error that fits the terminal. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
