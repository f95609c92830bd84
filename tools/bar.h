/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A progress bar on stderr: redrawn in place on a terminal, otherwise nothing.
 */
#ifndef TENON_TOOLS_BAR_H
#define TENON_TOOLS_BAR_H

#include <stddef.h>
#include <tenon/train.h>

struct bar {
	int quiet;
	int terminal;
	size_t drawn; /* columns of the line that is there; 0: none */
};
/* term: the terminal's kind, TERM of the environment; NULL or "dumb": no bar. */
void bar_init(struct bar *bar, const char *term, int quiet);
void bar_progress(struct bar *bar, const struct tn_progress *progress);
/* The terminal has put n characters behind the line that is there. */
void bar_echo(struct bar *bar, size_t n);
void bar_clear(struct bar *bar);

/* The line for a terminal that is so wide, shorter by one column at least: bar, percentage and time
 * left of the whole training, loss and accuracy of the epoch so far.  What there is no room for is
 * left out. */
void bar_text(const struct tn_progress *progress, size_t columns, char *line, size_t size);

#endif
