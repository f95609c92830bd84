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
	size_t drawn; /* columns of the line on the terminal; 0: none */
};
/* term: the value of TERM; NULL or "dumb": no bar. */
void bar_init(struct bar *bar, const char *term, int quiet);
void bar_progress(struct bar *bar, const struct tn_trainer_progress *progress);
void bar_clear(struct bar *bar);

/* Writes the line for a terminal of that width, with room for the ^C that it may echo: bar,
 * percentage and time left of the whole training, loss and accuracy of the epoch so far.  Pieces
 * that do not fit are left out. */
void bar_text(const struct tn_trainer_progress *progress, size_t columns, char *line, size_t size);

#endif
