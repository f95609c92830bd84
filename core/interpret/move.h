/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Moves of tiles.  A compact tile is nx * ny elements, row by row.  Sizes are 1, 2, 4 or 8 bytes,
 * strides are bytes.
 */
#ifndef TN_INTERPRET_MOVE_H
#define TN_INTERPRET_MOVE_H

#include <stddef.h>
#include <stdint.h>

void tn_move_fill(void *dst, const void *element, size_t size, size_t n);
void tn_move_gather(void *dst, const void *src, size_t size, int64_t stride_x, int64_t stride_y,
		    size_t nx, size_t ny);
void tn_move_scatter(void *dst, int64_t stride_x, int64_t stride_y, const void *src, size_t size,
		     size_t nx, size_t ny);

#endif
