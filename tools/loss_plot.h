/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The loss of each epoch as a picture in SVG.
 */
#ifndef TENON_TOOLS_LOSS_PLOT_H
#define TENON_TOOLS_LOSS_PLOT_H

#include <stddef.h>
#include <stdint.h>

struct loss_point {
	uint64_t epoch;
	double train;
	double validation; /* NaN: none */
};

/* Writes a file, of at least one point; on failure prints why, and returns 0. */
int loss_plot_write(const char *path, const struct loss_point *points, size_t n);

#endif
