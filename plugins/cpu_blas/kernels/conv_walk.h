/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Pixels of a convolution by number, and the positions of their taps.
 */
#ifndef CPU_CONV_WALK_H
#define CPU_CONV_WALK_H

#include "variant.h"
#include "vector.h"

/* Widths of panels, in floats. */
#define NARROW LANES
#define WIDE (2 * LANES)

/* An output pixel: its position, and the start of its window. */
struct pixel {
	int64_t image, row, column;
};

static inline struct pixel pixel_at(const struct cpu_taps *t, int64_t number)
{
	int64_t row = number / t->columns;
	struct pixel p = {row / t->rows, row % t->rows, number % t->columns};
	return p;
}

static inline void pixel_next(const struct cpu_taps *t, struct pixel *p)
{
	if (++p->column < t->columns)
		return;
	p->column = 0;
	if (++p->row < t->rows)
		return;
	p->row = 0;
	p->image++;
}

static inline float *out_of(const struct cpu_taps *t, const struct pixel *p)
{
	return t->out + p->image * t->out_image + p->row * t->out_row + p->column * t->out_pixel;
}

/* Panel number i begins at row i * panel_rows of WIDE floats. */
static inline int64_t panel_width(int64_t channels, int64_t panel)
{
	return channels - panel * WIDE > NARROW ? WIDE : NARROW;
}

#endif
