/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Images, inside: one reader a format, each given the open file.
 */
#ifndef TN_IO_IMAGE_H
#define TN_IO_IMAGE_H

#include <tenon/io.h>

#include "io/file.h"

#define TN_IMAGE_OPERATION "image"

/* Checks a size against the limits and takes the memory; *out is zeroed first. */
tn_status tn_image_allocate(struct tn_image *out, uint64_t width, uint64_t height,
			    uint32_t channels, const char *where, struct tn_error_info *error);

tn_status tn_png_read(const struct tn_file *file, struct tn_image *out,
		      struct tn_error_info *error);
tn_status tn_pnm_read(const struct tn_file *file, struct tn_image *out,
		      struct tn_error_info *error);
tn_status tn_png_write(struct tn_new_file *file, const struct tn_image *image,
		       struct tn_error_info *error);

#endif
