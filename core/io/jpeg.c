/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * JPEG through the TurboJPEG API of libjpeg-turbo, which returns its errors, unlike libjpeg's own.
 * Guarantees: the header's size is checked against the limits before memory is allocated, and the
 * number of scans is limited; a damaged or truncated file gives an error with libjpeg's text, also
 * where libjpeg would only warn and fill the rest with grey.
 */
#include "io/jpeg.h"

#include "config.h"
#include "io/image.h"

#include "base/error.h"
#include "base/memory.h"

#define OPERATION TN_IMAGE_OPERATION

#ifdef HAVE_LIBTURBOJPEG

#include <string.h>
#include <turbojpeg.h>

#define MAX_FILE ((uint64_t)1 << 29)

/* libjpeg reports a failed allocation only as a text: "Insufficient memory (case 4)". */
static tn_status refuse(const struct tn_file *file, tjhandle decoder, struct tn_error_info *error)
{
	const char *text = tjGetErrorStr2(decoder);
	if (strstr(text, "nsufficient memory") || strstr(text, "emory allocation"))
		return tn_fail(error, TN_OUT_OF_MEMORY, OPERATION, "%s: libjpeg: %s",
			       tn_file_label(file->path), text);
	return tn_fail(error, TN_FORMAT, OPERATION,
		       "%s: expected a JPEG image, found: %s (in a file of %llu bytes)",
		       tn_file_label(file->path), text, (unsigned long long)file->size);
}

/* Decodes to grey if the file has no colour, else to RGB. */
static tn_status decode(const struct tn_file *file, tjhandle decoder, const unsigned char *data,
			struct tn_image *image, struct tn_error_info *error)
{
	const char *path = tn_file_label(file->path);
	unsigned long size = (unsigned long)file->size;
	int width = 0, height = 0, sampling, colours = TJCS_RGB;
	if (tjDecompressHeader3(decoder, data, size, &width, &height, &sampling, &colours))
		return refuse(file, decoder, error);
	/* A file of tables alone is not an error for libjpeg. */
	if (width <= 0 || height <= 0)
		return tn_fail(error, TN_FORMAT, OPERATION,
			       "%s: expected a JPEG image, found: no picture", path);
	if (colours == TJCS_CMYK || colours == TJCS_YCCK)
		return tn_fail(error, TN_UNSUPPORTED, OPERATION,
			       "%s: expected a JPEG image of grey or RGB, found CMYK", path);
	int is_grey = colours == TJCS_GRAY;
	tn_status status = tn_image_allocate(image, (uint64_t)width, (uint64_t)height,
					     is_grey ? 1 : 3, path, error);
	if (status)
		return status;
	if (tjDecompress2(decoder, data, size, image->data, width, 0, height,
			  is_grey ? TJPF_GRAY : TJPF_RGB, TJFLAG_ACCURATEDCT | TJFLAG_LIMITSCANS))
		return refuse(file, decoder, error);
	return TN_OK;
}

tn_status tn_jpeg_read(const struct tn_file *file, struct tn_image *out,
		       struct tn_error_info *error)
{
	unsigned char *data = NULL;
	struct tn_image image = {0};
	tn_status status = tn_file_read_whole(file, MAX_FILE, &data, error);
	if (status)
		return status;
	tjhandle decoder = tjInitDecompress();
	if (decoder)
		status = decode(file, decoder, data, &image, error);
	else
		status = tn_no_memory(error, OPERATION, tn_file_label(file->path), "a decoder");
	tjDestroy(decoder);
	tn_mem_free(data);
	if (!status)
		*out = image;
	else
		tn_image_release(&image);
	return status;
}

#else

tn_status tn_jpeg_read(const struct tn_file *file, struct tn_image *out,
		       struct tn_error_info *error)
{
	(void)out;
	return tn_fail(error, TN_UNSUPPORTED, OPERATION,
		       "%s: a JPEG image, and this build of Tenon has no libturbojpeg (use PNG, or "
		       "build with libturbojpeg; Debian: libturbojpeg0-dev)",
		       tn_file_label(file->path));
}

#endif
