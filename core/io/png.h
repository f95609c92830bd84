/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * PNG: reading an open file, writing a new one.
 */
#ifndef TN_IO_PNG_H
#define TN_IO_PNG_H

#include <tenon/io.h>

#include "base/new_file.h"
#include "io/file.h"
#include "io/image.h"

tn_status tn_png_read(const struct tn_file *file, struct tn_image *out,
		      struct tn_image_warnings *warnings, struct tn_error_info *error);
tn_status tn_png_write(struct tn_new_file *file, const struct tn_image *image,
		       struct tn_error_info *error);

#endif
