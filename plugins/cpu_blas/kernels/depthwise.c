/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Depthwise convolution, forward.
 *
 * A vector holds neighbouring channels.  A block is `columns` neighbouring outputs of a row times
 * `vectors` vectors, whose sums stay in registers.  For each row of the window the input columns
 * under the block are loaded one after another, each once, and a column is added to all outputs that
 * have it under a tap.  Columns in the padding are passed over.  The usual sizes of windows and strides
 * are constants when this is compiled, so that all of a block's loops but that over rows unroll.
 *
 * Rows and channels that do not divide into blocks end with a block that begins earlier and stores
 * only what is new.
 */
#include "depthwise_block.h"

/* A row of y and what it reads, at the first channel of a block. */
struct row {
	const struct cpu_depthwise *d;
	const float *x; /* column 0 of the row of x under the first row of the window */
	const float *weights;
	int64_t rows; /* of the window that are inside the plane */
	float *y;     /* column 0 */
	const float *residual, *bias;
};

/* sums[v][i] += row of the window times columns from `first` of x.  The weights stay in registers where
 * there are so many. */
INLINE void add_row(vf sums[][WIDEST], const struct row *row, int64_t r, int64_t first, int S,
		    int stride, int columns, int vectors, struct reach reach)
{
	const struct cpu_depthwise *d = row->d;
	const float *x = row->x + r * d->dilation[0] * d->x_row;
	const float *weights = row->weights + r * S * d->weights_row;
	int64_t at = first * d->x_pixel;
	vf kept[4][7];
	int keep = S <= 7 && vectors * (S + columns + 1) <= VECTOR_REGISTERS;
#pragma GCC unroll 4
	for (int v = 0; keep && v < vectors; v++) {
#pragma GCC unroll 8
		for (int s = 0; s < S; s++)
			kept[v][s] = vf_load(weights + s * d->weights_row + v * LANES);
	}
#pragma GCC unroll 32
	for (int j = 0; j < (columns - 1) * stride + S; j++, at += d->x_pixel) {
		if (j < reach.begin || j >= reach.end)
			continue;
#pragma GCC unroll 4
		for (int v = 0; v < vectors; v++) {
			vf here = vf_load(x + at + v * LANES);
#pragma GCC unroll 8
			for (int s = j % stride; s < S; s += stride) {
				int i = (j - s) / stride;
				if (s > j || i >= columns)
					continue;
				sums[v][i] +=
					here *
					(keep ? kept[v][s]
					      : vf_load(weights + s * d->weights_row + v * LANES));
			}
		}
	}
}

INLINE vf finish(const struct row *row, vf sum, vf bias, vf residual)
{
	vf low = vf_set(row->d->low), high = vf_set(row->d->high);
	sum += bias + residual;
	sum = vf_select(sum < low, low, sum);
	return vf_select(sum > high, high, sum);
}

/* Lanes from `lane` on: a residual may lie where y does, and those before it be another thread's. */
INLINE void put(const struct row *row, vf sum, int64_t q, int v, int64_t lane)
{
	float *y = row->y + q * row->d->y_pixel + v * LANES;
	vf bias = {0}, residual = {0};
	if (row->bias)
		bias = vf_load(row->bias + v * LANES);
	if (row->residual) {
		const float *from = row->residual + q * row->d->residual_pixel + v * LANES;
		residual = lane ? vf_load_last(from, lane) : vf_load(from);
	}
	sum = finish(row, sum, bias, residual);
	if (lane)
		vf_store_last(y, sum, lane);
	else
		vf_store(y, sum);
}

/* The block at column q; stores the outputs from `skip` on, and of each vector the lanes from `lane`
 * on. */
INLINE void block(const struct row *row, int64_t q, int64_t skip, int64_t lane, int S, int stride,
		  int columns, int vectors)
{
	const struct cpu_depthwise *d = row->d;
	vf sums[4][WIDEST] = {{{0}}};
	int64_t first = q * stride - d->padding[1];
	int span = (columns - 1) * stride + S;
	struct reach reach = reach_of(first, d->w, span), whole = {0, span};
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
		if (i < skip)
			continue;
#pragma GCC unroll 4
		for (int v = 0; v < vectors; v++)
			put(row, sums[v][i], q + i, v, lane);
	}
}

/* ---- Rows ------------------------------------------------------------------------------------- */

struct span {
	int64_t begin, end;
};

/* Rows or columns of a window at `start` that are inside an axis. */
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

INLINE struct row at_channel(const struct row *row, int64_t channel)
{
	struct row part = *row;
	part.x += channel;
	part.y += channel;
	part.weights += channel;
	if (part.bias)
		part.bias += channel;
	if (part.residual)
		part.residual += channel;
	return part;
}

/* The channels of a box for the block of columns at q. */
INLINE void channels(const struct row *row, const struct cpu_depthwise_box *box, int64_t q,
		     int64_t skip, int S, int stride, int columns, int vectors)
{
	int64_t c = box->channel, end = box->channel + box->channels, last = row->d->c - LANES;
	for (; vectors > 1 && c + vectors * LANES <= end; c += vectors * LANES) {
		struct row part = at_channel(row, c);
		block(&part, q, skip, 0, S, stride, columns, vectors);
	}
	for (; c < end; c += LANES) {
		int64_t at = c < last ? c : last;
		struct row part = at_channel(row, at);
		block(&part, q, skip, c - at, S, stride, columns, 1);
	}
}

/* Channels are the inner loop, so that memory is read in its order. */
INLINE void box_of(const struct cpu_depthwise *d, const struct cpu_depthwise_box *box, int S,
		   int stride, int columns, int vectors)
{
	for (int64_t i = 0; i < box->images * box->rows; i++) {
		struct row row = row_of(d, box->image + i / box->rows, box->row + i % box->rows);
		for (int64_t q = 0; q < d->q; q += columns) {
			int64_t at = q + columns <= d->q ? q : d->q - columns;
			channels(&row, box, at, q - at, S, stride, columns, vectors);
		}
	}
}

/* Blocks as wide as wastes little; narrow ones take more channels.  Windows of 3 x 3 do little with
 * what they read: two vectors make whole runs of cache lines. */
INLINE void sized(const struct cpu_depthwise *d, const struct cpu_depthwise_box *box, int S,
		  int stride)
{
	if (S > 3 && d->q > 4 && (d->q + 7) / 8 * 2 <= (d->q + 3) / 4)
		box_of(d, box, S, stride, 8, 1);
	else if (d->q >= 4)
		box_of(d, box, S, stride, 4, 2);
	else
		box_of(d, box, S, stride, 2, 4);
}

/* ---- Any window ------------------------------------------------------------------------------- */

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

const struct cpu_depthwise_kernels VARIANT(cpu_depthwise) = {
	.forward = forward,
	.input_gradient = VARIANT(cpu_depthwise_input_gradient),
	.weight_gradient = VARIANT(cpu_depthwise_weight_gradient),
};
