/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The progress bar.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tool.h"

#define WIDTH 24

void bar_init(struct bar *bar, int quiet)
{
	const char *term = tool_environment("TERM");
	bar->quiet = quiet;
	bar->terminal = isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0;
	bar->drawn = 0;
}

void bar_progress(struct bar *bar, const struct tn_progress *p)
{
	if (bar->quiet || !bar->terminal)
		return;
	double done = p->n_images ? (double)p->image / (double)p->n_images : 0.0;
	int filled = (int)(done * WIDTH);
	char cells[WIDTH + 1];
	for (int i = 0; i < WIDTH; i++)
		cells[i] = i < filled ? '=' : i == filled ? '>' : ' ';
	cells[WIDTH] = '\0';
	fprintf(stderr,
		"\r\033[Kepoch %llu/%llu [%s] %3.0f%%  loss %.4f  accuracy %.2f%%  %.0f images/s  "
		"%.0f s left",
		(unsigned long long)p->epoch, (unsigned long long)p->n_epochs, cells, 100.0 * done,
		p->loss, 100.0 * p->accuracy, p->images_per_second, p->seconds_left);
	fflush(stderr);
	bar->drawn = 1;
}

void bar_clear(struct bar *bar)
{
	if (bar->drawn)
		fprintf(stderr, "\r\033[K");
	bar->drawn = 0;
}
