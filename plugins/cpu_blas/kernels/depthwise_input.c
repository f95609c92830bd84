/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Depthwise convolution, the gradient of its input.
 *
 * As in depthwise.c, turned round: a block is neighbouring columns of a row of dx.  The columns of
 * dy that reach it are loaded once each, and each is given to all columns of the block that it was
 * computed from.  Columns are counted with the padding, and blocks begin at multiples of the stride,
 * so that what a column of dy gives to is known when this is compiled.
 */
#include "depthwise_block.h"

/* A row of dx, and the rows of dy and of the window that meet in it. */
struct row {
	const struct cpu_depthwise *d;
	float *dx; /* column 0 */
	const float *dy, *weights;
	int64_t rows, dy_step, weights_step;
};

INLINE void add_row(vf sums[][WIDEST], const struct row *row, int64_t r, int64_t first, int S,
		    int stride, int columns, int vectors, struct reach reach)
{
	const struct cpu_depthwise *d = row->d;
	const float *dy = row->dy + r * row->dy_step;
	const float *weights = row->weights + r * row->weights_step;
	int64_t at = first * d->y_pixel;
	vf kept[4][7];
	int keep = S <= 7 && vectors * (S + columns + 1) <= VECTOR_REGISTERS;
#pragma GCC unroll 4
	for (int v = 0; keep && v < vectors; v++) {
#pragma GCC unroll 8
		for (int s = 0; s < S; s++)
			kept[v][s] = vf_load(weights + s * d->weights_row + v * LANES);
	}
	int before = (S - 1) / stride, last = before + (columns - 1) / stride;
#pragma GCC unroll 32
	for (int j = 0; j <= last; j++, at += d->y_pixel) {
		if (j < reach.begin || j >= reach.end)
			continue;
#pragma GCC unroll 4
		for (int v = 0; v < vectors; v++) {
			vf here = vf_load(dy + at + v * LANES);
#pragma GCC unroll 8
			for (int s = 0; s < S; s++) {
				int i = (j - before) * stride + s;
				if (i < 0 || i >= columns)
					continue;
				sums[v][i] +=
					here *
					(keep ? kept[v][s]
					      : vf_load(weights + s * d->weights_row + v * LANES));
			}
		}
	}
}

/* Lanes from `lane` on: those before it may be another thread's. */
INLINE void put(const struct cpu_depthwise *d, float *dx, vf sum, int64_t lane)
{
	if (d->accumulate)
		sum += lane ? vf_load_last(dx, lane) : vf_load(dx);
	if (lane)
		vf_store_last(dx, sum, lane);
	else
		vf_store(dx, sum);
}

/* The block whose first column with the padding is u. */
INLINE void block(const struct row *row, int64_t u, int64_t lane, int S, int stride, int columns,
		  int vectors)
{
	const struct cpu_depthwise *d = row->d;
	vf sums[4][WIDEST] = {{{0}}};
	int64_t first = u / stride - (S - 1) / stride, w = u - d->padding[1];
	int span = (S - 1) / stride + (columns - 1) / stride + 1;
	struct reach reach = reach_of(first, d->q, span), whole = {0, span};
	struct reach middle = {S / 2, S / 2 + columns}; /* the whole of a small plane */
	if (columns == WIDEST && reach.begin == 0 && reach.end == span) {
		for (int64_t r = 0; r < row->rows; r++)
			add_row(sums, row, r, first, S, stride, columns, vectors, whole);
	} else if (columns < WIDEST && stride == 1 && reach.begin == middle.begin &&
		   reach.end == middle.end) {
		for (int64_t r = 0; r < row->rows; r++)
			add_row(sums, row, r, first, S, stride, columns, vectors, middle);
	} else {
		for (int64_t r = 0; r < row->rows; r++)
			add_row(sums, row, r, first, S, stride, columns, vectors, reach);
	}
#pragma GCC unroll 8
	for (int i = 0; i < columns; i++) {
		if (w + i < 0 || w + i >= d->w)
			continue;
#pragma GCC unroll 4
		for (int v = 0; v < vectors; v++)
			put(d, row->dx + (w + i) * d->x_pixel + v * LANES, sums[v][i], lane);
	}
}

/* ---- Rows ------------------------------------------------------------------------------------- */

/* The row of y whose window has row h of x under its row r; -1: none. */
static int64_t met(const struct cpu_depthwise *d, int64_t h, int64_t r)
{
	int64_t at = h + d->padding[0] - r * d->dilation[0];
	if (at < 0 || at % d->stride[0])
		return -1;
	return at / d->stride[0] < d->p ? at / d->stride[0] : -1;
}

/* Rows that meet are evenly spaced: the first and the second tell of all. */
static struct row row_of(const struct cpu_depthwise *d, int64_t image, int64_t h)
{
	struct row row = {.d = d, .dx = d->x + image * d->x_image + h * d->x_row};
	int64_t first = 0;
	for (int64_t r = 0; r < d->r; r++) {
		int64_t p = met(d, h, r);
		if (p < 0)
			continue;
		const float *dy = d->y + image * d->y_image + p * d->y_row;
		if (row.rows == 0) {
			first = r;
			row.dy = dy;
		} else if (row.rows == 1) {
			row.dy_step = dy - row.dy;
			row.weights_step = (r - first) * d->s * d->weights_row;
		}
		row.rows++;
	}
	row.weights = d->weights + first * d->s * d->weights_row;
	return row;
}

INLINE struct row at_channel(const struct row *row, int64_t channel)
{
	struct row part = *row;
	part.dx += channel;
	part.dy += channel;
	part.weights += channel;
	return part;
}

/* The channels of a box for the block of columns at u. */
INLINE void channels(const struct row *row, const struct cpu_depthwise_box *box, int64_t u, int S,
		     int stride, int columns, int vectors)
{
	int64_t c = box->channel, end = box->channel + box->channels, last = row->d->c - LANES;
	for (; vectors > 1 && c + vectors * LANES <= end; c += vectors * LANES) {
		struct row part = at_channel(row, c);
		block(&part, u, 0, S, stride, columns, vectors);
	}
	for (; c < end; c += LANES) {
		int64_t at = c < last ? c : last;
		struct row part = at_channel(row, at);
		block(&part, u, c - at, S, stride, columns, 1);
	}
}

/* Channels are the inner loop, so that memory is read in its order. */
INLINE void box_of(const struct cpu_depthwise *d, const struct cpu_depthwise_box *box, int S,
		   int stride, int columns, int vectors)
{
	int64_t left = d->padding[1], end = left + d->w;
	for (int64_t i = 0; i < box->images * box->rows; i++) {
		struct row row = row_of(d, box->image + i / box->rows, box->row + i % box->rows);
		for (int64_t u = left / stride * stride; u < end; u += columns)
			channels(&row, box, u, S, stride, columns, vectors);
	}
}

/* Blocks as wide as wastes little; narrow ones, and small windows, take more channels. */
INLINE void sized(const struct cpu_depthwise *d, const struct cpu_depthwise_box *box, int S,
		  int stride)
{
	int64_t wide = d->w + d->padding[1] % stride;
	if (S > 3 && wide > 4 && (wide + 7) / 8 * 2 <= (wide + 3) / 4)
		box_of(d, box, S, stride, 8, 1);
	else if (wide >= 3)
		box_of(d, box, S, stride, 4, 2);
	else
		box_of(d, box, S, stride, 2, 4);
}

/* ---- Any window ------------------------------------------------------------------------------- */

/* n channels of column w of dx. */
static void any_vector(const struct row *row, int64_t w, int64_t c, int64_t n)
{
	const struct cpu_depthwise *d = row->d;
	float *dx = row->dx + w * d->x_pixel + c;
	vf sum = {0};
	for (int64_t s = 0; s < d->s; s++) {
		int64_t at = w + d->padding[1] - s * d->dilation[1], q = at / d->stride[1];
		if (at < 0 || at % d->stride[1] || q >= d->q)
			continue;
		for (int64_t r = 0; r < row->rows; r++)
			sum += load(row->dy + r * row->dy_step + q * d->y_pixel + c, n) *
			       vf_load(row->weights + r * row->weights_step + s * d->weights_row +
				       c);
	}
	if (d->accumulate)
		sum += load(dx, n);
	if (n == LANES)
		vf_store(dx, sum);
	else
		vf_store_first(dx, sum, n);
}

static void any(const struct cpu_depthwise *d, const struct cpu_depthwise_box *box)
{
	for (int64_t i = 0; i < box->images * box->rows; i++) {
		struct row row = row_of(d, box->image + i / box->rows, box->row + i % box->rows);
		for (int64_t w = 0; w < d->w; w++)
			for (int64_t c = 0; c < box->channels; c += LANES)
				any_vector(&row, w, box->channel + c,
					   box->channels - c < LANES ? box->channels - c : LANES);
	}
}

void VARIANT(cpu_depthwise_input_gradient)(const struct cpu_depthwise *d,
					   const struct cpu_depthwise_box *box)
{
	int fits = d->c >= LANES && d->dilation[1] == 1 && d->stride[1] <= 2;
	switch (fits ? 10 * d->s + d->stride[1] : 0) {
	case 31:
		sized(d, box, 3, 1);
		return;
	case 32:
		sized(d, box, 3, 2);
		return;
	case 51:
		sized(d, box, 5, 1);
		return;
	case 52:
		sized(d, box, 5, 2);
		return;
	case 71:
		sized(d, box, 7, 1);
		return;
	default:
		any(d, box);
	}
}
