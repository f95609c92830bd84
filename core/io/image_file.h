/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Reading images, with what their libraries warn of.
 */
#ifndef TN_IO_IMAGE_FILE_H
#define TN_IO_IMAGE_FILE_H

#include "io/image.h"

/* tn_image_read without the report: *warnings are added to. */
tn_status tn_image_read_warned(const char *path, struct tn_image *out,
			       struct tn_image_warnings *warnings, struct tn_error_info *error);

/* Logs them, if there are any, as one line. */
void tn_image_report(const char *path, const struct tn_image_warnings *warnings);

#endif
