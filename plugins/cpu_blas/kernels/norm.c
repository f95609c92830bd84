/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Statistics and sums over the parts of an array, combined in double and in the order of the parts:
 *
 *     mean = sum n_i mean_i / n,   square = sum (square_i + n_i (mean_i - mean)^2)
 */
#include "variant.h"

static double rows_of(const struct cpu_norm_parts *parts, int64_t unit)
{
	return (double)((unit + 1) % parts->cycle ? parts->rows : parts->last_rows);
}

static void clear(double *sum, int64_t n)
{
	for (int64_t c = 0; c < n; c++)
		sum[c] = 0;
}

static void add_means(const float *part, int64_t row, double rows, int64_t channels, double *mean)
{
#pragma omp simd
	for (int64_t c = 0; c < channels; c++)
		mean[c] += rows * ((double)part[c] + (double)part[row + c]);
}

static void add_squares(const float *part, int64_t row, double rows, int64_t channels,
			const double *mean, double *square)
{
#pragma omp simd
	for (int64_t c = 0; c < channels; c++) {
		double away = ((double)part[c] - mean[c]) + (double)part[row + c];
		square[c] += (double)part[2 * row + c] + rows * away * away;
	}
}

static void merge_statistics(const struct cpu_norm_parts *parts, int64_t row, int64_t channels,
			     double *mean, double *square)
{
	double rows = 0;
	clear(mean, channels);
	clear(square, channels);
	for (int64_t u = 0; u < parts->n_units; u++) {
		add_means(parts->first + u * parts->step, row, rows_of(parts, u), channels, mean);
		rows += rows_of(parts, u);
	}
	for (int64_t c = 0; c < channels; c++)
		mean[c] /= rows;
	for (int64_t u = 0; u < parts->n_units; u++)
		add_squares(parts->first + u * parts->step, row, rows_of(parts, u), channels, mean,
			    square);
}

static void add(const float *part, int64_t channels, double *sum)
{
#pragma omp simd
	for (int64_t c = 0; c < channels; c++)
		sum[c] += (double)part[c];
}

static void merge_sums(const struct cpu_norm_parts *parts, int64_t channels, double *sum)
{
	clear(sum, channels);
	for (int64_t u = 0; u < parts->n_units; u++)
		add(parts->first + u * parts->step, channels, sum);
}

const struct cpu_norm_kernels VARIANT(cpu_norm) = {
	.columns = &VARIANT(cpu_norm_columns),
	.plane = &VARIANT(cpu_norm_plane),
	.rows_forward = VARIANT(cpu_norm_rows_forward),
	.rows_backward = VARIANT(cpu_norm_rows_backward),
	.merge_statistics = merge_statistics,
	.merge_sums = merge_sums,
};
