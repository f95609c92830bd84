/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Advances from tile to tile without a division, which takes as long as a third of a tile's
 * transform.
 */
#ifndef CPU_WINOGRAD_PLACE_H
#define CPU_WINOGRAD_PLACE_H

#include "winograd.h"

struct winograd_place {
	int64_t image;
	int64_t row, column;   /* the first pixel, minus top and left */
	int64_t index, across; /* of the tile in its image, and in its row of tiles */
};

static inline struct winograd_place winograd_place(const struct cpu_winograd_grid *grid,
						   int64_t tile, int64_t top, int64_t left)
{
	struct winograd_place place = {.image = tile / (grid->rows * grid->columns)};
	place.index = tile - place.image * grid->rows * grid->columns;
	place.across = place.index % grid->columns;
	place.row = place.index / grid->columns * WINOGRAD_TILE - top;
	place.column = place.across * WINOGRAD_TILE - left;
	return place;
}

/* The next one, with the same top and left. */
static inline void winograd_next(const struct cpu_winograd_grid *grid, struct winograd_place *place,
				 int64_t left)
{
	place->index++;
	place->across++;
	place->column += WINOGRAD_TILE;
	if (place->across == grid->columns) {
		place->across = 0;
		place->column = -left;
		place->row += WINOGRAD_TILE;
	}
	if (place->index == grid->rows * grid->columns) {
		place->index = 0;
		place->row -= grid->rows * WINOGRAD_TILE;
		place->image++;
	}
}

#endif
