/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Depthwise convolution, the gradient of its input.
 *
 * The reverse of depthwise.c: a block is neighbouring columns of a row of dx.  The columns of dy
 * that reach it are loaded once each, and each is added to all columns of the block that it was
 * computed from.  Columns are counted with the padding, and blocks begin at multiples of the
 * stride, so that the targets of a column of dy are known at compile time.
 */
#include "depthwise_block.h"

/* A row of dx, and the rows of dy and of the window that contribute to it. */
struct row {
	const struct cpu_depthwise *d;
	float *dx; /* column 0 */
	const float *dy, *weights;
	int64_t rows, dy_step, weights_step;
};

/* sums[i] += row of the window, and columns of dy: those that reach the block.  The weights stay in
 * registers. */
INLINE void add_row(vf *sums, const struct cpu_depthwise *d, const float *dy, const float *weights,
		    int S, int stride, int columns, struct reach reach)
{
	int before = (S - 1) / stride, last = before + (columns - 1) / stride;
	vf kept[7];
#pragma GCC unroll 8
	for (int s = 0; s < S; s++)
		kept[s] = vf_load(weights + s * d->weights_row);
#pragma GCC unroll 32
	for (int j = 0; j <= last; j++) {
		if (j < reach.begin || j >= reach.end)
			continue;
		vf here = vf_load(dy + j * d->y_pixel);
#pragma GCC unroll 8
		for (int s = 0; s < S; s++) {
			int i = (j - before) * stride + s;
			if (i >= 0 && i < columns)
				sums[i] += here * kept[s];
		}
	}
}

/* Stores columns from w on that are inside the plane, and of each the lanes from `lane` on: those
 * before it may be another thread's. */
static __attribute__((noinline)) void put_last(const struct cpu_depthwise *d, float *dx,
					       const vf *sums, int64_t w, int columns, int64_t lane)
{
	for (int64_t i = w < 0 ? -w : 0; i < columns && w + i < d->w; i++) {
		float *to = dx + (w + i) * d->x_pixel;
		vf sum = sums[i];
		if (d->accumulate)
			sum += vf_load_last(to, lane);
		vf_store_last(to, sum, lane);
	}
}

INLINE void put(const struct cpu_depthwise *d, float *dx, vf *sums, int64_t w, int columns)
{
#pragma GCC unroll 8
	for (int i = 0; i < columns; i++) {
		float *to = dx + (w + i) * d->x_pixel;
		if (w + i < 0 || w + i >= d->w)
			continue;
		if (d->accumulate)
			sums[i] += vf_load(to);
		vf_store(to, sums[i]);
	}
}

/* The block whose first column with the padding is u, at channel c; columns of dy within `reach`
 * are inside the plane. */
INLINE void block(const struct row *row, int64_t u, int64_t c, struct reach reach, int64_t lane,
		  int S, int stride, int columns)
{
	const struct cpu_depthwise *d = row->d;
	vf sums[WIDEST];
	const float *dy = row->dy + (u / stride - (S - 1) / stride) * d->y_pixel + c;
	const float *weights = row->weights + c;
	struct reach whole = {0, (S - 1) / stride + (columns - 1) / stride + 1};
	struct reach middle = {S / 2, S / 2 + columns}; /* all of a small plane */
#pragma GCC unroll 8
	for (int i = 0; i < columns; i++) /* one by one: an initialiser would clear memory */
		sums[i] = (vf){0};
	if (reach.begin == 0 && reach.end == whole.end) {
		for (int64_t r = 0; r < row->rows;
		     r++, dy += row->dy_step, weights += row->weights_step)
			add_row(sums, d, dy, weights, S, stride, columns, whole);
	} else if (columns < WIDEST && stride == 1 && reach.begin == middle.begin &&
		   reach.end == middle.end) {
		for (int64_t r = 0; r < row->rows;
		     r++, dy += row->dy_step, weights += row->weights_step)
			add_row(sums, d, dy, weights, S, stride, columns, middle);
	} else {
		for (int64_t r = 0; r < row->rows;
		     r++, dy += row->dy_step, weights += row->weights_step)
			add_row(sums, d, dy, weights, S, stride, columns, reach);
	}
	if (lane) {
		vf stored[WIDEST];
		memcpy(stored, sums, sizeof(vf) * (size_t)columns);
		put_last(d, row->dx + c, stored, u - d->padding[1], columns, lane);
	} else {
		put(d, row->dx + c, sums, u - d->padding[1], columns);
	}
}

/* ---- Rows ------------------------------------------------------------------------------------*/

/* The row of y whose window has row h of x under its row r; -1: none. */
static int64_t met(const struct cpu_depthwise *d, int64_t h, int64_t r)
{
	int64_t at = h + d->padding[0] - r * d->dilation[0];
	if (at < 0 || at % d->stride[0])
		return -1;
	return at / d->stride[0] < d->p ? at / d->stride[0] : -1;
}

/* Contributing rows are evenly spaced: the first and the second determine all. */
static struct row row_of(const struct cpu_depthwise *d, int64_t image, int64_t h)
{
	struct row row = {.d = d,
			  .dx = d->x + image * d->x_image + h * d->x_row,
			  .dy = d->y + image * d->y_image};
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

/* Channels are the inner loop, so that memory is read in order. */
INLINE void box_of(const struct cpu_depthwise *d, const struct cpu_depthwise_box *box, int S,
		   int stride, int columns)
{
	int64_t left = d->padding[1], right = left + d->w;
	int64_t end = box->channel + box->channels, last = d->c - LANES;
	for (int64_t i = 0; i < box->images * box->rows; i++) {
		struct row row = row_of(d, box->image + i / box->rows, box->row + i % box->rows);
		for (int64_t u = left / stride * stride; u < right; u += columns) {
			struct reach reach =
				reach_of(u / stride - (S - 1) / stride, d->q,
					 (S - 1) / stride + (columns - 1) / stride + 1);
			for (int64_t c = box->channel; c < end; c += LANES) {
				int64_t at = c < last ? c : last;
				block(&row, u, at, reach, c - at, S, stride, columns);
			}
		}
	}
}

/* The widest blocks that waste little. */
INLINE void sized(const struct cpu_depthwise *d, const struct cpu_depthwise_box *box, int S,
		  int stride)
{
	int64_t wide = d->w + d->padding[1] % stride;
	if (wide > 4 && (wide + 7) / 8 * 2 <= (wide + 3) / 4)
		box_of(d, box, S, stride, 8);
	else if (wide >= 3)
		box_of(d, box, S, stride, 4);
	else
		box_of(d, box, S, stride, 2);
}

/* One function each: the compiler's time grows faster than the length of a function. */

static __attribute__((noinline)) void window_3(const struct cpu_depthwise *d,
					       const struct cpu_depthwise_box *box)
{
	sized(d, box, 3, 1);
}

static __attribute__((noinline)) void window_3_by_2(const struct cpu_depthwise *d,
						    const struct cpu_depthwise_box *box)
{
	sized(d, box, 3, 2);
}

static __attribute__((noinline)) void window_5(const struct cpu_depthwise *d,
					       const struct cpu_depthwise_box *box)
{
	sized(d, box, 5, 1);
}

static __attribute__((noinline)) void window_5_by_2(const struct cpu_depthwise *d,
						    const struct cpu_depthwise_box *box)
{
	sized(d, box, 5, 2);
}

static __attribute__((noinline)) void window_7(const struct cpu_depthwise *d,
					       const struct cpu_depthwise_box *box)
{
	sized(d, box, 7, 1);
}

/* ---- Any window ------------------------------------------------------------------------------*/

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
		window_3(d, box);
		return;
	case 32:
		window_3_by_2(d, box);
		return;
	case 51:
		window_5(d, box);
		return;
	case 52:
		window_5_by_2(d, box);
		return;
	case 71:
		window_7(d, box);
		return;
	default:
		any(d, box);
	}
}
