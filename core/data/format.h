/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Images as a network is fed with them.
 */
#ifndef TN_DATA_FORMAT_H
#define TN_DATA_FORMAT_H

#include <tenon/data.h>

/* source_height x source_width pixels of one plane to height x width: each repeated zoom times
 * both ways, `border` zeros round them. */
void tn_enlarge_plane(const struct tn_input_format *format, const uint8_t *from, uint8_t *to);

#endif
