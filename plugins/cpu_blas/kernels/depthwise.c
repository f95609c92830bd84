/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Depthwise convolution, forward.
 *
 * A vector holds neighbouring channels.  A block is `columns` neighbouring outputs of a row, whose
 * sums stay in registers.  For each row of the window the input columns under the block are loaded
 * one after another, each once, and a column is added to all outputs that have it under a tap.
 * Columns in the padding are skipped.  The usual sizes of windows and strides are compile-time
 * constants, so that all loops of a block except that over rows are unrolled.
 *
 * Rows and channels that are not a multiple of the block end with a block that begins earlier and
 * stores only the new outputs.
 */
#include "depthwise_block.h"

/* A row of y and its inputs, at channel 0. */
struct row {
	const struct cpu_depthwise *d;
	const float *x; /* column 0 of the row of x under the first row of the window */
	const float *weights;
	int64_t rows; /* of the window, inside the plane */
	float *y;     /* column 0 */
	const float *residual, *bias;
};

/* sums[i] += row of the window, and columns of x: those under the block.  The weights stay in
 * registers. */
INLINE void add_row(vf *sums, const struct cpu_depthwise *d, const float *x, const float *weights,
		    int S, int stride, int columns, struct reach reach)
{
	vf kept[7];
#pragma GCC unroll 8
	for (int s = 0; s < S; s++)
		kept[s] = vf_load(weights + s * d->weights_row);
#pragma GCC unroll 32
	for (int j = 0; j < (columns - 1) * stride + S; j++) {
		if (j < reach.begin || j >= reach.end)
			continue;
		vf here = vf_load(x + j * d->x_pixel);
#pragma GCC unroll 8
		for (int s = j % stride; s < S; s += stride) {
			int i = (j - s) / stride;
			if (s <= j && i < columns)
				sums[i] += here * kept[s];
		}
	}
}

INLINE vf finish(const struct row *row, vf sum, vf bias, vf residual)
{
	vf low = vf_set(row->d->low), high = vf_set(row->d->high);
	return vf_clamp(sum + (bias + residual), low, high);
}

/* Stores outputs from `skip` on, and of each the lanes from `lane` on: a residual may be stored
 * where y is, and the values before them may be another thread's, or finished. */
static __attribute__((noinline)) void put_some(const struct row *row, const vf *sums, int64_t q,
					       int64_t c, int columns, int64_t skip, int64_t lane)
{
	const struct cpu_depthwise *d = row->d;
	vf bias = {0}, residual = {0};
	if (row->bias)
		bias = vf_load(row->bias + c);
	for (int64_t i = skip; i < columns; i++) {
		float *y = row->y + (q + i) * d->y_pixel + c;
		if (row->residual) {
			const float *from = row->residual + (q + i) * d->residual_pixel + c;
			residual = lane ? vf_load_last(from, lane) : vf_load(from);
		}
		if (lane)
			vf_store_last(y, finish(row, sums[i], bias, residual), lane);
		else
			vf_store(y, finish(row, sums[i], bias, residual));
	}
}

INLINE void put(const struct row *row, const vf *sums, int64_t q, int64_t c, int columns,
		int64_t skip)
{
	vf bias = {0}, residual = {0};
	if (row->bias)
		bias = vf_load(row->bias + c);
#pragma GCC unroll 8
	for (int i = 0; i < columns; i++) {
		if (i < skip)
			continue;
		vf_store(row->y + (q + i) * row->d->y_pixel + c,
			 finish(row, sums[i], bias, residual));
	}
}

/* The block at column q and channel c, whose columns of x within `reach` are inside the plane;
 * stores the outputs from `skip` on, and of each the lanes from `lane` on. */
INLINE void block(const struct row *row, int64_t q, int64_t c, struct reach reach, int64_t skip,
		  int64_t lane, int S, int stride, int columns)
{
	const struct cpu_depthwise *d = row->d;
	vf sums[WIDEST];
	const float *x = row->x + (q * stride - d->padding[1]) * d->x_pixel + c;
	const float *weights = row->weights + c;
	int64_t x_step = d->dilation[0] * d->x_row, weights_step = S * d->weights_row;
	struct reach whole = {0, (columns - 1) * stride + S};
	struct reach middle = {S / 2, S / 2 + columns}; /* all of a small plane */
#pragma GCC unroll 8
	for (int i = 0; i < columns; i++) /* one by one: an initialiser would clear memory */
		sums[i] = vf_set(0);
	if (reach.begin == 0 && reach.end == whole.end) {
		for (int64_t r = 0; r < row->rows; r++, x += x_step, weights += weights_step)
			add_row(sums, d, x, weights, S, stride, columns, whole);
	} else if (columns < WIDEST && stride == 1 && reach.begin == middle.begin &&
		   reach.end == middle.end) {
		for (int64_t r = 0; r < row->rows; r++, x += x_step, weights += weights_step)
			add_row(sums, d, x, weights, S, stride, columns, middle);
	} else {
		for (int64_t r = 0; r < row->rows; r++, x += x_step, weights += weights_step)
			add_row(sums, d, x, weights, S, stride, columns, reach);
	}
	if (lane || row->residual) {
		vf stored[WIDEST];
		memcpy(stored, sums, sizeof(vf) * (size_t)columns);
		put_some(row, stored, q, c, columns, skip, lane);
	} else {
		put(row, sums, q, c, columns, skip);
	}
}

/* ---- Rows ------------------------------------------------------------------------------------*/

struct span {
	int64_t begin, end;
};

/* The rows or columns of a window at `start` that are inside an axis. */
static struct span clip(int64_t start, int64_t taps, int64_t dilation, int64_t length)
{
	struct span span = {0, taps};
	if (start < 0)
		span.begin = (-start + dilation - 1) / dilation;
	if (start + (taps - 1) * dilation >= length)
		span.end = start < length ? (length - start - 1) / dilation + 1 : 0;
	if (span.end < span.begin)
		span.end = span.begin;
	return span;
}

static struct row row_of(const struct cpu_depthwise *d, int64_t image, int64_t p)
{
	int64_t top = p * d->stride[0] - d->padding[0];
	struct span rows = clip(top, d->r, d->dilation[0], d->h);
	int64_t first = top + rows.begin * d->dilation[0];
	struct row row = {.d = d,
			  .x = d->x + image * d->x_image + first * d->x_row,
			  .weights = d->weights + rows.begin * d->s * d->weights_row,
			  .rows = rows.end - rows.begin,
			  .y = d->y + image * d->y_image + p * d->y_row,
			  .bias = d->bias};
	if (d->residual)
		row.residual = d->residual + image * d->residual_image + p * d->residual_row;
	return row;
}

/* Channels are the inner loop, so that memory is read in order. */
INLINE void box_of(const struct cpu_depthwise *d, const struct cpu_depthwise_box *box, int S,
		   int stride, int columns)
{
	int64_t end = box->channel + box->channels, last = d->c - LANES;
	for (int64_t i = 0; i < box->images * box->rows; i++) {
		struct row row = row_of(d, box->image + i / box->rows, box->row + i % box->rows);
		for (int64_t q = 0; q < d->q; q += columns) {
			int64_t first = q + columns <= d->q ? q : d->q - columns;
			struct reach reach = reach_of(first * stride - d->padding[1], d->w,
						      (columns - 1) * stride + S);
			for (int64_t c = box->channel; c < end; c += LANES) {
				int64_t at = c < last ? c : last;
				block(&row, first, at, reach, q - first, c - at, S, stride,
				      columns);
			}
		}
	}
}

/* The widest blocks that waste little. */
INLINE void sized(const struct cpu_depthwise *d, const struct cpu_depthwise_box *box, int S,
		  int stride)
{
	if (d->q > 4 && (d->q + 7) / 8 * 2 <= (d->q + 3) / 4)
		box_of(d, box, S, stride, 8);
	else if (d->q >= 4)
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

/* One vector of n channels of one output. */
static void any_vector(const struct row *row, int64_t q, int64_t c, int64_t n)
{
	const struct cpu_depthwise *d = row->d;
	int64_t left = q * d->stride[1] - d->padding[1];
	struct span columns = clip(left, d->s, d->dilation[1], d->w);
	vf sum = {0};
	for (int64_t r = 0; r < row->rows; r++) {
		for (int64_t s = columns.begin; s < columns.end; s++) {
			const float *x = row->x + r * d->dilation[0] * d->x_row +
					 (left + s * d->dilation[1]) * d->x_pixel + c;
			sum += load(x, n) *
			       vf_load(row->weights + (r * d->s + s) * d->weights_row + c);
		}
	}
	vf bias = {0}, residual = {0};
	if (row->bias)
		bias = load(row->bias + c, n);
	if (row->residual)
		residual = load(row->residual + q * d->residual_pixel + c, n);
	sum = finish(row, sum, bias, residual);
	if (n == LANES)
		vf_store(row->y + q * d->y_pixel + c, sum);
	else
		vf_store_first(row->y + q * d->y_pixel + c, sum, n);
}

static void any(const struct cpu_depthwise *d, const struct cpu_depthwise_box *box)
{
	for (int64_t i = 0; i < box->images * box->rows; i++) {
		struct row row = row_of(d, box->image + i / box->rows, box->row + i % box->rows);
		for (int64_t q = 0; q < d->q; q++)
			for (int64_t c = 0; c < box->channels; c += LANES)
				any_vector(&row, q, box->channel + c,
					   box->channels - c < LANES ? box->channels - c : LANES);
	}
}

static void forward(const struct cpu_depthwise *d, const struct cpu_depthwise_box *box)
{
	int fits = d->c >= LANES && d->q > 1 && d->dilation[1] == 1;
	int64_t size = fits && d->stride[1] <= 2 ? 10 * d->s + d->stride[1] : 0;
	switch (size) {
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

const struct cpu_depthwise_kernels VARIANT(cpu_depthwise) = {
	.forward = forward,
	.input_gradient = VARIANT(cpu_depthwise_input_gradient),
	.weight_gradient = VARIANT(cpu_depthwise_weight_gradient),
};
