/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Packs weights into panels and back.  The elements of a channel are numbered in memory order; a
 * run of them, from one tap or one depth on, is contiguous and makes up to LANES rows of the panel.
 * Squares of LANES channels x a run are transposed in registers.
 */
#include "conv_walk.h"

/* Numbers of a channel's elements. */
struct order {
	const struct cpu_weights *w;
	int64_t taps, total;
	int taps_first; /* number = depth * taps + tap; else number = tap * depths + depth */
	int64_t run;    /* contiguous elements: runs end at multiples of it */
};

static struct order order_of(const struct cpu_weights *w)
{
	struct order o = {.w = w, .taps = w->rows * w->columns, .run = 1};
	o.total = o.taps * w->depth;
	o.taps_first = o.taps > 1 && w->by_column <= w->by_depth;
	if (o.taps_first && w->by_column == 1 && w->by_row == w->columns)
		o.run = w->by_depth == o.taps ? o.total : o.taps;
	else if (!o.taps_first && w->by_depth == 1)
		o.run = w->depth;
	return o;
}

/* The offset of an element from its channel's first; and its row in a panel. */
static int64_t place(const struct order *o, int64_t number, int64_t *row)
{
	const struct cpu_weights *w = o->w;
	int64_t k = o->taps_first ? number / o->taps : number % w->depth;
	int64_t tap = o->taps_first ? number % o->taps : number / w->depth;
	*row = tap * w->depth + k;
	return k * w->by_depth + tap / w->columns * w->by_row + tap % w->columns * w->by_column;
}

/* The number of elements from this one on that can be taken together; their rows. */
static int64_t take_run(const struct order *o, int64_t number, int64_t end, int64_t *rows)
{
	int64_t n = o->run - number % o->run;
	n = n < LANES ? n : LANES;
	n = n < end - number ? n : end - number;
	for (int64_t i = 0; i < n; i++)
		place(o, number + i, &rows[i]);
	return n;
}

static inline vf load_some(const float *p, int64_t n)
{
	return n == LANES ? vf_load(p) : vf_load_first(p, n);
}

static inline void store_some(float *p, vf x, int64_t n)
{
	if (n == LANES)
		vf_store(p, x);
	else
		vf_store_first(p, x, n);
}

/* Up to LANES channels of a run of n. */
static inline void pack_square(const float *from, int64_t by_channel, int64_t channels, int64_t n,
			       float *to, const int64_t *rows, int64_t width)
{
	vf square[VECTOR_BYTES / 4];
	for (int64_t i = 0; i < LANES; i++)
		square[i] = i < channels ? load_some(from + i * by_channel, n) : (vf){0};
	vf_transpose(square);
	for (int64_t i = 0; i < n; i++)
		vf_store(to + rows[i] * width, square[i]);
}

/* Contiguous channels are copied as they are. */
static void pack_rows(const struct order *o, const float *from, int64_t channels, float *to,
		      int64_t width)
{
	for (int64_t number = 0; number < o->total; number++) {
		int64_t row, at = place(o, number, &row);
		memcpy(to + row * width, from + at, (size_t)channels * sizeof(float));
		memset(to + row * width + channels, 0, (size_t)(width - channels) * sizeof(float));
	}
}

void VARIANT(cpu_conv_pack)(const struct cpu_weights *w, int64_t panel, float *to)
{
	struct order o = order_of(w);
	int64_t width = panel_width(w->channels, panel), left = w->channels - panel * WIDE;
	int64_t channels = left < width ? left : width, rows[VECTOR_BYTES / 4];
	const float *from = w->at + panel * WIDE * w->by_channel;
	if (w->by_channel == 1) {
		pack_rows(&o, from, channels, to, width);
		return;
	}
	for (int64_t number = 0, n; number < o.total; number += n) {
		n = take_run(&o, number, o.total, rows);
		int64_t row, at = place(&o, number, &row);
		for (int64_t c = 0; c < width; c += LANES)
			pack_square(from + c * w->by_channel + at, w->by_channel, channels - c, n,
				    to + c, rows, width);
	}
}

static inline vf sum(const float *from, int64_t n, int64_t step)
{
	vf total = vf_load(from);
	for (int64_t i = 1; i < n; i++)
		total += vf_load(from + i * step);
	return total;
}

struct sums {
	const float *at;
	int64_t n, step, width; /* panels, floats between them */
	int accumulate;
};

static inline void unpack_square(const struct sums *sums, const int64_t *rows, int64_t n, float *to,
				 int64_t by_channel, int64_t channels)
{
	vf square[VECTOR_BYTES / 4];
	for (int64_t i = 0; i < LANES; i++)
		square[i] = i < n ? sum(sums->at + rows[i] * sums->width, sums->n, sums->step)
				  : (vf){0};
	vf_transpose(square);
	for (int64_t i = 0; i < LANES && i < channels; i++, to += by_channel) {
		vf x = square[i];
		if (sums->accumulate)
			x += load_some(to, n);
		store_some(to, x, n);
	}
}

void VARIANT(cpu_conv_unpack)(const struct cpu_weights *w, int64_t panel, const float *from,
			      int64_t n_panels, int64_t step, int64_t begin, int64_t end,
			      int accumulate)
{
	struct order o = order_of(w);
	int64_t width = panel_width(w->channels, panel), left = w->channels - panel * WIDE;
	int64_t channels = left < width ? left : width, rows[VECTOR_BYTES / 4];
	float *to = w->at + panel * WIDE * w->by_channel;
	for (int64_t number = begin, n; number < end; number += n) {
		n = take_run(&o, number, end, rows);
		int64_t row, at = place(&o, number, &row);
		for (int64_t c = 0; c < channels; c += LANES) {
			struct sums sums = {from + c, n_panels, step, width, accumulate};
			unpack_square(&sums, rows, n, to + c * w->by_channel + at, w->by_channel,
				      channels - c);
		}
	}
}
