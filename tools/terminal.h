/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * How wide the terminal is.
 */
#ifndef TENON_TOOLS_TERMINAL_H
#define TENON_TOOLS_TERMINAL_H

#include <stddef.h>
#include <stdio.h>

/* Columns of the terminal as it is now, 80 where that is unknown; 0: the descriptor is none. */
size_t terminal_columns(int descriptor);

/* Would a line of so many characters be broken?  Never where there is no terminal. */
int terminal_breaks(int descriptor, size_t length);

/* Writes text with lines of at most `columns`, broken at blanks, what follows two columns further
 * in; a word that is longer stays whole.  0: as it is. */
void write_wrapped(FILE *out, const char *text, size_t columns);

#endif
