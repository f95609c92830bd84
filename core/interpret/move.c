/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Moves between compact tiles and strided memory.  Rows that are contiguous are copied whole; a
 * tile whose columns are contiguous is transposed; the rest is moved element by element.
 */
#include "interpret/move.h"

#include <string.h>

typedef uint32_t quad __attribute__((vector_size(16)));

static inline void square_1(uint8_t *dst, int64_t dst_stride, const uint8_t *src,
			    int64_t src_stride)
{
	*dst = *src;
	(void)dst_stride, (void)src_stride;
}

#define T uint8_t
#define NAME(x) x##_1
#define SQUARE 1
#include "interpret/move_template.h"

static inline void square_2(uint16_t *dst, int64_t dst_stride, const uint16_t *src,
			    int64_t src_stride)
{
	*dst = *src;
	(void)dst_stride, (void)src_stride;
}

#define T uint16_t
#define NAME(x) x##_2
#define SQUARE 1
#include "interpret/move_template.h"

/* Four rows of four in registers: pairs are interleaved twice. */
static inline void square_4(uint32_t *dst, int64_t dst_stride, const uint32_t *src,
			    int64_t src_stride)
{
	quad r0, r1, r2, r3;
	memcpy(&r0, src, sizeof(r0));
	memcpy(&r1, src + src_stride, sizeof(r1));
	memcpy(&r2, src + 2 * src_stride, sizeof(r2));
	memcpy(&r3, src + 3 * src_stride, sizeof(r3));
	quad low02 = __builtin_shufflevector(r0, r2, 0, 4, 1, 5);
	quad high02 = __builtin_shufflevector(r0, r2, 2, 6, 3, 7);
	quad low13 = __builtin_shufflevector(r1, r3, 0, 4, 1, 5);
	quad high13 = __builtin_shufflevector(r1, r3, 2, 6, 3, 7);
	r0 = __builtin_shufflevector(low02, low13, 0, 4, 1, 5);
	r1 = __builtin_shufflevector(low02, low13, 2, 6, 3, 7);
	r2 = __builtin_shufflevector(high02, high13, 0, 4, 1, 5);
	r3 = __builtin_shufflevector(high02, high13, 2, 6, 3, 7);
	memcpy(dst, &r0, sizeof(r0));
	memcpy(dst + dst_stride, &r1, sizeof(r1));
	memcpy(dst + 2 * dst_stride, &r2, sizeof(r2));
	memcpy(dst + 3 * dst_stride, &r3, sizeof(r3));
}

#define T uint32_t
#define NAME(x) x##_4
#define SQUARE 4
#include "interpret/move_template.h"

static inline void square_8(uint64_t *dst, int64_t dst_stride, const uint64_t *src,
			    int64_t src_stride)
{
	*dst = *src;
	(void)dst_stride, (void)src_stride;
}

#define T uint64_t
#define NAME(x) x##_8
#define SQUARE 1
#include "interpret/move_template.h"

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

/* Rows of a tile are too short for a call of memcpy: copies 16 bytes at a time, the last ones
 * overlapping. */
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
