/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * JPEG: reading an open file.
 */
#ifndef TN_IO_JPEG_H
#define TN_IO_JPEG_H

#include <tenon/io.h>

#include "io/file.h"
#include "io/image.h"

tn_status tn_jpeg_read(const struct tn_file *file, struct tn_image *out,
		       struct tn_image_warnings *warnings, struct tn_error_info *error);

#endif
