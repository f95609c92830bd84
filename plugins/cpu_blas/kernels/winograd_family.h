/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Functions that Winograd's kernel files contribute to their level's table.
 */
#ifndef CPU_WINOGRAD_FAMILY_H
#define CPU_WINOGRAD_FAMILY_H

#include "variant.h"
#include "vector.h"
#include "winograd.h"

/* Columns of a panel: the product holds two registers of each row. */
#define PANEL (2 * LANES)
/* Most rows of C that it holds: 12 x 2 accumulators, two registers of B, and some of A (14 fit, and
 * are slower). */
#define ROWS (VECTOR_REGISTERS == 32 ? 12 : 6)

void VARIANT(cpu_winograd_patches)(const struct cpu_winograd_image *x,
				   const struct cpu_winograd_grid *grid, int64_t first, int64_t n,
				   int64_t c0, int64_t c1, const struct cpu_winograd_tiles *v);
void VARIANT(cpu_winograd_gradients)(const struct cpu_winograd_image *dy,
				     const struct cpu_winograd_grid *grid, int64_t first, int64_t n,
				     int64_t c0, int64_t c1, const struct cpu_winograd_tiles *z);
void VARIANT(cpu_winograd_weights)(const struct cpu_winograd_weights *w, int64_t n, int64_t k,
				   float *u, int64_t plane);
void VARIANT(cpu_winograd_product)(const struct cpu_winograd_product *p);
void VARIANT(cpu_winograd_pixels)(const struct cpu_winograd_image *y,
				  const struct cpu_winograd_grid *grid, int64_t first, int64_t n,
				  int64_t c0, int64_t c1, const struct cpu_winograd_tiles *m,
				  const struct cpu_winograd_finish *finish);
void VARIANT(cpu_winograd_weight_gradients)(const struct cpu_winograd_weights *w, int64_t n,
					    int64_t k, const float *u, int64_t plane,
					    int accumulate);

#endif
