/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Norms over each row (layer norm).  ROWS rows are processed together, each with a register of
 * partial sums: their additions are independent, and w, b, dw and db are loaded once for all of
 * them.  The rows stay in L1 from one pass to the next.
 */
#include <math.h>

#include "norm_mask.h"
#include "variant.h"

#if VECTOR_REGISTERS == 32
#define ROWS 4
#else
#define ROWS 2
#endif

/* ---- Forward ---------------------------------------------------------------------------------*/

struct statistics {
	vf sum[ROWS], square[ROWS];
	float mean[ROWS], rstd[ROWS];
};

static inline void add_sums(const struct cpu_norm_rows *n, struct statistics *s, int64_t row,
			    const int n_rows, int64_t c, int64_t lanes)
{
#pragma GCC unroll 4
	for (int r = 0; r < n_rows; r++)
		s->sum[r] += vf_load_some(n->x + (row + r) * n->x_down + c, lanes);
}

static inline void add_squares(const struct cpu_norm_rows *n, struct statistics *s, int64_t row,
			       const int n_rows, int64_t c, int64_t lanes)
{
#pragma GCC unroll 4
	for (int r = 0; r < n_rows; r++) {
		vf d = vf_load_some(n->x + (row + r) * n->x_down + c, lanes) - s->mean[r];
		if (lanes < LANES)
			d = vf_first(d, (vf){0}, lanes);
		s->sum[r] += d;
		s->square[r] += d * d;
	}
}

static inline void find_means(const struct cpu_norm_rows *n, struct statistics *s, int64_t row,
			      const int n_rows)
{
	int64_t c = 0;
	for (; c + LANES <= n->channels; c += LANES)
		add_sums(n, s, row, n_rows, c, LANES);
	if (c < n->channels)
		add_sums(n, s, row, n_rows, c, n->channels - c);
	for (int r = 0; r < n_rows; r++) {
		s->mean[r] = vf_total(s->sum[r]) / (float)n->channels;
		s->sum[r] = (vf){0};
	}
}

/* The mean is corrected by the remaining deviation: so its error is that of one rounding. */
static inline void find_rstds(const struct cpu_norm_rows *n, struct statistics *s, int64_t row,
			      const int n_rows)
{
	int64_t c = 0;
	for (; c + LANES <= n->channels; c += LANES)
		add_squares(n, s, row, n_rows, c, LANES);
	if (c < n->channels)
		add_squares(n, s, row, n_rows, c, n->channels - c);
	for (int r = 0; r < n_rows; r++) {
		double rest = (double)vf_total(s->sum[r]) / (double)n->channels;
		double square = (double)vf_total(s->square[r]) / (double)n->channels;
		double variance = square - rest * rest;
		s->mean[r] = (float)(s->mean[r] + rest);
		s->rstd[r] = (float)(1 / sqrt((variance < 0 ? 0 : variance) + n->epsilon));
	}
}

static inline void forward_at(const struct cpu_norm_rows *n, const struct statistics *s,
			      int64_t row, const int n_rows, int64_t c, int64_t lanes)
{
	vf w = vf_load_some(n->w + c, lanes), b = vf_load_some(n->b + c, lanes);
	vf low = vf_set(n->low), high = vf_set(n->high);
#pragma GCC unroll 4
	for (int r = 0; r < n_rows; r++) {
		vf x = vf_load_some(n->x + (row + r) * n->x_down + c, lanes);
		vf y = (x - s->mean[r]) * s->rstd[r] * w + b;
		if (n->residual)
			y += vf_load_some(n->residual + (row + r) * n->residual_down + c, lanes);
		vf_store_some(n->y + (row + r) * n->y_down + c, vf_min(high, vf_max(low, y)),
			      lanes);
	}
}

static inline void forward_rows(const struct cpu_norm_rows *n, int64_t row, const int n_rows)
{
	struct statistics s = {0};
	int64_t c = 0;
	find_means(n, &s, row, n_rows);
	find_rstds(n, &s, row, n_rows);
	for (; c + LANES <= n->channels; c += LANES)
		forward_at(n, &s, row, n_rows, c, LANES);
	if (c < n->channels)
		forward_at(n, &s, row, n_rows, c, n->channels - c);
	for (int r = 0; r < n_rows; r++) {
		n->mean[(row + r) * n->mean_step] = s.mean[r];
		n->rstd[(row + r) * n->rstd_step] = s.rstd[r];
	}
}

void VARIANT(cpu_norm_rows_forward)(const struct cpu_norm_rows *n)
{
	int64_t row = 0;
	for (; row + ROWS <= n->rows; row += ROWS)
		forward_rows(n, row, ROWS);
	for (; row < n->rows; row++)
		forward_rows(n, row, 1);
}

/* ---- Backward --------------------------------------------------------------------------------*/

/* Of each row: the sums of g w and g w (x - mean) rstd, then their means. */
struct terms {
	vf sum[ROWS], product[ROWS];
	float mean[ROWS], rstd[ROWS];
	float g_mean[ROWS], gx_mean[ROWS];
};

static inline vf g_of(const struct cpu_norm_rows *n, int64_t row, int64_t c, int64_t lanes)
{
	vf g = vf_load_some(n->dy + row * n->dy_down + c, lanes);
	if (n->result)
		g = norm_mask(g, vf_load_some(n->result + row * n->result_down + c, lanes),
			      n->high);
	return g;
}

static inline void add_terms(const struct cpu_norm_rows *n, struct terms *t, int64_t row,
			     const int n_rows, int64_t c, int64_t lanes)
{
	vf w = vf_load_some(n->w + c, lanes), dw = {0}, db = {0};
#pragma GCC unroll 4
	for (int r = 0; r < n_rows; r++) {
		vf x = vf_load_some(n->x + (row + r) * n->x_down + c, lanes);
		vf g = g_of(n, row + r, c, lanes), away = (x - t->mean[r]) * t->rstd[r];
		vf weighted = g * w;
		dw += g * away;
		db += g;
		t->sum[r] += weighted;
		t->product[r] += weighted * away;
	}
	vf_store_some(n->dw + c, vf_load_some(n->dw + c, lanes) + dw, lanes);
	vf_store_some(n->db + c, vf_load_some(n->db + c, lanes) + db, lanes);
}

static inline void find_terms(const struct cpu_norm_rows *n, struct terms *t, int64_t row,
			      const int n_rows)
{
	int64_t c = 0;
	for (int r = 0; r < n_rows; r++) {
		t->mean[r] = n->mean[(row + r) * n->mean_step];
		t->rstd[r] = n->rstd[(row + r) * n->rstd_step];
	}
	for (; c + LANES <= n->channels; c += LANES)
		add_terms(n, t, row, n_rows, c, LANES);
	if (c < n->channels)
		add_terms(n, t, row, n_rows, c, n->channels - c);
	for (int r = 0; r < n_rows; r++) {
		t->g_mean[r] = vf_total(t->sum[r]) / (float)n->channels;
		t->gx_mean[r] = vf_total(t->product[r]) / (float)n->channels;
	}
}

static inline void gradient_at(const struct cpu_norm_rows *n, const struct terms *t, int64_t row,
			       const int n_rows, int64_t c, int64_t lanes)
{
	vf w = vf_load_some(n->w + c, lanes);
#pragma GCC unroll 4
	for (int r = 0; r < n_rows; r++) {
		vf x = vf_load_some(n->x + (row + r) * n->x_down + c, lanes);
		vf g = g_of(n, row + r, c, lanes), away = (x - t->mean[r]) * t->rstd[r];
		vf dx = (g * w - t->g_mean[r] - away * t->gx_mean[r]) * t->rstd[r];
		if (n->dx)
			vf_store_some(n->dx + (row + r) * n->dx_down + c, dx, lanes);
		if (n->dresidual)
			vf_store_some(n->dresidual + (row + r) * n->dresidual_down + c, g, lanes);
	}
}

static inline void backward_rows(const struct cpu_norm_rows *n, int64_t row, const int n_rows)
{
	struct terms t = {0};
	int64_t c = 0;
	find_terms(n, &t, row, n_rows);
	if (!n->dx && !n->dresidual)
		return;
	for (; c + LANES <= n->channels; c += LANES)
		gradient_at(n, &t, row, n_rows, c, LANES);
	if (c < n->channels)
		gradient_at(n, &t, row, n_rows, c, n->channels - c);
}

void VARIANT(cpu_norm_rows_backward)(const struct cpu_norm_rows *n)
{
	int64_t row = 0;
	for (; row + ROWS <= n->rows; row += ROWS)
		backward_rows(n, row, ROWS);
	for (; row < n->rows; row++)
		backward_rows(n, row, 1);
}
