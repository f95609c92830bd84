/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Winograd's transforms of weights and of their gradients.  A register holds one of a filter's nine
 * weights for LANES columns of U, whose filters are far apart: they are read, and written, as LANES
 * rows of nine and transposed in registers.
 */
#include "winograd_family.h"
#include "winograd_points.h"

enum { FILTER = 9, SIDE = 3, PATCH = WINOGRAD_PATCH };

/* Registers that hold nine floats. */
#define WORDS ((FILTER + LANES - 1) / LANES)

/* Swaps element j of x[i] with element i of x[j]: each step swaps blocks of h x h beside the
 * diagonal, the largest first, so that registers which only hold zeros are optimised away. */
static inline __attribute__((always_inline)) void transpose(vf *x)
{
	vi lane = vi_ramp();
#pragma GCC unroll 4
	for (int h = LANES / 2; h > 0; h /= 2) {
		vi odd = (lane & h) != 0;
		vi upper = lane + (odd & (int)(LANES - h));
		vi lower = lane + (odd & (int)LANES) + (~odd & h);
#pragma GCC unroll 16
		for (int i = 0; i < LANES; i++) {
			if (i & h)
				continue;
			vf a = x[i], b = x[i + h];
			x[i] = vf_shuffle(a, b, upper);
			x[i + h] = vf_shuffle(a, b, lower);
		}
	}
}

/* g[i] := weight i of n <= LANES filters that are `step` apart, 0 for the others. */
static inline __attribute__((always_inline)) void load_filters(vf *g, const float *w, int64_t step,
							       int64_t n)
{
#pragma GCC unroll 4
	for (int64_t begin = 0; begin < FILTER; begin += LANES) {
		vf x[LANES];
		int64_t size = FILTER - begin < LANES ? FILTER - begin : LANES;
#pragma GCC unroll 16
		for (int i = 0; i < LANES; i++) {
			x[i] = (vf){0};
			if (i < n)
				x[i] = size == LANES ? vf_load(w + i * step + begin)
						     : vf_load_first(w + i * step + begin, size);
		}
		transpose(x);
#pragma GCC unroll 16
		for (int64_t i = 0; i < size; i++)
			g[begin + i] = x[i];
	}
}

static inline __attribute__((always_inline)) void store_row(float *w, vf x, int64_t size,
							    int accumulate)
{
	vf old = {0};
	if (size == LANES) {
		if (accumulate)
			old = vf_load(w);
		vf_store(w, old + x);
	} else {
		if (accumulate)
			old = vf_load_first(w, size);
		vf_store_first(w, old + x, size);
	}
}

static inline __attribute__((always_inline)) void store_filters(float *w, const vf *g, int64_t step,
								int64_t n, int accumulate)
{
#pragma GCC unroll 4
	for (int64_t begin = 0; begin < FILTER; begin += LANES) {
		vf x[LANES];
		int64_t size = FILTER - begin < LANES ? FILTER - begin : LANES;
#pragma GCC unroll 16
		for (int64_t i = 0; i < LANES; i++)
			x[i] = i < size ? g[begin + i] : (vf){0};
		transpose(x);
#pragma GCC unroll 16
		for (int i = 0; i < LANES; i++) {
			if (i < n)
				store_row(w + i * step + begin, x[i], size, accumulate);
		}
	}
}

/* LANES columns of one row of U: G g G^T. */
static inline __attribute__((always_inline)) void filters(const vf *g, float *u, int64_t plane)
{
	vf half[PATCH * SIDE];
#pragma GCC unroll 3
	for (int j = 0; j < SIDE; j++)
		winograd_g(half + j, SIDE, g + j, SIDE);
#pragma GCC unroll 6
	for (int i = 0; i < PATCH; i++) {
		vf row[PATCH];
		winograd_g(row, 1, half + i * SIDE, 1);
#pragma GCC unroll 6
		for (int j = 0; j < PATCH; j++)
			vf_store(u + (i * PATCH + j) * plane, row[j]);
	}
}

static inline __attribute__((always_inline)) void columns(const struct cpu_winograd_weights *w,
							  int64_t column, int64_t row, int64_t n,
							  float *u, int64_t plane)
{
	vf g[FILTER], rotated[FILTER];
	load_filters(g, w->data + column * w->column + row * w->row, w->column, n);
#pragma GCC unroll 9
	for (int i = 0; i < FILTER; i++)
		rotated[i] = g[w->rotated ? FILTER - 1 - i : i];
	filters(rotated, u, plane);
}

void VARIANT(cpu_winograd_weights)(const struct cpu_winograd_weights *w, int64_t n, int64_t k,
				   float *u, int64_t plane)
{
	for (int64_t column = 0; column < PANEL; column += LANES) {
		int64_t rest = n - column;
		for (int64_t row = 0; row < k; row++) {
			float *to = u + row * PANEL + column;
			if (rest >= LANES)
				columns(w, column, row, LANES, to, plane);
			else
				columns(w, column, row, rest, to, plane);
		}
	}
}

/* G^T dU G of LANES columns of one row. */
static inline __attribute__((always_inline)) void filter_gradients(vf *g, const float *u,
								   int64_t plane)
{
	vf half[SIDE * PATCH];
#pragma GCC unroll 6
	for (int j = 0; j < PATCH; j++) {
		vf x[PATCH];
#pragma GCC unroll 6
		for (int i = 0; i < PATCH; i++)
			x[i] = vf_load(u + (i * PATCH + j) * plane);
		winograd_gt(half + j, PATCH, x, 1);
	}
#pragma GCC unroll 3
	for (int i = 0; i < SIDE; i++)
		winograd_gt(g + i * SIDE, 1, half + i * PATCH, 1);
}

void VARIANT(cpu_winograd_weight_gradients)(const struct cpu_winograd_weights *w, int64_t n,
					    int64_t k, const float *u, int64_t plane,
					    int accumulate)
{
	for (int64_t row = 0; row < k; row++) {
		for (int64_t column = 0; column < n; column += LANES) {
			float *to = w->data + column * w->column + row * w->row;
			vf g[FILTER];
			filter_gradients(g, u + row * PANEL + column, plane);
			if (n - column >= LANES)
				store_filters(to, g, w->column, LANES, accumulate);
			else
				store_filters(to, g, w->column, n - column, accumulate);
		}
	}
}
