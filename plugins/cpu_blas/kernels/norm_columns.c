/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Norms of a matrix whose rows are pixels and whose columns are channels (NHWC).  A few rows are
 * processed together, a register's width of channels at a time: memory is read in order, and
 * per-channel values are loaded once for those rows.
 *
 * Statistics are sums of d = x - k and d^2, where k, the mean of the column's first rows, is near
 * the mean: this avoids cancellation between nearly equal squares.
 */
#include "norm_mask.h"
#include "variant.h"

#define GROUP 8   /* rows that are summed together */
#define STRIP 256 /* channels whose sums stay in L1 */
#define APPLY 4   /* rows that are written together */

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* ---- Statistics ------------------------------------------------------------------------------*/

struct strip {
	float about[STRIP], sum[STRIP], square[STRIP];
};

/* about := the mean of the first rows */
static void begin(struct strip *strip, const float *x, int64_t down, int64_t rows, int64_t channels)
{
	int64_t n = least(rows, GROUP);
	for (int64_t c = 0; c < channels; c += LANES) {
		vf sum = {0};
		for (int64_t r = 0; r < n; r++)
			sum += vf_load_some(x + r * down + c, channels - c);
		vf_store(strip->about + c, sum * (1.0f / (float)n));
		vf_store(strip->sum + c, (vf){0});
		vf_store(strip->square + c, (vf){0});
	}
}

static inline void add_rows(struct strip *strip, const float *x, int64_t down, const int n_rows,
			    int64_t c, int64_t n)
{
	vf about = vf_load(strip->about + c), sum = {0}, square = {0};
#pragma GCC unroll 8
	for (int r = 0; r < n_rows; r++) {
		vf d = vf_load_some(x + r * down + c, n) - about;
		sum += d;
		square += d * d;
	}
	vf_store(strip->sum + c, vf_load(strip->sum + c) + sum);
	vf_store(strip->square + c, vf_load(strip->square + c) + square);
}

static inline void add_group(struct strip *strip, const float *x, int64_t down, const int n_rows,
			     int64_t channels)
{
	int64_t c = 0;
	for (; c + LANES <= channels; c += LANES)
		add_rows(strip, x, down, n_rows, c, LANES);
	if (c < channels)
		add_rows(strip, x, down, n_rows, c, channels - c);
}

/* The mean is k + sum d / n, the sum of squared deviations sum d^2 - (sum d)^2 / n. */
static void finish(const struct strip *strip, int64_t rows, int64_t channels, float *part,
		   int64_t step)
{
	for (int64_t c = 0; c < channels; c += LANES) {
		vf sum = vf_load(strip->sum + c), shift = sum * (1.0f / (float)rows);
		vf square = vf_max((vf){0}, vf_load(strip->square + c) - sum * shift);
		vf_store_some(part + c, vf_load(strip->about + c), channels - c);
		vf_store_some(part + step + c, shift, channels - c);
		vf_store_some(part + 2 * step + c, square, channels - c);
	}
}

static void statistics(const float *x, int64_t down, int64_t rows, int64_t channels, float *part,
		       int64_t step)
{
	struct strip strip;
	for (int64_t c = 0; c < channels; c += STRIP) {
		int64_t n = least(channels - c, STRIP), row = 0;
		begin(&strip, x + c, down, rows, n);
		for (; row + GROUP <= rows; row += GROUP)
			add_group(&strip, x + c + row * down, down, GROUP, n);
		for (; row < rows; row++)
			add_group(&strip, x + c + row * down, down, 1, n);
		finish(&strip, rows, n, part + c, step);
	}
}

/* ---- Forward ---------------------------------------------------------------------------------*/

static inline void forward_rows(const struct cpu_norm_forward *f, int64_t row, const int n_rows,
				const int has_residual, int64_t c, int64_t n)
{
	vf mean = vf_load_some(f->mean + c, n), scale = vf_load_some(f->scale + c, n);
	vf shift = vf_load_some(f->shift + c, n);
	vf low = vf_set(f->low), high = vf_set(f->high);
#pragma GCC unroll 4
	for (int64_t r = row; r < row + n_rows; r++) {
		vf y = (vf_load_some(f->x + r * f->x_down + c, n) - mean) * scale + shift;
		if (has_residual)
			y += vf_load_some(f->residual + r * f->residual_down + c, n);
		vf_store_some(f->y + r * f->y_down + c, vf_min(high, vf_max(low, y)), n);
	}
}

static inline void forward_group(const struct cpu_norm_forward *f, int64_t row, const int n_rows,
				 const int has_residual)
{
	int64_t c = 0;
	for (; c + LANES <= f->channels; c += LANES)
		forward_rows(f, row, n_rows, has_residual, c, LANES);
	if (c < f->channels)
		forward_rows(f, row, n_rows, has_residual, c, f->channels - c);
}

static inline void forward_all(const struct cpu_norm_forward *f, const int has_residual)
{
	int64_t row = 0;
	for (; row + APPLY <= f->rows; row += APPLY)
		forward_group(f, row, APPLY, has_residual);
	for (; row < f->rows; row++)
		forward_group(f, row, 1, has_residual);
}

static void forward(const struct cpu_norm_forward *f)
{
	if (f->residual)
		forward_all(f, 1);
	else
		forward_all(f, 0);
}

/* ---- Backward --------------------------------------------------------------------------------*/

/* g of a register's width in row r, stored if requested. */
static inline vf g_of(const struct cpu_norm_backward *b, const int has_result, int64_t r, int64_t c,
		      int64_t n)
{
	vf g = vf_load_some(b->dy + r * b->dy_down + c, n);
	if (has_result)
		g = norm_mask(g, vf_load_some(b->result + r * b->result_down + c, n), b->high);
	if (b->dresidual)
		vf_store_some(b->dresidual + r * b->dresidual_down + c, g, n);
	return g;
}

static inline void sum_rows(const struct cpu_norm_backward *b, struct strip *strip, int64_t row,
			    const int n_rows, const int has_result, int64_t first, int64_t c,
			    int64_t n)
{
	vf mean = vf_load(strip->about + c), sum = {0}, product = {0};
#pragma GCC unroll 4
	for (int64_t r = row; r < row + n_rows; r++) {
		vf x = vf_load_some(b->x + r * b->x_down + first + c, n);
		vf g = g_of(b, has_result, r, first + c, n);
		sum += g;
		product += g * (x - mean);
	}
	vf_store(strip->sum + c, vf_load(strip->sum + c) + sum);
	vf_store(strip->square + c, vf_load(strip->square + c) + product);
}

static inline void sum_group(const struct cpu_norm_backward *b, struct strip *strip, int64_t row,
			     const int n_rows, const int has_result, int64_t first,
			     int64_t channels)
{
	int64_t c = 0;
	for (; c + LANES <= channels; c += LANES)
		sum_rows(b, strip, row, n_rows, has_result, first, c, LANES);
	if (c < channels)
		sum_rows(b, strip, row, n_rows, has_result, first, c, channels - c);
}

static inline void sum_strip(const struct cpu_norm_backward *b, struct strip *strip,
			     const int has_result, int64_t first, int64_t channels)
{
	int64_t row = 0;
	for (; row + APPLY <= b->rows; row += APPLY)
		sum_group(b, strip, row, APPLY, has_result, first, channels);
	for (; row < b->rows; row++)
		sum_group(b, strip, row, 1, has_result, first, channels);
}

static void sums(const struct cpu_norm_backward *b, float *g_sum, float *gx_sum)
{
	struct strip strip;
	for (int64_t first = 0; first < b->channels; first += STRIP) {
		int64_t n = least(b->channels - first, STRIP);
		memset(&strip, 0, sizeof(strip));
		memcpy(strip.about, b->mean + first, (size_t)n * sizeof(float));
		if (b->result)
			sum_strip(b, &strip, 1, first, n);
		else
			sum_strip(b, &strip, 0, first, n);
		memcpy(g_sum + first, strip.sum, (size_t)n * sizeof(float));
		memcpy(gx_sum + first, strip.square, (size_t)n * sizeof(float));
	}
}

static inline void gradient_rows(const struct cpu_norm_backward *b, int64_t row, const int n_rows,
				 const int has_result, int64_t c, int64_t n)
{
	vf mean = vf_load_some(b->mean + c, n), scale = vf_load_some(b->scale + c, n);
	vf shift = vf_load_some(b->shift + c, n), slope = vf_load_some(b->slope + c, n);
#pragma GCC unroll 4
	for (int64_t r = row; r < row + n_rows; r++) {
		vf x = vf_load_some(b->x + r * b->x_down + c, n);
		vf g = g_of(b, has_result, r, c, n);
		vf dx = scale * g + (shift + slope * (x - mean));
		vf_store_some(b->dx + r * b->dx_down + c, dx, n);
	}
}

static inline void gradient_group(const struct cpu_norm_backward *b, int64_t row, const int n_rows,
				  const int has_result)
{
	int64_t c = 0;
	for (; c + LANES <= b->channels; c += LANES)
		gradient_rows(b, row, n_rows, has_result, c, LANES);
	if (c < b->channels)
		gradient_rows(b, row, n_rows, has_result, c, b->channels - c);
}

static inline void gradient_all(const struct cpu_norm_backward *b, const int has_result)
{
	int64_t row = 0;
	for (; row + APPLY <= b->rows; row += APPLY)
		gradient_group(b, row, APPLY, has_result);
	for (; row < b->rows; row++)
		gradient_group(b, row, 1, has_result);
}

static void gradient(const struct cpu_norm_backward *b)
{
	if (b->result)
		gradient_all(b, 1);
	else
		gradient_all(b, 0);
}

const struct cpu_norm_form VARIANT(cpu_norm_columns) = {
	.statistics = statistics,
	.forward = forward,
	.sums = sums,
	.gradient = gradient,
};
