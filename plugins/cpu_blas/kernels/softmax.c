/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Softmax and its logarithm.  Along rows, a row stays in L1 for three passes: the maximum, the
 * exponentials and their sum, the division.  Across rows, a band of columns is read twice: BLOCK
 * rows at a time for the maxima and sums together (an old sum is rescaled when a larger number is
 * found), then to write.
 *
 * A NaN makes its line NaN, and so do a line of -inf and one with inf, because x - max x is NaN
 * there.
 */
#include "log.h"
#include "softmax_rows.h"
#include "variant.h"

#define BLOCK 16
#define BAND 256

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* ---- Along rows ------------------------------------------------------------------------------*/

/* y := y a */
static void row_scale(float *y, int64_t n, float a)
{
	for (int64_t i = 0; i < n; i += LANES)
		vf_store_some(y + i, vf_load_some(y + i, n - i) * a, n - i);
}

/* out := (x - largest) - log_sum */
static void row_shift(const float *x, int64_t n, float largest, float log_sum, float *out)
{
	for (int64_t i = 0; i < n; i += LANES)
		vf_store_some(out + i, (vf_load_some(x + i, n - i) - largest) - log_sum, n - i);
}

static void forward_along(const struct cpu_softmax *s)
{
	for (int64_t line = 0; line < s->lines; line++) {
		const float *x = s->in + line * s->in_line;
		float *y = s->out + line * s->out_line;
		float largest = row_largest(x, s->n);
		float sum = row_exp(x, s->n, largest, s->logarithm ? NULL : y);
		if (s->logarithm)
			row_shift(x, s->n, largest, log_one(sum), y);
		else
			row_scale(y, s->n, 1.0f / sum);
	}
}

/* The sum of y dy, or of dy. */
static float row_product(const float *y, const float *dy, int64_t n, const int logarithm)
{
	vf sum[PARTS] = {{0}};
	int64_t i = 0;
	for (; i + PARTS * LANES <= n; i += PARTS * LANES) {
#pragma GCC unroll 4
		for (int p = 0; p < PARTS; p++) {
			vf g = vf_load(dy + i + p * LANES);
			if (!logarithm)
				g *= vf_load(y + i + p * LANES);
			sum[p] += g;
		}
	}
	for (; i < n; i += LANES) {
		vf g = vf_load_some(dy + i, n - i);
		if (!logarithm)
			g *= vf_load_some(y + i, n - i);
		sum[0] += g;
	}
	return vf_total((sum[0] + sum[1]) + (sum[2] + sum[3]));
}

static inline vf gradient(vf y, vf dy, vf sum, int logarithm)
{
	return logarithm ? dy - vf_exp(y) * sum : y * (dy - sum);
}

static void row_gradient(const struct cpu_softmax *s, const float *y, const float *dy, float sum,
			 float *dx)
{
	for (int64_t i = 0; i < s->n; i += LANES) {
		int64_t n = s->n - i;
		vf value = gradient(vf_load_some(y + i, n), vf_load_some(dy + i, n), vf_set(sum),
				    s->logarithm);
		if (s->accumulate)
			value += vf_load_some(dx + i, n);
		vf_store_some(dx + i, value, n);
	}
}

static void backward_along(const struct cpu_softmax *s)
{
	for (int64_t line = 0; line < s->lines; line++) {
		const float *y = s->in + line * s->in_line, *dy = s->dy + line * s->dy_line;
		float sum =
			s->logarithm ? row_product(y, dy, s->n, 1) : row_product(y, dy, s->n, 0);
		row_gradient(s, y, dy, sum, s->out + line * s->out_line);
	}
}

/* ---- Across rows -----------------------------------------------------------------------------*/

struct band {
	float most[BAND], sum[BAND];
};

/* Takes rows first..first+rows-1 of `n` <= LANES columns from c on.  While all were -inf nothing is
 * subtracted, so that the sum is 0 and not NaN. */
static void add_block(const struct cpu_softmax *s, struct band *band, int64_t first, int64_t rows,
		      int64_t c, int64_t at, int64_t n)
{
	const float *x = s->in + first * s->in_line + c;
	vf lowest = vf_set(-__builtin_inff()), before = vf_load(band->most + at), most = before;
	for (int64_t r = 0; r < rows; r++)
		most = vf_max(vf_load_some(x + r * s->in_line, n), most);
	vf about = vf_select(most == lowest, (vf){0}, most);
	vf sum = vf_load(band->sum + at) * vf_exp(before - about);
	for (int64_t r = 0; r < rows; r++)
		sum += vf_exp(vf_load_some(x + r * s->in_line, n) - about);
	vf_store(band->most + at, most);
	vf_store(band->sum + at, sum);
}

static void find_sums(const struct cpu_softmax *s, struct band *band, int64_t c, int64_t columns)
{
	for (int64_t i = 0; i < columns; i += LANES) {
		vf_store(band->most + i, vf_set(-__builtin_inff()));
		vf_store(band->sum + i, (vf){0});
	}
	for (int64_t row = 0; row < s->n; row += BLOCK)
		for (int64_t i = 0; i < columns; i += LANES)
			add_block(s, band, row, least(BLOCK, s->n - row), c + i, i,
				  least(LANES, columns - i));
}

/* Converts sums to the factor of each exponential, or to the value that is subtracted. */
static void finish_sums(const struct cpu_softmax *s, struct band *band, int64_t columns)
{
	for (int64_t i = 0; i < columns; i++)
		band->sum[i] = s->logarithm ? log_one(band->sum[i]) : 1.0f / band->sum[i];
}

static void write_row(const struct cpu_softmax *s, const struct band *band, int64_t row, int64_t c,
		      int64_t columns)
{
	const float *x = s->in + row * s->in_line + c;
	float *y = s->out + row * s->out_line + c;
	for (int64_t i = 0; i < columns; i += LANES) {
		int64_t n = least(LANES, columns - i);
		vf away = vf_load_some(x + i, n) - vf_load(band->most + i);
		vf sum = vf_load(band->sum + i);
		vf_store_some(y + i, s->logarithm ? away - sum : vf_exp(away) * sum, n);
	}
}

static void forward_across(const struct cpu_softmax *s)
{
	struct band band;
	for (int64_t c = 0; c < s->lines; c += BAND) {
		int64_t columns = least(BAND, s->lines - c);
		find_sums(s, &band, c, columns);
		finish_sums(s, &band, columns);
		for (int64_t row = 0; row < s->n; row++)
			write_row(s, &band, row, c, columns);
	}
}

static void add_product(const struct cpu_softmax *s, struct band *band, int64_t row, int64_t c,
			int64_t columns)
{
	const float *y = s->in + row * s->in_line + c, *dy = s->dy + row * s->dy_line + c;
	for (int64_t i = 0; i < columns; i += LANES) {
		int64_t n = least(LANES, columns - i);
		vf g = vf_load_some(dy + i, n);
		if (!s->logarithm)
			g *= vf_load_some(y + i, n);
		vf_store(band->sum + i, vf_load(band->sum + i) + g);
	}
}

static void write_gradient(const struct cpu_softmax *s, const struct band *band, int64_t row,
			   int64_t c, int64_t columns)
{
	const float *y = s->in + row * s->in_line + c, *dy = s->dy + row * s->dy_line + c;
	float *dx = s->out + row * s->out_line + c;
	for (int64_t i = 0; i < columns; i += LANES) {
		int64_t n = least(LANES, columns - i);
		vf value = gradient(vf_load_some(y + i, n), vf_load_some(dy + i, n),
				    vf_load(band->sum + i), s->logarithm);
		if (s->accumulate)
			value += vf_load_some(dx + i, n);
		vf_store_some(dx + i, value, n);
	}
}

static void backward_across(const struct cpu_softmax *s)
{
	struct band band;
	for (int64_t c = 0; c < s->lines; c += BAND) {
		int64_t columns = least(BAND, s->lines - c);
		memset(band.sum, 0, sizeof(band.sum));
		for (int64_t row = 0; row < s->n; row++)
			add_product(s, &band, row, c, columns);
		for (int64_t row = 0; row < s->n; row++)
			write_gradient(s, &band, row, c, columns);
	}
}

const struct cpu_softmax_kernels VARIANT(cpu_softmax) = {
	.forward_along = forward_along,
	.backward_along = backward_along,
	.forward_across = forward_across,
	.backward_across = backward_across,
	.cross_entropy_forward = VARIANT(cpu_cross_entropy_forward),
	.cross_entropy_backward = VARIANT(cpu_cross_entropy_backward),
};
