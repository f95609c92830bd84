/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The kernels of Winograd's F(4x4, 3x3): a 4 x 4 tile of a 3 x 3 convolution of stride 1 is
 *     A^T [sum over c of (G w G^T) . (B^T x B)] A,
 * where x is the 6 x 6 patch that the tile reads: 36 products for each pair of channels where the
 * definition has 144.  So a convolution is 36 matrix products (planes), V U = M: a row of V and M
 * is a tile, a row of U and a column of V an input channel, a column of U and M an output channel.
 * The weights' gradient uses the same tiles the other way round: G^T [sum over tiles of
 * (A dy A^T) . (B^T x B)] G.
 *
 * Columns of U are stored in panels of cpu_winograd.panel columns, padded with zeros, so that a
 * product's inner loop reads one compact panel.
 *
 * The transforms amplify rounding; winograd_points.h says how much.
 */
#ifndef CPU_WINOGRAD_H
#define CPU_WINOGRAD_H

#include <stdint.h>

enum { WINOGRAD_PLANES = 36, WINOGRAD_TILE = 4, WINOGRAD_PATCH = 6 };

/* Planes of pixels whose channels have stride 1. */
struct cpu_winograd_image {
	float *data;
	int64_t height, width, channels;
	int64_t image, down, across; /* strides */
};

/* The positions of tiles: tile t is at row (t / columns) % rows of image t / (rows columns).  Its
 * first pixel is WINOGRAD_TILE times its row and column, minus top and left. */
struct cpu_winograd_grid {
	int64_t rows, columns;
	int64_t top, left;
};

/* Transformed tiles: channel c of tile t is in plane p at
 *     p plane + c / block * block_stride + t row + c % block. */
struct cpu_winograd_tiles {
	float *data;
	int64_t plane, row, block, block_stride;
};

/* 3 x 3 weights by (column, row) of U: strides in elements. */
struct cpu_winograd_weights {
	float *data;
	int64_t column, row;
	int rotated; /* read from the last weight to the first, for the input's gradient */
};

/* m rows of C from m x k of A and a panel of B, with its k rows contiguous.  Row r, column i of A
 * is at r down + i across.  It prefetches the next operand: the panel `next_panel`, or with NULL
 * the rows of A after the last (compact ones). */
struct cpu_winograd_product {
	const float *a;
	int64_t down, across;
	const float *panel, *next_panel;
	float *c;
	int64_t c_down;
	int64_t m, k;
	int accumulate; /* add to C */
};

/* The stored value is clamp(sum + bias + residual). */
struct cpu_winograd_finish {
	const float *bias;                         /* by channel, or NULL */
	const struct cpu_winograd_image *residual; /* or NULL; may be the output */
	float low, high;                           /* a NaN passes */
};

struct cpu_winograd {
	int64_t panel; /* columns of a panel */
	int64_t rows;  /* of C that the product holds in registers, at most */
	/* V of n tiles from `first` on, of channels c0 to c1: B^T x B, patches read as 0 outside
	 * the image. */
	void (*patches)(const struct cpu_winograd_image *x, const struct cpu_winograd_grid *grid,
			int64_t first, int64_t n, int64_t c0, int64_t c1,
			const struct cpu_winograd_tiles *v);
	/* The same of outputs' gradients: A dy A^T. */
	void (*gradients)(const struct cpu_winograd_image *dy, const struct cpu_winograd_grid *grid,
			  int64_t first, int64_t n, int64_t c0, int64_t c1,
			  const struct cpu_winograd_tiles *z);
	/* One panel of U, n <= panel columns and k rows, in planes that are `plane` apart. */
	void (*weights)(const struct cpu_winograd_weights *w, int64_t n, int64_t k, float *u,
			int64_t plane);
	void (*product)(const struct cpu_winograd_product *p);
	/* Pixels of n tiles, channels c0 to c1 (at most a panel), from M: A^T M A,
	 * and the finish. */
	void (*pixels)(const struct cpu_winograd_image *y, const struct cpu_winograd_grid *grid,
		       int64_t first, int64_t n, int64_t c0, int64_t c1,
		       const struct cpu_winograd_tiles *m,
		       const struct cpu_winograd_finish *finish);
	/* k x n weights' gradients (w's rows and columns) from dU: G^T dU G. */
	void (*weight_gradients)(const struct cpu_winograd_weights *w, int64_t n, int64_t k,
				 const float *u, int64_t plane, int accumulate);
};

#endif
