/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Depthwise convolution, the gradient of its weights.
 *
 * For a vector of channels, the S sums of one row of the window stay in registers while a row of dy
 * is streamed, block by block: a block of dy is in registers too, and the matching columns of x are
 * loaded once each.  Rows of dy are the outer loop, so that x and dy are read from memory once; if
 * rows are short, the images of a box are the inner loop, before the sums are stored.
 */
#include "depthwise_block.h"

/* sums[s] += x of columns first + i stride + s times dy[i]. */
INLINE void add_block(vf *sums, const struct cpu_depthwise *d, const float *x, const float *dy,
		      int64_t first, int S, int stride, int columns, int inside)
{
	int64_t at = first * d->x_pixel;
	vf given[WIDEST];
#pragma GCC unroll 8
	for (int i = 0; i < columns; i++)
		given[i] = vf_load(dy + i * d->y_pixel);
#pragma GCC unroll 32
	for (int j = 0; j < (columns - 1) * stride + S; j++, at += d->x_pixel) {
		if (!inside && (uint64_t)(first + j) >= (uint64_t)d->w)
			continue;
		vf here = vf_load(x + at);
#pragma GCC unroll 8
		for (int s = j % stride; s < S; s += stride) {
			int i = (j - s) / stride;
			if (s <= j && i < columns)
				sums[s] += here * given[i];
		}
	}
}

/* A row of x with a row of dy. */
INLINE void add_row(vf *sums, const struct cpu_depthwise *d, const float *x, const float *dy, int S,
		    int stride)
{
	int64_t q = 0, first = -d->padding[1];
	for (; q + 8 <= d->q; q += 8, first += 8 * stride, dy += 8 * d->y_pixel) {
		if (first >= 0 && first + 7 * stride + S <= d->w)
			add_block(sums, d, x, dy, first, S, stride, 8, 1);
		else
			add_block(sums, d, x, dy, first, S, stride, 8, 0);
	}
	for (; q + 4 <= d->q; q += 4, first += 4 * stride, dy += 4 * d->y_pixel)
		add_block(sums, d, x, dy, first, S, stride, 4, 0);
	for (; q < d->q; q++, first += stride, dy += d->y_pixel)
		add_block(sums, d, x, dy, first, S, stride, 1, 0);
}

/* Row r of the window at row p of dy, for a vector of channels of all images. */
INLINE void add_images(const struct cpu_depthwise *d, const struct cpu_depthwise_box *box,
		       int64_t p, int64_t r, int64_t channel, int S, int stride)
{
	int64_t h = p * d->stride[0] + r * d->dilation[0] - d->padding[0];
	float *weights = d->weights + r * S * d->weights_row + channel;
	vf sums[7];
	if (h < 0 || h >= d->h)
		return;
#pragma GCC unroll 8
	for (int s = 0; s < S; s++)
		sums[s] = vf_load(weights + s * d->weights_row);
	for (int64_t i = box->image; i < box->image + box->images; i++)
		add_row(sums, d, d->x + i * d->x_image + h * d->x_row + channel,
			d->y + i * d->y_image + p * d->y_row + channel, S, stride);
#pragma GCC unroll 8
	for (int s = 0; s < S; s++)
		vf_store(weights + s * d->weights_row, sums[s]);
}

INLINE void box_of(const struct cpu_depthwise *d, const struct cpu_depthwise_box *box, int S,
		   int stride)
{
	int64_t end = box->channel + box->channels;
	for (int64_t p = box->row; p < box->row + box->rows; p++)
		for (int64_t c = box->channel; c + LANES <= end; c += LANES)
			for (int64_t r = 0; r < d->r; r++)
				add_images(d, box, p, r, c, S, stride);
}

/* ---- Any window, and the channels that do not fill a vector ----------------------------------*/

/* One tap for n channels, over one image's rows of the box. */
static vf any_tap(const struct cpu_depthwise *d, const struct cpu_depthwise_box *box, int64_t image,
		  int64_t r, int64_t s, int64_t channel, int64_t n)
{
	vf sum = {0};
	for (int64_t p = box->row; p < box->row + box->rows; p++) {
		int64_t h = p * d->stride[0] + r * d->dilation[0] - d->padding[0];
		if (h < 0 || h >= d->h)
			continue;
		const float *x = d->x + image * d->x_image + h * d->x_row + channel;
		const float *dy = d->y + image * d->y_image + p * d->y_row + channel;
		for (int64_t q = 0; q < d->q; q++) {
			int64_t w = q * d->stride[1] + s * d->dilation[1] - d->padding[1];
			if (w >= 0 && w < d->w)
				sum += load(x + w * d->x_pixel, n) * load(dy + q * d->y_pixel, n);
		}
	}
	return sum;
}

static void any(const struct cpu_depthwise *d, const struct cpu_depthwise_box *box, int64_t channel)
{
	int64_t end = box->channel + box->channels;
	for (; channel < end; channel += LANES) {
		int64_t n = end - channel < LANES ? end - channel : LANES;
		for (int64_t i = box->image; i < box->image + box->images; i++) {
			for (int64_t tap = 0; tap < d->r * d->s; tap++) {
				float *weights = d->weights + tap * d->weights_row + channel;
				vf sum = load(weights, n) +
					 any_tap(d, box, i, tap / d->s, tap % d->s, channel, n);
				if (n == LANES)
					vf_store(weights, sum);
				else
					vf_store_first(weights, sum, n);
			}
		}
	}
}

void VARIANT(cpu_depthwise_weight_gradient)(const struct cpu_depthwise *d,
					    const struct cpu_depthwise_box *box)
{
	int fits = d->dilation[1] == 1 && d->stride[1] <= 2;
	int64_t whole = box->channels / LANES * LANES;
	switch (fits ? 10 * d->s + d->stride[1] : 0) {
	case 31:
		box_of(d, box, 3, 1);
		break;
	case 32:
		box_of(d, box, 3, 2);
		break;
	case 51:
		box_of(d, box, 5, 1);
		break;
	case 52:
		box_of(d, box, 5, 2);
		break;
	case 71:
		box_of(d, box, 7, 1);
		break;
	default:
		whole = 0;
	}
	any(d, box, box->channel + whole);
}
