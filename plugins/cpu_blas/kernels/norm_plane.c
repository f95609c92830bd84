/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Norms of a run of contiguous elements of one channel (a plane of NCHW).  Sums are made in PARTS
 * registers side by side, in chunks that stay in L1 and are combined in double: a chunk's mean
 * first, then the squared deviations from it.
 */
#include "norm_mask.h"
#include "variant.h"

#define CHUNK 4096
#define PARTS 4

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* ---- Statistics ------------------------------------------------------------------------------*/

static float sum_of(const float *x, int64_t n)
{
	vf sum[PARTS] = {{0}};
	int64_t i = 0;
	for (; i + PARTS * LANES <= n; i += PARTS * LANES) {
#pragma GCC unroll 4
		for (int p = 0; p < PARTS; p++)
			sum[p] += vf_load(x + i + p * LANES);
	}
	for (; i < n; i += LANES)
		sum[0] += vf_load_some(x + i, n - i);
	return vf_total((sum[0] + sum[1]) + (sum[2] + sum[3]));
}

/* The sum of the deviations from `about`, which is nonzero only by its rounding, and that of their
 * squares. */
struct distances {
	float sum, square;
};

static struct distances distances_of(const float *x, int64_t n, float about)
{
	vf sum[PARTS] = {{0}}, square[PARTS] = {{0}};
	int64_t i = 0;
	for (; i + PARTS * LANES <= n; i += PARTS * LANES) {
#pragma GCC unroll 4
		for (int p = 0; p < PARTS; p++) {
			vf d = vf_load(x + i + p * LANES) - about;
			sum[p] += d;
			square[p] += d * d;
		}
	}
	for (; i < n; i += LANES) {
		vf d = vf_load_some(x + i, n - i) - about;
		if (n - i < LANES)
			d = vf_first(d, (vf){0}, n - i);
		sum[0] += d;
		square[0] += d * d;
	}
	return (struct distances){
		vf_total((sum[0] + sum[1]) + (sum[2] + sum[3])),
		vf_total((square[0] + square[1]) + (square[2] + square[3])),
	};
}

static void statistics(const float *x, int64_t down, int64_t rows, int64_t channels, float *part,
		       int64_t step)
{
	double all = 0, squares = 0;
	(void)down, (void)channels;
	for (int64_t i = 0; i < rows; i += CHUNK) {
		int64_t n = least(rows - i, CHUNK);
		float about = sum_of(x + i, n) / (float)n;
		struct distances d = distances_of(x + i, n, about);
		double own = about + (double)d.sum / (double)n;
		double away = i ? own - all / (double)i : 0;
		squares += (double)d.square - (double)d.sum * d.sum / (double)n +
			   away * away * (double)i * (double)n / (double)(i + n);
		all += own * (double)n;
	}
	all /= (double)rows;
	part[0] = (float)all;
	part[step] = (float)(all - part[0]);
	part[2 * step] = (float)squares;
}

/* ---- Forward ---------------------------------------------------------------------------------*/

static inline void forward_at(const struct cpu_norm_forward *f, const int has_residual, int64_t i,
			      int64_t n)
{
	vf y = (vf_load_some(f->x + i, n) - f->mean[0]) * f->scale[0] + f->shift[0];
	if (has_residual)
		y += vf_load_some(f->residual + i, n);
	vf_store_some(f->y + i, vf_min(vf_set(f->high), vf_max(vf_set(f->low), y)), n);
}

static inline void forward_all(const struct cpu_norm_forward *f, const int has_residual)
{
	int64_t i = 0;
	for (; i + LANES <= f->rows; i += LANES)
		forward_at(f, has_residual, i, LANES);
	if (i < f->rows)
		forward_at(f, has_residual, i, f->rows - i);
}

static void forward(const struct cpu_norm_forward *f)
{
	struct cpu_norm_forward own = *f;
	if (own.residual)
		forward_all(&own, 1);
	else
		forward_all(&own, 0);
}

/* ---- Backward --------------------------------------------------------------------------------*/

static inline vf g_of(const struct cpu_norm_backward *b, const int has_result, int64_t i, int64_t n)
{
	vf g = vf_load_some(b->dy + i, n);
	if (has_result)
		g = norm_mask(g, vf_load_some(b->result + i, n), b->high);
	if (b->dresidual)
		vf_store_some(b->dresidual + i, g, n);
	return g;
}

struct pair {
	double sum, product;
};

static inline struct pair sum_chunk(const struct cpu_norm_backward *b, const int has_result,
				    int64_t i, int64_t end)
{
	vf sum[PARTS] = {{0}}, product[PARTS] = {{0}};
	float mean = b->mean[0];
	for (; i + PARTS * LANES <= end; i += PARTS * LANES) {
#pragma GCC unroll 4
		for (int p = 0; p < PARTS; p++) {
			vf x = vf_load(b->x + i + p * LANES);
			vf g = g_of(b, has_result, i + p * LANES, LANES);
			sum[p] += g;
			product[p] += g * (x - mean);
		}
	}
	for (; i < end; i += LANES) {
		vf x = vf_load_some(b->x + i, end - i), g = g_of(b, has_result, i, end - i);
		sum[0] += g;
		product[0] += g * (x - mean);
	}
	return (struct pair){
		(double)vf_total((sum[0] + sum[1]) + (sum[2] + sum[3])),
		(double)vf_total((product[0] + product[1]) + (product[2] + product[3])),
	};
}

static void sums(const struct cpu_norm_backward *b, float *g_sum, float *gx_sum)
{
	double sum = 0, product = 0;
	for (int64_t i = 0; i < b->rows; i += CHUNK) {
		int64_t end = least(b->rows, i + CHUNK);
		struct pair own = b->result ? sum_chunk(b, 1, i, end) : sum_chunk(b, 0, i, end);
		sum += own.sum;
		product += own.product;
	}
	*g_sum = (float)sum;
	*gx_sum = (float)product;
}

static inline void gradient_at(const struct cpu_norm_backward *b, const int has_result, int64_t i,
			       int64_t n)
{
	vf x = vf_load_some(b->x + i, n), g = g_of(b, has_result, i, n);
	vf rest = b->shift[0] + b->slope[0] * (x - b->mean[0]);
	vf_store_some(b->dx + i, b->scale[0] * g + rest, n);
}

static inline void gradient_all(const struct cpu_norm_backward *b, const int has_result)
{
	int64_t i = 0;
	for (; i + LANES <= b->rows; i += LANES)
		gradient_at(b, has_result, i, LANES);
	if (i < b->rows)
		gradient_at(b, has_result, i, b->rows - i);
}

static void gradient(const struct cpu_norm_backward *b)
{
	if (b->result)
		gradient_all(b, 1);
	else
		gradient_all(b, 0);
}

const struct cpu_norm_form VARIANT(cpu_norm_plane) = {
	.statistics = statistics,
	.forward = forward,
	.sums = sums,
	.gradient = gradient,
};
