/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Images as torchvision's preprocessing resizes and cuts them.
 */
#ifndef TN_IO_IMAGE_RESAMPLE_H
#define TN_IO_IMAGE_RESAMPLE_H

#include <tenon/data.h>

/* Resizes with antialiasing, by TN_RESIZE_..., to the bytes that Pillow and torchvision make. */
tn_status tn_image_resample(const struct tn_image *image, uint32_t width, uint32_t height,
			    uint32_t interpolation, struct tn_image *out,
			    struct tn_error_info *error);
/* The same, so that the shorter side becomes `length`; the other is rounded down. */
tn_status tn_image_resize_shorter(const struct tn_image *image, uint32_t length,
				  uint32_t interpolation, struct tn_image *out,
				  struct tn_error_info *error);
/* Cuts out the middle, as torchvision does. */
tn_status tn_image_crop_centre(const struct tn_image *image, uint32_t width, uint32_t height,
			       struct tn_image *out, struct tn_error_info *error);

#endif
