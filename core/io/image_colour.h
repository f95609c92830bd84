/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Whether a picture has colour.
 */
#ifndef TN_IO_IMAGE_COLOUR_H
#define TN_IO_IMAGE_COLOUR_H

#include <tenon/io.h>

/* *is_grey := has the picture no colour?  By its header, unless that is damaged. */
tn_status tn_image_is_grey(const char *path, int *is_grey, struct tn_error_info *error);

#endif
