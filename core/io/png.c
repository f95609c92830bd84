/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * PNG through libpng's simplified interface, which needs no setjmp.  Guarantees: the header's size
 * is checked against the limits before memory is allocated; a damaged or truncated file gives an
 * error with libpng's text; values are those stored, as PyTorch's readers give them.
 */
#include "io/png.h"

#include "config.h"
#include "io/image.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "io/bytes.h"
#include "io/new_file.h"

#define OPERATION TN_IMAGE_OPERATION

#ifdef HAVE_LIBPNG

#include <png.h>

/* libpng's own limit for one chunk is 8 MB; this one is for the file. */
#define MAX_FILE ((uint64_t)1 << 29)

/* libpng and zlib report failed allocations only as texts: "out of memory", "insufficient
 * memory". */
static int is_out_of_memory(const png_image *png)
{
	return strstr(png->message, "out of memory") || strstr(png->message, "Out of memory") ||
	       strstr(png->message, "nsufficient memory");
}

static tn_status refuse(const struct tn_file *file, const png_image *png,
			struct tn_error_info *error)
{
	if (is_out_of_memory(png))
		return tn_fail(error, TN_OUT_OF_MEMORY, OPERATION, "%s: libpng: %s",
			       tn_file_label(file->path), png->message);
	return tn_fail(error, TN_FORMAT, OPERATION,
		       "%s: expected a PNG image, found: %s (in a file of %llu bytes)",
		       tn_file_label(file->path), png->message, (unsigned long long)file->size);
}

/* Do the stored values depend on chunks of that type?  True for all critical ones (a capital
 * letter), and for transparency. */
static int is_used(const unsigned char *type)
{
	return !(type[0] & 0x20) || memcmp(type, "tRNS", 4) == 0;
}

/* Removes the other chunks: libpng would decompress texts and profiles, each to 8 MB, and change
 * the values by gamma and colour spaces.  Returns the remaining size.  From the first damaged chunk
 * on everything is kept, so that libpng reports it. */
static size_t drop_unused(unsigned char *data, size_t size)
{
	size_t from = 8, to = 8; /* after the signature */
	while (from < size && size - from >= 12) {
		uint64_t chunk = 12 + (uint64_t)tn_load_u32_be(data + from);
		if (chunk > size - from)
			break;
		if (is_used(data + from + 4)) {
			memmove(data + to, data + from, (size_t)chunk);
			to += (size_t)chunk;
		}
		from += (size_t)chunk;
	}
	if (from >= size)
		return from > size ? size : to;
	memmove(data + to, data + from, size - from);
	return to + (size - from);
}

tn_status tn_png_read(const struct tn_file *file, struct tn_image *out, struct tn_error_info *error)
{
	unsigned char *data = NULL;
	struct tn_image image = {0};
	png_image png;
	tn_status status = tn_file_read_whole(file, MAX_FILE, &data, error);
	if (status)
		return status;
	memset(&png, 0, sizeof(png));
	png.version = PNG_IMAGE_VERSION;
	if (!png_image_begin_read_from_memory(&png, data, drop_unused(data, (size_t)file->size)))
		status = refuse(file, &png, error);
	/* Keeps colour and alpha of the file's format; palettes and 16-bit samples become 8-bit
	 * values, which without the flag would be taken for linear light and changed. */
	png.flags |= PNG_IMAGE_FLAG_16BIT_sRGB;
	png.format &= PNG_FORMAT_FLAG_COLOR | PNG_FORMAT_FLAG_ALPHA;
	if (!status)
		status = tn_image_allocate(&image, png.width, png.height,
					   PNG_IMAGE_SAMPLE_CHANNELS(png.format),
					   tn_file_label(file->path), error);
	if (!status && !png_image_finish_read(&png, NULL, image.data, 0, NULL))
		status = refuse(file, &png, error);
	png_image_free(&png);
	tn_mem_free(data);
	if (!status)
		*out = image;
	else
		tn_image_release(&image);
	return status;
}

tn_status tn_png_write(struct tn_new_file *file, const struct tn_image *image,
		       struct tn_error_info *error)
{
	static const png_uint_32 formats[] = {0, PNG_FORMAT_GRAY, PNG_FORMAT_GA, PNG_FORMAT_RGB,
					      PNG_FORMAT_RGBA};
	png_image png;
	memset(&png, 0, sizeof(png));
	png.version = PNG_IMAGE_VERSION;
	png.width = image->width;
	png.height = image->height;
	png.format = formats[image->channels];
	png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(png);
	void *data = tn_mem_alloc(size);
	if (!data)
		return tn_fail(error, TN_OUT_OF_MEMORY, OPERATION, "%s: no memory for %zu bytes",
			       tn_file_label(file->path), (size_t)size);
	tn_status status;
	if (png_image_write_to_memory(&png, data, &size, 0, image->data, 0, NULL))
		status = tn_new_file_write(file, data, size, error);
	else
		status = tn_fail(error, is_out_of_memory(&png) ? TN_OUT_OF_MEMORY : TN_INTERNAL,
				 OPERATION, "%s: libpng: %s", tn_file_label(file->path),
				 png.message);
	png_image_free(&png);
	tn_mem_free(data);
	return status;
}

#else

static tn_status absent(const char *path, struct tn_error_info *error)
{
	return tn_fail(error, TN_UNSUPPORTED, OPERATION,
		       "%s: a PNG image, and this build of Tenon has no libpng (use PGM or PPM, or "
		       "build with libpng; Debian: libpng-dev)",
		       tn_file_label(path));
}

tn_status tn_png_read(const struct tn_file *file, struct tn_image *out, struct tn_error_info *error)
{
	(void)out;
	return absent(file->path, error);
}

tn_status tn_png_write(struct tn_new_file *file, const struct tn_image *image,
		       struct tn_error_info *error)
{
	(void)image;
	return absent(file->path, error);
}

#endif
