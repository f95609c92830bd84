/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Convolution from copies, products and maps.  With the columns of a tile of T images
 *
 *     col[g, (c,r,s), (n,p,q)] = xp[n, g C/G + c, p stride0 + r dilation0, q stride1 + s dilation1]
 *
 * (xp is x with its padding), which is one copy of a view of seven axes, and with the rows
 * yt[g, o, (n,p,q)] = y[n, g O/G + o, p, q], each direction is one product per tile:
 *
 *     forward           yt  = w col
 *     weight gradient   w   = sum over tiles of yt col^T
 *     input gradient    col = w^T yt,  and xp += col[r, s] for each (r, s), R S maps on views whose
 *                       elements never share memory: nothing is scattered.
 *
 * A tile has the most images whose columns fit a cache; an image whose columns exceed the workspace
 * is split into rows.  A window of one element without padding needs no columns.
 */
#include "layers/conv2d_compose.h"

#include <string.h>

#include "dispatch/route.h"
#include "layers/window.h"
#include "ops/copy.h"
#include "ops/layout.h"
#include "ops/map.h"
#include "ops/matmul.h"

/* Columns of one tile in host memory: part of a cache that two cores share. */
#define TILE_BYTES (INT64_C(8) << 20)

/* Images [n, n + T) and rows [p, p + rows) of the output. */
struct tile {
	int64_t n, T;
	int64_t p, rows;
};

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static tn_array *make_array(const struct tn_conv2d *conv, int rank, const int64_t *shape)
{
	return tn_array_make(conv->runtime, tn_array_home(conv->w), conv->w->dtype, rank, shape);
}

/* ---- Padding ---------------------------------------------------------------------------------*/

static int has_padding(const struct tn_conv2d *conv)
{
	const int64_t *padding = conv->window.padding;
	return (padding[0] | padding[1] | padding[2] | padding[3]) != 0;
}

/* T zero images with room for the padding. */
static tn_array *make_padded(const struct tn_conv2d *conv, int64_t T)
{
	const int64_t *padding = conv->window.padding;
	const int64_t shape[] = {T, conv->C, conv->H + padding[0] + padding[2],
				 conv->W + padding[1] + padding[3]};
	tn_array *padded = make_array(conv, 4, shape);
	if (padded && tn_fill_run(conv->runtime, TN_DO_FILL, padded, 0))
		return NULL;
	return padded;
}

/* The part of `padded` inside the padding. */
static tn_array *inside(const struct tn_conv2d *conv, const tn_array *padded)
{
	const int64_t shape[] = {padded->shape[0], conv->C, conv->H, conv->W};
	int64_t offset = padded->offset + conv->window.padding[0] * padded->strides[2] +
			 conv->window.padding[1] * padded->strides[3];
	return tn_array_view(padded, 4, shape, padded->strides, offset);
}

/* Images [n, n + T) of x. */
static tn_array *images(const struct tn_conv2d *conv, const struct tile *tile)
{
	const tn_array *x = conv->x;
	const int64_t shape[] = {tile->T, conv->C, conv->H, conv->W};
	return tn_array_view(x, 4, shape, x->strides, x->offset + tile->n * x->strides[0]);
}

/* ---- Columns ---------------------------------------------------------------------------------*/

static int64_t column_bytes(const struct tn_conv2d *conv, int64_t T, int64_t rows)
{
	return T * conv->C * conv->R * conv->S * rows * conv->Q *
	       (int64_t)tn_dtype_size(conv->w->dtype);
}

static struct tile largest_tile(const struct tn_conv2d *conv)
{
	const struct tn_device *device = tn_array_home(conv->w);
	int64_t limit = (int64_t)(device->workspace_limit & INT64_MAX);
	int64_t cap = device->host_memory ? least(TILE_BYTES, limit) : limit;
	struct tile tile = {.T = 1, .rows = conv->P};
	int64_t image = column_bytes(conv, 1, conv->P);
	if (image > limit) {
		int64_t row = column_bytes(conv, 1, 1);
		tile.rows = least(conv->P, limit / row);
		tile.rows = tile.rows ? tile.rows : 1;
	} else if (image < cap) {
		tile.T = least(conv->N, cap / image);
	}
	return tile;
}

/* xp as (G, C/G, R, S, T, rows, Q): the columns before they are copied. */
static tn_array *windows(const struct tn_conv2d *conv, const tn_array *xp, const struct tile *tile)
{
	const struct tn_window *window = &conv->window;
	const int64_t *strides = xp->strides;
	const int64_t shape[] = {conv->G, conv->C / conv->G, conv->R, conv->S,
				 tile->T, tile->rows,        conv->Q};
	const int64_t steps[] = {
		conv->C / conv->G * strides[1],   strides[1], window->dilation[0] * strides[2],
		window->dilation[1] * strides[3], strides[0], window->stride[0] * strides[2],
		window->stride[1] * strides[3]};
	return tn_array_view(xp, 7, shape, steps,
			     xp->offset + tile->p * window->stride[0] * strides[2]);
}

/* The columns as matrices: (G, C/G R S, T rows Q). */
static tn_array *as_matrices(const struct tn_conv2d *conv, const tn_array *col,
			     const struct tile *tile)
{
	int64_t k = conv->C / conv->G * conv->R * conv->S, m = tile->T * tile->rows * conv->Q;
	const int64_t shape[] = {conv->G, k, m}, strides[] = {k * m, m, 1};
	return tn_array_view(col, 3, shape, strides, col->offset);
}

static tn_array *make_columns(const struct tn_conv2d *conv, const struct tile *tile)
{
	const int64_t shape[] = {conv->G, conv->C / conv->G, conv->R, conv->S,
				 tile->T, tile->rows,        conv->Q};
	return make_array(conv, 7, shape);
}

static tn_array *columns_of(const struct tn_conv2d *conv, const struct tile *tile)
{
	tn_array *part = images(conv, tile), *xp = part;
	if (part && has_padding(conv)) {
		xp = make_padded(conv, tile->T);
		tn_array *room = xp ? inside(conv, xp) : NULL;
		if (!room || tn_copy_run(conv->runtime, TN_DO_COPY, room, part))
			return NULL;
	}
	tn_array *from = xp ? windows(conv, xp, tile) : NULL;
	tn_array *col = from ? make_columns(conv, tile) : NULL;
	if (!col || tn_copy_run(conv->runtime, TN_DO_COPY, col, from))
		return NULL;
	return as_matrices(conv, col, tile);
}

/* ---- Rows of y -------------------------------------------------------------------------------*/

/* y of the tile as (G, O/G, T, rows, Q): a view. */
static tn_array *rows_of(const struct tn_conv2d *conv, const struct tile *tile)
{
	const tn_array *y = conv->y;
	const int64_t shape[] = {conv->G, conv->O / conv->G, tile->T, tile->rows, conv->Q};
	const int64_t strides[] = {conv->O / conv->G * y->strides[1], y->strides[1], y->strides[0],
				   y->strides[2], y->strides[3]};
	return tn_array_view(y, 5, shape, strides,
			     y->offset + tile->n * y->strides[0] + tile->p * y->strides[2]);
}

/* A compact array of that shape. */
static tn_array *make_rows(const struct tn_conv2d *conv, const struct tile *tile)
{
	const int64_t shape[] = {conv->G, conv->O / conv->G, tile->T, tile->rows, conv->Q};
	return make_array(conv, 5, shape);
}

/* Rows as matrices, (G, O/G, T rows Q), where each matrix has a unit stride; else NULL. */
static tn_array *rows_as_matrices(const struct tn_conv2d *conv, const tn_array *rows,
				  const struct tile *tile)
{
	const int64_t shape[] = {conv->G, conv->O / conv->G, tile->T * tile->rows * conv->Q};
	const int64_t strides[] = {rows->strides[0], rows->strides[1], 1};
	return tn_array_view(rows, 3, shape, strides, rows->offset);
}

/* Are the tile's positions contiguous in each channel? */
static int rows_are_lines(const tn_array *rows)
{
	int64_t step = 1;
	for (int axis = 4; axis >= 2; axis--) {
		if (rows->shape[axis] == 1)
			continue;
		if (rows->strides[axis] != step)
			return 0;
		step *= rows->shape[axis];
	}
	return 1;
}

/* The tile of y as matrices to read. */
static tn_array *read_rows(const struct tn_conv2d *conv, const struct tile *tile)
{
	tn_array *rows = rows_of(conv, tile), *lines = rows;
	if (rows && !rows_are_lines(rows)) {
		lines = make_rows(conv, tile);
		if (lines && tn_copy_run(conv->runtime, TN_DO_COPY, lines, rows))
			return NULL;
	}
	return lines ? rows_as_matrices(conv, lines, tile) : NULL;
}

/* ---- Weights ---------------------------------------------------------------------------------*/

/* w as (G, O/G, C/G R S); a copy where its elements are not compact. */
static tn_array *weights(const struct tn_conv2d *conv, const tn_array *w)
{
	int64_t k = conv->C / conv->G * conv->R * conv->S, o = conv->O / conv->G;
	const int64_t shape[] = {conv->G, o, k}, strides[] = {o * k, k, 1};
	if (w && !w->contiguous)
		w = tn_array_compact(conv->runtime, w);
	return w ? tn_array_view(w, 3, shape, strides, w->offset) : NULL;
}

/* ---- A window of one element -----------------------------------------------------------------*/

static int is_pointwise(const struct tn_conv2d *conv)
{
	return conv->R == 1 && conv->S == 1 && conv->window.stride[0] == 1 &&
	       conv->window.stride[1] == 1 && !has_padding(conv);
}

/* An array of images as (N, G, channels / G, H W); NULL where its planes are not contiguous. */
static tn_array *planes(const struct tn_conv2d *conv, const tn_array *images)
{
	int64_t channels = images->shape[1] / conv->G;
	const int64_t shape[] = {images->shape[0], conv->G, channels,
				 images->shape[2] * images->shape[3]};
	const int64_t strides[] = {images->strides[0], channels * images->strides[1],
				   images->strides[1], 1};
	if (images->shape[3] != 1 && images->strides[3] != 1)
		return NULL;
	if (images->shape[2] != 1 && images->strides[2] != images->shape[3])
		return NULL;
	return tn_array_view(images, 4, shape, strides, images->offset);
}

/* Images with their channels last as (N H W, C). */
static tn_array *pixels(const tn_array *images)
{
	int64_t channels = images->shape[1];
	const int64_t shape[] = {images->size / channels, channels}, strides[] = {channels, 1};
	return tn_array_view(images, 2, shape, strides, images->offset);
}

/* One product of pixels and weights; `transpose` is that of `pointwise`. */
static tn_status pointwise_pixels(const struct tn_conv2d *conv, const tn_array *from, tn_array *to,
				  int transpose)
{
	tn_array *w = weights(conv, conv->w);
	struct tn_matmul_run run = {.operation = TN_DO_MATMUL,
				    .a = pixels(from),
				    .c = pixels(to),
				    .transpose_b = !transpose,
				    .alpha = 1};
	run.b = w ? tn_array_view(w, 2, w->shape + 1, w->strides + 1, w->offset) : NULL;
	if (!run.a || !run.b || !run.c)
		return tn_report_status(conv->runtime);
	return tn_matmul_run(conv->runtime, &run);
}

/* to[n, g] = op(w[g]) from[n, g] for all images at once, through contiguous planes where an array
 * has none. */
static tn_status pointwise_planes(const struct tn_conv2d *conv, const tn_array *from, tn_array *to,
				  int transpose)
{
	struct tn_matmul_run run = {.operation = TN_DO_MATMUL,
				    .a = weights(conv, conv->w),
				    .b = planes(conv, from),
				    .c = planes(conv, to),
				    .transpose_a = transpose,
				    .alpha = 1};
	tn_array *apart = run.c ? NULL : make_array(conv, 4, to->shape);
	tn_status status;
	if (!run.b) {
		from = tn_array_compact(conv->runtime, from);
		run.b = from ? planes(conv, from) : NULL;
	}
	if (apart)
		run.c = planes(conv, apart);
	if (!run.a || !run.b || !run.c)
		return tn_report_status(conv->runtime);
	status = tn_matmul_run(conv->runtime, &run);
	if (!status && apart)
		status = tn_copy_run(conv->runtime, TN_DO_COPY, to, apart);
	return status;
}

static tn_status pointwise(const struct tn_conv2d *conv, const tn_array *from, tn_array *to,
			   int transpose)
{
	int are_pixels = conv->G == 1 && tn_layout_has_channels_last(from) &&
			 tn_layout_has_channels_last(to);
	return (are_pixels ? pointwise_pixels : pointwise_planes)(conv, from, to, transpose);
}

/* ---- Forward ---------------------------------------------------------------------------------*/

static const struct tn_formula sum = {.text = "sum = a + b", .inputs = "a b"};

/* rows := lines + bias; in place where both are one array. */
static tn_status finish_rows(const struct tn_conv2d *conv, tn_array *rows, const tn_array *lines)
{
	const tn_array *bias = conv->bias;
	if (!bias)
		return rows == lines ? TN_OK : tn_copy_run(conv->runtime, TN_DO_COPY, rows, lines);
	/* The bias as (G, O/G, 1, 1, 1). */
	int64_t o = conv->O / conv->G, step = bias->strides[0];
	const int64_t shape[] = {conv->G, o, 1, 1, 1}, strides[] = {o * step, step, 1, 1, 1};
	const tn_array *inputs[] = {lines, tn_array_view(bias, 5, shape, strides, bias->offset)};
	if (!inputs[1])
		return tn_report_status(conv->runtime);
	return tn_formula_map(conv->runtime, TN_DO_ADD, &sum, inputs, &rows, NULL);
}

static tn_status step_forward(const struct tn_conv2d *conv, tn_array *w, const struct tile *tile)
{
	struct tn_matmul_run run = {.operation = TN_DO_MATMUL, .a = w, .alpha = 1};
	tn_array *rows = rows_of(conv, tile), *lines = rows;
	tn_status status;
	run.b = columns_of(conv, tile);
	if (rows && !rows_are_lines(rows))
		lines = make_rows(conv, tile);
	run.c = lines ? rows_as_matrices(conv, lines, tile) : NULL;
	if (!run.b || !run.c)
		return tn_report_status(conv->runtime);
	status = tn_matmul_run(conv->runtime, &run);
	return status ? status : finish_rows(conv, rows, lines);
}

static tn_status for_each_tile(const struct tn_conv2d *conv, tn_array *w,
			       tn_status (*step)(const struct tn_conv2d *conv, tn_array *w,
						 const struct tile *tile))
{
	tn_context *context = conv->runtime->context;
	const struct tile full = largest_tile(conv);
	tn_status status = w ? TN_OK : tn_report_status(conv->runtime);
	for (struct tile tile = full; tile.n < conv->N && !status; tile.n += full.T) {
		tile.T = least(full.T, conv->N - tile.n);
		for (tile.p = 0; tile.p < conv->P && !status; tile.p += full.rows) {
			tile.rows = least(full.rows, conv->P - tile.p);
			status = tn_scope_begin(context);
			if (status)
				break;
			status = step(conv, w, &tile);
			tn_scope_end(context, NULL);
		}
	}
	return status;
}

tn_status tn_compose_conv2d(void *argument)
{
	const struct tn_conv2d *conv = argument;
	if (is_pointwise(conv)) {
		struct tile all = {.T = conv->N, .rows = conv->P};
		tn_status status = pointwise(conv, conv->x, conv->y, 0);
		tn_array *rows = status ? NULL : rows_of(conv, &all);
		if (status)
			return status;
		return rows ? finish_rows(conv, rows, rows) : tn_report_status(conv->runtime);
	}
	return for_each_tile(conv, weights(conv, conv->w), step_forward);
}

/* ---- Gradients -------------------------------------------------------------------------------*/

/* w (+)= yt col^T; the first tile overwrites w unless accumulating. */
static tn_status step_weight_gradient(const struct tn_conv2d *conv, tn_array *w,
				      const struct tile *tile)
{
	int is_first = !tile->n && !tile->p;
	struct tn_matmul_run run = {.operation = TN_DO_MATMUL,
				    .a = read_rows(conv, tile),
				    .b = columns_of(conv, tile),
				    .transpose_b = 1,
				    .c = w,
				    .alpha = 1,
				    .beta = is_first && !conv->accumulate ? 0 : 1};
	if (!run.a || !run.b)
		return tn_report_status(conv->runtime);
	return tn_matmul_run(conv->runtime, &run);
}

tn_status tn_compose_conv2d_weight_gradient(void *argument)
{
	struct tn_conv2d *conv = argument;
	tn_array *dw = conv->w, *compact = dw;
	tn_status status;
	if (!dw->contiguous) {
		compact = tn_array_make(conv->runtime, tn_array_home(dw), dw->dtype, 4, dw->shape);
		if (!compact)
			return tn_report_status(conv->runtime);
		if (conv->accumulate && tn_copy_run(conv->runtime, TN_DO_COPY, compact, dw))
			return tn_report_status(conv->runtime);
	}
	status = for_each_tile(conv, weights(conv, compact), step_weight_gradient);
	if (!status && compact != dw)
		status = tn_copy_run(conv->runtime, TN_DO_COPY, dw, compact);
	return status;
}

/* xp[n, c, p stride + r dilation, q stride + s dilation] += col[c, r, s, n, p, q] for one (r, s) */
static tn_status add_columns(const struct tn_conv2d *conv, const tn_array *xp, const tn_array *col,
			     int64_t r, int64_t s, const struct tile *tile)
{
	tn_array *all = windows(conv, xp, tile), *to, *from;
	const tn_array *inputs[2];
	static const int kept[] = {0, 1, 4, 5, 6};
	int64_t shape[5], to_strides[5], from_strides[5];
	if (!all)
		return tn_report_status(conv->runtime);
	for (int i = 0; i < 5; i++) {
		shape[i] = all->shape[kept[i]];
		to_strides[i] = all->strides[kept[i]];
		from_strides[i] = col->strides[kept[i]];
	}
	to = tn_array_view(all, 5, shape, to_strides,
			   all->offset + r * all->strides[2] + s * all->strides[3]);
	from = tn_array_view(col, 5, shape, from_strides,
			     col->offset + r * col->strides[2] + s * col->strides[3]);
	if (!to || !from)
		return tn_report_status(conv->runtime);
	inputs[0] = to;
	inputs[1] = from;
	return tn_formula_map(conv->runtime, TN_DO_ADD, &sum, inputs, &to, NULL);
}

static tn_status step_input_gradient(const struct tn_conv2d *conv, tn_array *w,
				     const struct tile *tile)
{
	tn_array *part = images(conv, tile), *padded = part, *room = part;
	if (part && has_padding(conv)) {
		/* Rows of one image add up in x itself: the padded image starts from x's values. */
		padded = make_padded(conv, tile->T);
		room = padded ? inside(conv, padded) : NULL;
		if (!room || tn_copy_run(conv->runtime, TN_DO_COPY, room, part))
			return tn_report_status(conv->runtime);
	}
	if (!part)
		return tn_report_status(conv->runtime);
	struct tn_matmul_run run = {.operation = TN_DO_MATMUL,
				    .a = w,
				    .transpose_a = 1,
				    .b = read_rows(conv, tile),
				    .alpha = 1};
	tn_array *col = make_columns(conv, tile);
	run.c = col ? as_matrices(conv, col, tile) : NULL;
	if (!run.b || !run.c)
		return tn_report_status(conv->runtime);
	tn_status status = tn_matmul_run(conv->runtime, &run);
	for (int64_t r = 0; r < conv->R && !status; r++) {
		for (int64_t s = 0; s < conv->S && !status; s++)
			status = add_columns(conv, padded, col, r, s, tile);
	}
	if (!status && room != part)
		status = tn_copy_run(conv->runtime, TN_DO_COPY, part, room);
	return status;
}

tn_status tn_compose_conv2d_input_gradient(void *argument)
{
	const struct tn_conv2d *conv = argument;
	tn_status status;
	if (is_pointwise(conv))
		return pointwise(conv, conv->y, conv->x, 1);
	status = tn_fill_run(conv->runtime, TN_DO_FILL, conv->x, 0);
	return status ? status : for_each_tile(conv, weights(conv, conv->w), step_input_gradient);
}
