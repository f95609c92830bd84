/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Pieces of norms.  A piece in columns is rows x channels numbers whose channels are contiguous,
 * its rows `down` elements apart; a piece in a plane is `rows` contiguous elements of one channel,
 * and a per-channel array is one number then.
 */
#ifndef CPU_NORM_H
#define CPU_NORM_H

#include <stdint.h>

/* y := clamp((x - mean) scale + shift + residual) */
struct cpu_norm_forward {
	int64_t rows, channels;
	const float *x, *residual; /* residual may be NULL */
	float *y;
	int64_t x_down, residual_down, y_down;
	const float *mean, *scale, *shift;
	float low, high; /* what y is clamped to; a NaN stays */
};

/* With g = dy where 0 < result < high, else 0 (g = dy without a result):
 *
 *     sums      g_sum[c] := sum of g,  gx_sum[c] := sum of g (x - mean),  dresidual := g
 *     gradient  dx := scale g + shift + slope (x - mean),                 dresidual := g */
struct cpu_norm_backward {
	int64_t rows, channels;
	const float *x, *dy, *result; /* result may be NULL */
	float *dx, *dresidual;        /* dresidual may be NULL */
	int64_t x_down, dy_down, result_down, dx_down, dresidual_down;
	const float *mean, *scale, *shift, *slope;
	float high; /* NaN: no limit */
};

/* The same of whole rows, each of which has its own mean: */
struct cpu_norm_rows {
	int64_t rows, channels;
	const float *x, *residual, *dy, *result;
	float *y, *dx, *dresidual;
	int64_t x_down, residual_down, dy_down, result_down, y_down, dx_down, dresidual_down;
	const float *w, *b;
	float *mean, *rstd; /* forward writes, backward reads */
	int64_t mean_step, rstd_step;
	float *dw, *db;
	double epsilon;
	float low, high; /* as above: forward's clamp, backward's limit */
};

/* `n_units` parts with one number a channel each, `step` floats apart. */
struct cpu_norm_parts {
	const float *first;
	int64_t n_units, step;
	int64_t cycle;           /* of this many parts the last has `last_rows` */
	int64_t rows, last_rows; /* numbers that a part stands for */
};

struct cpu_norm_form {
	/* A part of the statistics, its rows `step` apart: two numbers whose sum is the mean,
	 * because one would round it, and the sum of (x - mean)^2. */
	void (*statistics)(const float *x, int64_t down, int64_t rows, int64_t channels,
			   float *part, int64_t step);
	void (*forward)(const struct cpu_norm_forward *f);
	void (*sums)(const struct cpu_norm_backward *b, float *g_sum, float *gx_sum);
	void (*gradient)(const struct cpu_norm_backward *b);
};

struct cpu_norm_kernels {
	const struct cpu_norm_form *columns, *plane;
	void (*rows_forward)(const struct cpu_norm_rows *n);
	void (*rows_backward)(const struct cpu_norm_rows *n);
	/* The mean and the sum of squared deviations of all parts, whose rows are `row` apart, for
	 * `channels` channels from the first on. */
	void (*merge_statistics)(const struct cpu_norm_parts *parts, int64_t row, int64_t channels,
				 double *mean, double *square);
	void (*merge_sums)(const struct cpu_norm_parts *parts, int64_t channels, double *sum);
};

#endif
