/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Pictures of any size and kind as the bytes that a format feeds to a network.
 */
#ifndef TN_DATA_PREPARE_H
#define TN_DATA_PREPARE_H

#include <tenon/data.h>

/* Scales one plane of source_height x source_width pixels to height x width: each pixel is repeated
 * zoom times in both directions, with a border of `border` zeros. */
void tn_enlarge_plane(const struct tn_input_format *format, const uint8_t *from, uint8_t *to);

/* planes := the picture as <tenon/data.h> describes tn_input_format_apply, before it is normalised,
 * (channels, height, width).  The format has 1 or 3 channels. */
tn_status tn_prepare_picture(const struct tn_input_format *format, const struct tn_image *image,
			     int invert, uint8_t *planes, struct tn_error_info *error);

#endif
