/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Whether a picture is grey, from the header of its file: folders of many pictures are asked for
 * all of theirs.
 */
#include "io/image_colour.h"

#include <string.h>

#include "base/error.h"
#include "io/file.h"
#include "io/image_file.h"

#define OPERATION TN_IMAGE_OPERATION

/* Of a PNG: its colour type, in the chunk IHDR, which is the first. */
static int png_is_grey(const struct tn_file *file)
{
	unsigned char head[26];
	if (tn_file_read(file, 0, head, sizeof(head), NULL) || memcmp(head + 12, "IHDR", 4))
		return -1;
	return head[25] == 0 || head[25] == 4;
}

/* Markers without a segment: TEM, and RST0 to RST7. */
static int is_alone(unsigned char marker)
{
	return marker == 0x01 || (marker >= 0xd0 && marker <= 0xd7);
}

static int is_start_of_frame(unsigned char marker)
{
	return marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 &&
	       marker != 0xcc;
}

/* Of a JPEG: the number of components, at the start of the frame. */
static int jpeg_is_grey(const struct tn_file *file)
{
	unsigned char segment[10]; /* ff, marker, length (2), precision, height (2), width (2), n */
	for (uint64_t at = 2; file->size - at >= sizeof(segment);) {
		if (tn_file_read(file, at, segment, sizeof(segment), NULL) || segment[0] != 0xff)
			return -1;
		if (is_start_of_frame(segment[1]))
			return segment[9] == 1;
		if (segment[1] == 0xff) /* fills up */
			at++;
		else if (is_alone(segment[1]))
			at += 2;
		else
			at += 2u + (segment[2] << 8 | segment[3]);
		if (at > file->size)
			return -1;
	}
	return -1;
}

/* -1: the header does not say. */
static int header_is_grey(const struct tn_file *file)
{
	unsigned char magic[2];
	if (tn_file_read(file, 0, magic, 2, NULL))
		return -1;
	if (magic[0] == 0x89 && magic[1] == 'P')
		return png_is_grey(file);
	if (magic[0] == 0xff && magic[1] == 0xd8)
		return jpeg_is_grey(file);
	return magic[0] == 'P' ? magic[1] != '3' && magic[1] != '6' : -1;
}

tn_status tn_image_is_grey(const char *path, int *is_grey, struct tn_error_info *error)
{
	struct tn_file file;
	struct tn_image image = {0};
	struct tn_image_warnings warnings = {0};
	tn_status status = tn_file_open(&file, path, OPERATION, error);
	int found = status ? -1 : header_is_grey(&file);
	tn_file_close(&file);
	if (!status && found < 0) {
		status = tn_image_read_warned(path, &image, &warnings, error);
		found = image.channels <= 2;
		tn_image_release(&image);
	}
	if (!status)
		*is_grey = found;
	return status;
}
