/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Winograd's transforms of pixels to tiles: patches of the input, and tiles of the output's
 * gradient.  A register holds LANES channels of one pixel.  Pixels outside the image are read from
 * a row of zeros, so that the inner loop is the same for every tile: 36 loads, 12 transforms, 36
 * stores.
 */
#include "winograd_family.h"
#include "winograd_place.h"
#include "winograd_points.h"

enum { PATCH = WINOGRAD_PATCH, TILE = WINOGRAD_TILE };

/* Channels that are read from one set of addresses. */
#define CHUNK 1024
static const float zeros[CHUNK];

/* The addresses of channel c in size x size pixels. */
static inline __attribute__((always_inline)) void addresses(const float **at, int size,
							    const struct cpu_winograd_image *x,
							    struct winograd_place place, int64_t c)
{
	for (int i = 0; i < size; i++) {
		int64_t row = place.row + i;
		const float *first = x->data + place.image * x->image + row * x->down +
				     place.column * x->across + c;
		int inside = row >= 0 && row < x->height;
#pragma GCC unroll 6
		for (int j = 0; j < size; j++) {
			int64_t column = place.column + j;
			at[i * size + j] = inside && column >= 0 && column < x->width
						   ? first + j * x->across
						   : zeros;
		}
	}
}

static inline vf load(const float *p, int64_t n)
{
	return n == LANES ? vf_load(p) : vf_load_first(p, n);
}

/* n <= LANES channels of one patch, c channels after `at`. */
static inline __attribute__((always_inline)) void patch(const float *const *at, int64_t c,
							int64_t n, float *v, int64_t plane)
{
	vf half[PATCH * PATCH];
#pragma GCC unroll 6
	for (int j = 0; j < PATCH; j++) {
		vf x[PATCH];
#pragma GCC unroll 6
		for (int i = 0; i < PATCH; i++)
			x[i] = load(at[i * PATCH + j] + c, n);
		winograd_bt(half + j, PATCH, x, 1);
	}
#pragma GCC unroll 6
	for (int i = 0; i < PATCH; i++) {
		vf row[PATCH];
		winograd_bt(row, 1, half + i * PATCH, 1);
#pragma GCC unroll 6
		for (int j = 0; j < PATCH; j++)
			vf_store(v + (i * PATCH + j) * plane, row[j]);
	}
}

/* The same of one tile of gradients. */
static inline __attribute__((always_inline)) void gradient(const float *const *at, int64_t c,
							   int64_t n, float *z, int64_t plane)
{
	vf half[PATCH * TILE];
#pragma GCC unroll 6
	for (int j = 0; j < TILE; j++) {
		vf x[TILE];
#pragma GCC unroll 6
		for (int i = 0; i < TILE; i++)
			x[i] = load(at[i * TILE + j] + c, n);
		winograd_a(half + j, TILE, x, 1);
	}
#pragma GCC unroll 6
	for (int i = 0; i < PATCH; i++) {
		vf row[PATCH];
		winograd_a(row, 1, half + i * TILE, 1);
#pragma GCC unroll 6
		for (int j = 0; j < PATCH; j++)
			vf_store(z + (i * PATCH + j) * plane, row[j]);
	}
}

/* Not inline: the compiler would hold the addresses in more registers than there are. */
static __attribute__((noinline)) void whole_patch(const float *const *at, int64_t c, float *v,
						  int64_t plane)
{
	patch(at, c, LANES, v, plane);
}

static __attribute__((noinline)) void whole_gradient(const float *const *at, int64_t c, float *z,
						     int64_t plane)
{
	gradient(at, c, LANES, z, plane);
}

static inline float *tile_of(const struct cpu_winograd_tiles *v, int64_t tile, int64_t c)
{
	return v->data + c / v->block * v->block_stride + tile * v->row + c % v->block;
}

/* Channels c0 to c1 of tile `to` of v; `size` is a constant, the pixels' on a side. */
static inline __attribute__((always_inline)) void
transform(int size, const struct cpu_winograd_image *x, struct winograd_place place, int64_t c0,
	  int64_t c1, int64_t first_channel, const struct cpu_winograd_tiles *v, int64_t to)
{
	const float *at[PATCH * PATCH];
	addresses(at, size, x, place, c0);
	for (int64_t c = c0; c < c1; c += LANES) {
		int64_t n = c1 - c;
		float *out = tile_of(v, to, c - first_channel);
		if (size == PATCH && n >= LANES)
			whole_patch(at, c - c0, out, v->plane);
		else if (size == PATCH)
			patch(at, c - c0, n, out, v->plane);
		else if (n >= LANES)
			whole_gradient(at, c - c0, out, v->plane);
		else
			gradient(at, c - c0, n, out, v->plane);
	}
}

void VARIANT(cpu_winograd_patches)(const struct cpu_winograd_image *x,
				   const struct cpu_winograd_grid *grid, int64_t first, int64_t n,
				   int64_t c0, int64_t c1, const struct cpu_winograd_tiles *v)
{
	for (int64_t c = c0; c < c1; c += CHUNK) {
		int64_t end = c1 - c < CHUNK ? c1 : c + CHUNK;
		struct winograd_place place = winograd_place(grid, first, grid->top, grid->left);
		for (int64_t t = 0; t < n; t++, winograd_next(grid, &place, grid->left))
			transform(PATCH, x, place, c, end, c0, v, t);
	}
}

void VARIANT(cpu_winograd_gradients)(const struct cpu_winograd_image *dy,
				     const struct cpu_winograd_grid *grid, int64_t first, int64_t n,
				     int64_t c0, int64_t c1, const struct cpu_winograd_tiles *z)
{
	for (int64_t c = c0; c < c1; c += CHUNK) {
		int64_t end = c1 - c < CHUNK ? c1 : c + CHUNK;
		struct winograd_place place = winograd_place(grid, first, grid->top, grid->left);
		for (int64_t t = 0; t < n; t++, winograd_next(grid, &place, grid->left))
			transform(TILE, dy, place, c, end, c0, z, t);
	}
}
