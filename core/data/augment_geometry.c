/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Positions of pixels are computed in f64, values in f32.
 */
#include "data/augment_geometry.h"

#include <math.h>

#include "data/augment_number.h"

struct tn_canvas tn_canvas_of(const struct tn_augment_plan *plan, float *image, float *scratch)
{
	void *index = scratch + tn_augment_image_size(plan);
	size_t n_lines = (size_t)plan->height + plan->width;
	return (struct tn_canvas){.plan = plan,
				  .picture = image,
				  .other = scratch,
				  .index = index,
				  .weight = (float *)index + n_lines};
}

static void exchange(struct tn_canvas *canvas)
{
	float *moved = canvas->other;
	canvas->other = canvas->picture;
	canvas->picture = moved;
}

/* The pixel of a line of n that stands for pixel i, which may lie outside; -1: black. */
static int64_t padded(int64_t i, uint32_t n, uint32_t mode)
{
	if (i >= 0 && i < n)
		return i;
	int64_t period;
	switch (mode) {
	case TN_PADDING_EDGE:
		return i < 0 ? 0 : n - 1;
	case TN_PADDING_REFLECT:
		period = n > 1 ? 2 * ((int64_t)n - 1) : 1;
		i = i % period;
		i = i < 0 ? i + period : i;
		return i < n ? i : period - i;
	case TN_PADDING_SYMMETRIC:
		period = 2 * (int64_t)n;
		i = i % period;
		i = i < 0 ? i + period : i;
		return i < n ? i : period - 1 - i;
	default:
		return -1;
	}
}

/* from[i] := the pixel of the line that moves to i, or -1. */
static void trace_line(int32_t *from, uint32_t n, const struct tn_line_move *move)
{
	for (int64_t i = 0; i < n; i++) {
		int64_t at = (i - move->roll) % n;
		at = padded((at < 0 ? at + n : at) - move->shift, n, TN_PADDING_CONSTANT);
		if (at >= 0)
			at = padded(at - move->crop, n, move->crop_mode);
		from[i] = (int32_t)(at >= 0 && move->mirrored ? n - 1 - at : at);
	}
}

void tn_canvas_move(struct tn_canvas *canvas, const struct tn_line_move *down,
		    const struct tn_line_move *right)
{
	const struct tn_augment_plan *plan = canvas->plan;
	uint32_t height = plan->height, width = plan->width;
	int32_t *rows = canvas->index, *columns = rows + height;
	float *out = canvas->other;
	trace_line(rows, height, down);
	trace_line(columns, width, right);
	for (uint32_t c = 0; c < plan->channels; c++) {
		const float *plane = canvas->picture + c * tn_augment_plane(plan);
		for (uint32_t y = 0; y < height; y++, out += width) {
			const float *row = plane + (size_t)(rows[y] < 0 ? 0 : rows[y]) * width;
			for (uint32_t x = 0; x < width; x++)
				out[x] = rows[y] < 0 || columns[x] < 0 ? plan->fill[c]
								       : row[columns[x]];
		}
	}
	exchange(canvas);
}

/* The pixel nearest to (x, y); of two equally near ones that with the even index. */
static void sample_nearest(const struct tn_canvas *canvas, double x, double y, uint32_t mode,
			   float *out)
{
	const struct tn_augment_plan *plan = canvas->plan;
	size_t plane = tn_augment_plane(plan);
	int64_t column = padded((int64_t)rint(x), plan->width, mode);
	int64_t row = padded((int64_t)rint(y), plan->height, mode);
	const float *from = canvas->picture;
	if (row >= 0 && column >= 0)
		from += row * plan->width + column;
	for (uint32_t c = 0; c < plan->channels; c++)
		out[c * plane] = row < 0 || column < 0 ? plan->fill[c] : from[c * plane];
}

static void sample_bilinear(const struct tn_canvas *canvas, double x, double y, uint32_t mode,
			    float *out)
{
	const struct tn_augment_plan *plan = canvas->plan;
	size_t plane = tn_augment_plane(plan);
	double left = floor(x), top = floor(y);
	float right_part = (float)(x - left), down_part = (float)(y - top);
	int64_t column[2], row[2];
	for (int k = 0; k < 2; k++) {
		column[k] = padded((int64_t)left + k, plan->width, mode);
		row[k] = padded((int64_t)top + k, plan->height, mode);
	}
	for (uint32_t c = 0; c < plan->channels; c++) {
		const float *from = canvas->picture + c * plane;
		float line[2];
		for (int k = 0; k < 2; k++) {
			float pixel[2];
			for (int l = 0; l < 2; l++)
				pixel[l] = row[k] < 0 || column[l] < 0
						   ? plan->fill[c]
						   : from[row[k] * plan->width + column[l]];
			line[k] = (1 - right_part) * pixel[0] + right_part * pixel[1];
		}
		out[c * plane] = (1 - down_part) * line[0] + down_part * line[1];
	}
}

void tn_canvas_rotate(struct tn_canvas *canvas, double degrees, int bilinear, uint32_t mode)
{
	const struct tn_augment_plan *plan = canvas->plan;
	double middle_x = (plan->width - 1) / 2.0, middle_y = (plan->height - 1) / 2.0;
	double sine, cosine;
	float *out = canvas->other;
	tn_number_sincos(degrees, &sine, &cosine);
	for (uint32_t row = 0; row < plan->height; row++) {
		for (uint32_t column = 0; column < plan->width; column++, out++) {
			double right = column - middle_x, down = row - middle_y;
			double x = cosine * right - sine * down + middle_x;
			double y = sine * right + cosine * down + middle_y;
			if (bilinear)
				sample_bilinear(canvas, x, y, mode, out);
			else
				sample_nearest(canvas, x, y, mode, out);
		}
	}
	exchange(canvas);
}

/* Where pixel i of n lies in a line of `part` pixels that is enlarged to n: between the result and
 * the next pixel, in the ratio *weight. */
static int32_t enlarged_from(uint32_t i, uint32_t n, uint32_t part, float *weight)
{
	double at = (i + 0.5) * part / n - 0.5;
	double before = at > 0 ? floor(at) : 0;
	*weight = at > 0 && before + 1 < part ? (float)(at - before) : 0;
	return (int32_t)before;
}

void tn_canvas_enlarge(struct tn_canvas *canvas, uint32_t top, uint32_t left, uint32_t height,
		       uint32_t width)
{
	const struct tn_augment_plan *plan = canvas->plan;
	float *out = canvas->other;
	for (uint32_t x = 0; x < plan->width; x++)
		canvas->index[x] = enlarged_from(x, plan->width, width, &canvas->weight[x]);
	for (uint32_t c = 0; c < plan->channels; c++) {
		const float *plane = canvas->picture + c * tn_augment_plane(plan);
		for (uint32_t y = 0; y < plan->height; y++, out += plan->width) {
			float down;
			int32_t row = enlarged_from(y, plan->height, height, &down);
			const float *upper = plane + ((size_t)top + row) * plan->width + left;
			const float *lower = down > 0 ? upper + plan->width : upper;
			for (uint32_t x = 0; x < plan->width; x++) {
				int32_t at = canvas->index[x];
				float right = canvas->weight[x];
				int32_t next = right > 0 ? at + 1 : at;
				float above = (1 - right) * upper[at] + right * upper[next];
				float below = (1 - right) * lower[at] + right * lower[next];
				out[x] = (1 - down) * above + down * below;
			}
		}
	}
	exchange(canvas);
}
