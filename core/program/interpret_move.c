/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Moves between compact tiles and strided memory.  Rows that are contiguous are copied whole; a tile
 * whose columns are contiguous is transposed; the rest goes element by element.
 */
#include "program/interpret_plan.h"

#include <string.h>

#define T uint8_t
#define NAME(x) x##_1
#include "program/interpret_move.h"

#define T uint16_t
#define NAME(x) x##_2
#include "program/interpret_move.h"

#define T uint32_t
#define NAME(x) x##_4
#include "program/interpret_move.h"

#define T uint64_t
#define NAME(x) x##_8
#include "program/interpret_move.h"

void tn_move_fill(void *dst, const void *element, size_t size, size_t n)
{
	switch (size) {
	case 1:
		memset(dst, *(const uint8_t *)element, n);
		break;
	case 2:
		fill_2(dst, *(const uint16_t *)element, n);
		break;
	case 4:
		fill_4(dst, *(const uint32_t *)element, n);
		break;
	default:
		fill_8(dst, *(const uint64_t *)element, n);
	}
}

/* Rows of a tile are too short for a call of memcpy: 16 bytes at a time, the last ones overlapping. */
static inline void copy_row(char *dst, const char *src, size_t n)
{
	if (n >= 16) {
		for (size_t i = 0; i + 16 < n; i += 16)
			memcpy(dst + i, src + i, 16);
		memcpy(dst + n - 16, src + n - 16, 16);
	} else if (n >= 8) {
		memcpy(dst, src, 8);
		memcpy(dst + n - 8, src + n - 8, 8);
	} else if (n >= 4) {
		memcpy(dst, src, 4);
		memcpy(dst + n - 4, src + n - 4, 4);
	} else {
		for (size_t i = 0; i < n; i++)
			dst[i] = src[i];
	}
}

static void copy_rows(void *dst, int64_t dst_stride, const void *src, int64_t src_stride,
		      size_t row_bytes, size_t ny)
{
	char *d = dst;
	const char *s = src;
	for (size_t y = 0; y < ny; y++) {
		if (row_bytes <= 256)
			copy_row(d, s, row_bytes);
		else
			memcpy(d, s, row_bytes);
		d += dst_stride;
		s += src_stride;
	}
}

void tn_move_gather(void *dst, const void *src, size_t size, int64_t stride_x, int64_t stride_y,
		    size_t nx, size_t ny)
{
	int64_t unit = (int64_t)size;
	int64_t sx = stride_x / unit, sy = stride_y / unit;
	if (sx == 1 || nx == 1) {
		int64_t row = (int64_t)(nx * size);
		if (stride_y == row || ny == 1)
			memcpy(dst, src, nx * ny * size);
		else if (nx > 1)
			copy_rows(dst, row, src, stride_y, nx * size, ny);
		else
			tn_move_gather(dst, src, size, stride_y, 0, ny, 1);
		return;
	}
	switch (size) {
	case 1:
		gather_1(dst, src, sx, sy, nx, ny);
		break;
	case 2:
		gather_2(dst, src, sx, sy, nx, ny);
		break;
	case 4:
		gather_4(dst, src, sx, sy, nx, ny);
		break;
	default:
		gather_8(dst, src, sx, sy, nx, ny);
	}
}

void tn_move_scatter(void *dst, int64_t stride_x, int64_t stride_y, const void *src, size_t size,
		     size_t nx, size_t ny)
{
	int64_t unit = (int64_t)size;
	int64_t dx = stride_x / unit, dy = stride_y / unit;
	if (dx == 1 || nx == 1) {
		int64_t row = (int64_t)(nx * size);
		if (stride_y == row || ny == 1)
			memcpy(dst, src, nx * ny * size);
		else if (nx > 1)
			copy_rows(dst, stride_y, src, row, nx * size, ny);
		else
			tn_move_scatter(dst, stride_y, 0, src, size, ny, 1);
		return;
	}
	switch (size) {
	case 1:
		scatter_1(dst, dx, dy, src, nx, ny);
		break;
	case 2:
		scatter_2(dst, dx, dy, src, nx, ny);
		break;
	case 4:
		scatter_4(dst, dx, dy, src, nx, ny);
		break;
	default:
		scatter_8(dst, dx, dy, src, nx, ny);
	}
}
