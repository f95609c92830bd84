/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Images in memory, for the readers of the formats.
 */
#ifndef TN_IO_IMAGE_H
#define TN_IO_IMAGE_H

#include <tenon/io.h>

#define TN_IMAGE_OPERATION "image"

/* What a reader said about a picture that it read nevertheless. */
struct tn_image_warnings {
	unsigned long n;
	char first[160];
};

/* Adds a warning; only the text of the first is kept. */
void tn_image_warn(struct tn_image_warnings *warnings, const char *text);

/* Checks a size against the limits and allocates the memory; zeroes *out first. */
tn_status tn_image_allocate(struct tn_image *out, uint64_t width, uint64_t height,
			    uint32_t channels, const char *where, struct tn_error_info *error);

#endif
