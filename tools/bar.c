/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The progress bar.  Every line is shorter than the current terminal width, so that it can be
 * redrawn in place.
 */
#include "bar.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "terminal.h"

#define FEWEST_CELLS 8
#define MOST_CELLS 30

/* ---- The line --------------------------------------------------------------------------------*/

/* Pieces from left to right. */
enum { EPOCH, CELLS, PERCENT, LOSS, ACCURACY, RATE, LEFT, N_PIECES };

/* The order in which pieces are dropped when the line is too long; the percentage always stays. */
static const int goes[] = {RATE, CELLS, ACCURACY, LOSS, EPOCH, LEFT};

struct pieces {
	char text[N_PIECES][48];
};

static void write_left(char *text, size_t size, double seconds)
{
	if (!(seconds >= 0 && seconds < 3.6e7)) {
		text[0] = '\0';
		return;
	}
	unsigned long s = (unsigned long)ceil(seconds);
	if (s < 60)
		snprintf(text, size, "%lu s left", s);
	else if (s < 3600)
		snprintf(text, size, "%lu:%02lu left", s / 60, s % 60);
	else
		snprintf(text, size, "%lu:%02lu:%02lu left", s / 3600, s / 60 % 60, s % 60);
}

static double done(const struct tn_trainer_progress *p)
{
	double all = (double)p->n_epochs * (double)p->n_samples;
	return all > 0 ? ((double)(p->epoch - 1) * (double)p->n_samples + (double)p->sample) / all
		       : 0.0;
}

static void write_pieces(struct pieces *pieces, const struct tn_trainer_progress *p)
{
	size_t size = sizeof(pieces->text[0]);
	snprintf(pieces->text[EPOCH], size, "epoch %llu/%llu", (unsigned long long)p->epoch,
		 (unsigned long long)p->n_epochs);
	snprintf(pieces->text[PERCENT], size, "%3d%%", (int)(100.0 * done(p)));
	snprintf(pieces->text[LOSS], size, fabs(p->loss) < 1e4 ? "loss %.4f" : "loss %.3g",
		 p->loss);
	snprintf(pieces->text[ACCURACY], size, "accuracy %.2f%%", 100.0 * p->metrics[0]);
	snprintf(pieces->text[RATE], size, "%.0f images/s", p->samples_per_second);
	write_left(pieces->text[LEFT], size, p->seconds_left);
}

/* Blanks before a piece: two columns, one before the percentage, which is padded. */
static size_t gap(size_t at, int piece)
{
	return at == 0 ? 0 : piece == PERCENT ? 1 : 2;
}

/* The length of the line made of the pieces that are not empty. */
static size_t length(const struct pieces *pieces)
{
	size_t sum = 0;
	for (int i = 0; i < N_PIECES; i++) {
		size_t one = strlen(pieces->text[i]);
		sum += one ? gap(sum, i) + one : 0;
	}
	return sum;
}

/* "[===>    ]", filling the remaining columns. */
static void write_cells(char *text, size_t n, double fraction)
{
	size_t filled = (size_t)(fraction * (double)n);
	memset(text, ' ', n + 2);
	memset(text + 1, '=', filled < n ? filled : n);
	if (filled < n)
		text[1 + filled] = '>';
	text[0] = '[';
	text[n + 1] = ']';
	text[n + 2] = '\0';
}

void bar_text(const struct tn_trainer_progress *progress, size_t columns, char *line, size_t size)
{
	struct pieces pieces;
	/* The last column would wrap, and so would the ^C that a terminal echoes. */
	size_t room = columns > 8 ? columns - 3 : columns > 1 ? columns - 1 : 1;
	room = room < size ? room : size - 1;
	write_pieces(&pieces, progress);
	write_cells(pieces.text[CELLS], FEWEST_CELLS, 0);
	for (size_t i = 0; i < sizeof(goes) / sizeof(goes[0]) && length(&pieces) > room; i++)
		pieces.text[goes[i]][0] = '\0';
	if (pieces.text[CELLS][0]) {
		size_t n = FEWEST_CELLS + room - length(&pieces);
		write_cells(pieces.text[CELLS], n < MOST_CELLS ? n : MOST_CELLS, done(progress));
	}
	line[0] = '\0';
	for (int i = 0; i < N_PIECES; i++) {
		size_t at = strlen(line);
		if (pieces.text[i][0])
			snprintf(line + at, size - at, "%*s%s", (int)gap(at, i), "",
				 pieces.text[i]);
	}
	line[room] = '\0';
}

/* ---- The terminal ----------------------------------------------------------------------------*/

void bar_init(struct bar *bar, const char *term, int quiet)
{
	bar->quiet = quiet;
	bar->terminal = isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0;
	bar->drawn = 0;
}

/* Replaces the last line, which a narrowed terminal may have wrapped into several.  A single write,
 * so that no partial line is ever visible. */
static void draw(struct bar *bar, const char *line)
{
	char up[32] = "";
	size_t columns = terminal_columns(STDERR_FILENO);
	size_t above = bar->drawn && columns ? (bar->drawn - 1) / columns : 0;
	if (above)
		snprintf(up, sizeof(up), "\033[%zuA", above);
	fprintf(stderr, "%s\r\033[J%s", up, line);
	fflush(stderr);
	bar->drawn = strlen(line);
}

void bar_progress(struct bar *bar, const struct tn_trainer_progress *progress)
{
	char line[256];
	if (bar->quiet || !bar->terminal)
		return;
	bar_text(progress, terminal_columns(STDERR_FILENO), line, sizeof(line));
	draw(bar, line);
}

void bar_clear(struct bar *bar)
{
	if (bar->drawn)
		draw(bar, "");
}
