/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Moves of the pixels of one picture, with their parameters given.
 */
#ifndef TN_DATA_AUGMENT_GEOMETRY_H
#define TN_DATA_AUGMENT_GEOMETRY_H

#include "data/augment_plan.h"

/* A picture, and room for the moved one: each operation exchanges the two. */
struct tn_canvas {
	const struct tn_augment_plan *plan;
	float *picture;
	float *other;
	int32_t *index; /* height + width */
	float *weight;  /* width */
};

/* `scratch`: tn_augment_scratch. */
struct tn_canvas tn_canvas_of(const struct tn_augment_plan *plan, float *image, float *scratch);

/* How a line of pixels is moved: mirrored, then cropped from its padding, shifted and rolled, each
 * to the right or down. */
struct tn_line_move {
	int mirrored;
	int32_t crop;
	uint32_t crop_mode; /* TN_PADDING_... */
	int32_t shift;
	int32_t roll;
};

void tn_canvas_move(struct tn_canvas *canvas, const struct tn_line_move *down,
		    const struct tn_line_move *right);

/* Rotates counter-clockwise about the centre. */
void tn_canvas_rotate(struct tn_canvas *canvas, double degrees, int bilinear, uint32_t mode);

/* Enlarges the area of height x width pixels at (top, left) to the whole picture. */
void tn_canvas_enlarge(struct tn_canvas *canvas, uint32_t top, uint32_t left, uint32_t height,
		       uint32_t width);

#endif
