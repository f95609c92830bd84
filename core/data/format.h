/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The format of images fed to a network.
 */
#ifndef TN_DATA_FORMAT_H
#define TN_DATA_FORMAT_H

#include <tenon/data.h>

/* *own := a caller's format, by the rule of options. */
tn_status tn_input_format_take(struct tn_input_format *own, const struct tn_input_format *given,
			       struct tn_error_info *error);

/* Scales one plane of source_height x source_width pixels to height x width: each pixel is repeated
 * zoom times in both directions, with a border of `border` zeros. */
void tn_enlarge_plane(const struct tn_input_format *format, const uint8_t *from, uint8_t *to);

#endif
