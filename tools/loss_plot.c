/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Draws the curves of training and validation loss as an SVG file.
 */
#include "loss_plot.h"

#include <inttypes.h>
#include <math.h>

#include "base/error.h"
#include "base/new_file.h"
#include "base/text.h"
#include "tool.h"

#include "print_error.h"

/* Pixels. */
enum { WIDTH = 640, HEIGHT = 400, LEFT = 60, RIGHT = 20, TOP = 30, BOTTOM = 40, N_MARKS = 5 };

struct scale {
	double first, last; /* epochs */
	double highest;     /* loss */
};

static double across(const struct scale *s, double epoch)
{
	const double span = s->last - s->first;
	const double part = span > 0 ? (epoch - s->first) / span : 0.5;
	return LEFT + part * (WIDTH - LEFT - RIGHT);
}

static double down(const struct scale *s, double loss)
{
	return TOP + (1 - loss / s->highest) * (HEIGHT - TOP - BOTTOM);
}

static struct scale scale_of(const struct loss_point *points, size_t n)
{
	struct scale s = {(double)points[0].epoch, (double)points[n - 1].epoch, 0};
	for (size_t i = 0; i < n; i++) {
		s.highest = fmax(s.highest, points[i].train);
		s.highest = fmax(s.highest, points[i].validation);
	}
	s.highest = s.highest > 0 ? 1.05 * s.highest : 1;
	return s;
}

static void write_axes(struct tn_text *svg, const struct scale *s)
{
	for (int i = 0; i < N_MARKS; i++) {
		const double loss = s->highest * i / (N_MARKS - 1), y = down(s, loss);
		tn_text_format(svg,
			       "<line x1='%d' y1='%.1f' x2='%d' y2='%.1f' stroke='#ccc'/>\n"
			       "<text x='%d' y='%.1f' text-anchor='end'>%.3g</text>\n",
			       LEFT, y, WIDTH - RIGHT, y, LEFT - 6, y + 4, loss);
	}
	tn_text_format(svg,
		       "<text x='%.1f' y='%d' text-anchor='middle'>epoch %.0f</text>\n"
		       "<text x='%.1f' y='%d' text-anchor='end'>%.0f</text>\n",
		       across(s, s->first), HEIGHT - 15, s->first, across(s, s->last), HEIGHT - 15,
		       s->last);
}

/* A line through the values of all epochs that have one, and a dot for each. */
static void write_curve(struct tn_text *svg, const struct scale *s, const struct loss_point *points,
			size_t n, int is_validation)
{
	const char *colour = is_validation ? "#d95f02" : "#1b6ca8";
	const char *name = is_validation ? "validation loss" : "training loss";
	tn_text_format(svg, "<polyline fill='none' stroke='%s' stroke-width='2' points='", colour);
	for (size_t i = 0; i < n; i++) {
		const double loss = is_validation ? points[i].validation : points[i].train;
		if (isfinite(loss))
			tn_text_format(svg, "%.1f,%.1f ", across(s, (double)points[i].epoch),
				       down(s, loss));
	}
	tn_text_format(svg, "'/>\n");
	for (size_t i = 0; i < n; i++) {
		const double loss = is_validation ? points[i].validation : points[i].train;
		if (isfinite(loss))
			tn_text_format(
				svg,
				"<circle cx='%.1f' cy='%.1f' r='3' fill='%s'><title>epoch %" PRIu64
				": %.6g</title></circle>\n",
				across(s, (double)points[i].epoch), down(s, loss), colour,
				points[i].epoch, loss);
	}
	tn_text_format(svg, "<text x='%d' y='20' fill='%s'>%s</text>\n", is_validation ? 300 : LEFT,
		       colour, name);
}

static void write_svg(struct tn_text *svg, const struct loss_point *points, size_t n)
{
	const struct scale s = scale_of(points, n);
	int has_validation = 0;
	for (size_t i = 0; i < n; i++)
		has_validation |= isfinite(points[i].validation);
	tn_text_format(svg,
		       "<svg xmlns='http://www.w3.org/2000/svg' width='%d' height='%d' "
		       "font-family='sans-serif' font-size='12'>\n"
		       "<rect width='100%%' height='100%%' fill='white'/>\n",
		       WIDTH, HEIGHT);
	write_axes(svg, &s);
	write_curve(svg, &s, points, n, 0);
	if (has_validation)
		write_curve(svg, &s, points, n, 1);
	tn_text_add(svg, "</svg>\n");
}

int loss_plot_write(const char *path, const struct loss_point *points, size_t n)
{
	struct tn_error_info error;
	struct tn_text svg;
	tn_text_init(&svg);
	write_svg(&svg, points, n);
	const tn_status status =
		svg.failed ? tn_no_memory(&error, "train", path, NULL)
			   : tn_new_file_save(path, svg.data, svg.length, "train", &error);
	tn_text_release(&svg);
	if (status)
		report_error(&error);
	return !status;
}
