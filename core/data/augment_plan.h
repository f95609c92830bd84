/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Options of augmentation, checked for pictures of one shape, so that nothing that follows can
 * fail.
 */
#ifndef TN_DATA_AUGMENT_PLAN_H
#define TN_DATA_AUGMENT_PLAN_H

#include <tenon/augment.h>

/* The pictures, as their values are stored: (v - mean) / deviation. */
struct tn_augment_images {
	uint32_t channels;
	uint32_t height;
	uint32_t width;
	uint32_t n_classes;     /* of soft targets; 0: none */
	const float *mean;      /* per channel; NULL: 0 */
	const float *deviation; /* per channel; NULL: 1 */
};

/* A plan of zeros with the shape set does nothing. */
struct tn_augment_plan {
	struct tn_augmentation options; /* with the defaults */
	uint32_t channels;
	uint32_t height;
	uint32_t width;
	uint32_t n_classes;
	float mean[TN_MAX_CHANNELS];
	float deviation[TN_MAX_CHANNELS];
	float fill[TN_MAX_CHANNELS]; /* black, as stored */
	int moves;                   /* moves by whole pixels, mirroring included */
	int colours;
	int per_image; /* anything but mixing */
	int mixes;     /* CutMix or mixup */
};

/* Errors: see tn_augment.  NULL options do nothing. */
tn_status tn_augment_plan_take(struct tn_augment_plan *plan, const struct tn_augmentation *given,
			       const struct tn_augment_images *images, struct tn_error_info *error);

size_t tn_augment_plane(const struct tn_augment_plan *plan); /* values of a channel */
size_t tn_augment_image_size(const struct tn_augment_plan *plan);

/* Numbers of scratch for one picture or for mixing: f32 memory from an allocator. */
size_t tn_augment_scratch(const struct tn_augment_plan *plan);

#endif
