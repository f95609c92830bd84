/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * PNG through libpng.  Guarantees: the header's size is checked against the limits before memory is
 * allocated for the picture; a damaged or truncated file gives an error with libpng's text; values
 * are those stored, as PyTorch's readers give them.
 *
 * Pictures are read by libpng's classic interface: the simplified one mixes the passes of an
 * interlaced picture of 16 bits.
 */
#include "io/png.h"

#include "config.h"
#include "io/image.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/new_file.h"
#include "io/bytes.h"

#define OPERATION TN_IMAGE_OPERATION

#ifdef HAVE_LIBPNG

#include <png.h>
#include <setjmp.h>
#include <stdio.h>

/* libpng's own limit for one chunk is 8 MB; this one is for the file. */
#define MAX_FILE ((uint64_t)1 << 29)

/* ---- Reading ---------------------------------------------------------------------------------*/

/* A file that is being read, for what libpng calls back. */
struct reading {
	const struct tn_file *file;
	const unsigned char *data;
	size_t size;
	size_t at;
	png_structp png;
	png_infop info;
	struct tn_image image;
	int no_memory;  /* an allocation failed */
	char text[128]; /* of the error */
	struct tn_image_warnings *warnings;
	struct tn_error_info *error;
};

static void on_error(png_structp png, png_const_charp text)
{
	struct reading *reading = png_get_error_ptr(png);
	snprintf(reading->text, sizeof(reading->text), "%s", text);
	png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp text)
{
	struct reading *reading = png_get_error_ptr(png);
	tn_image_warn(reading->warnings, text);
}

static png_voidp allocate(png_structp png, png_alloc_size_t size)
{
	struct reading *reading = png_get_mem_ptr(png);
	void *memory = tn_mem_alloc(size);
	reading->no_memory |= !memory;
	return memory;
}

static void release(png_structp png, png_voidp memory)
{
	(void)png;
	tn_mem_free(memory);
}

static void give_bytes(png_structp png, png_bytep to, size_t size)
{
	struct reading *reading = png_get_io_ptr(png);
	if (size > reading->size - reading->at)
		png_error(png, "read beyond end of data");
	memcpy(to, reading->data + reading->at, size);
	reading->at += size;
}

static tn_status refuse(const struct reading *reading)
{
	const char *path = tn_file_label(reading->file->path);
	if (reading->no_memory)
		return tn_fail(reading->error, TN_OUT_OF_MEMORY, OPERATION, "%s: libpng: %s", path,
			       reading->text[0] ? reading->text : "out of memory");
	return tn_fail(reading->error, TN_FORMAT, OPERATION,
		       "%s: expected a PNG image, found: %s (in a file of %llu bytes)", path,
		       reading->text, (unsigned long long)reading->file->size);
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

/* Asks for 8 bits a sample, of grey or RGB, with alpha if the file has any transparency. */
static uint32_t set_format(png_structp png, png_infop info)
{
	int colour = png_get_color_type(png, info);
	int has_alpha = colour & PNG_COLOR_MASK_ALPHA || png_get_valid(png, info, PNG_INFO_tRNS);
	png_set_expand(png);
	png_set_scale_16(png);
	return (colour & PNG_COLOR_MASK_COLOR ? 3 : 1) + (has_alpha ? 1 : 0);
}

/* Fills the image.  libpng jumps out of this function on an error. */
static tn_status decode(struct reading *reading)
{
	png_structp png = reading->png;
	png_infop info = reading->info;
	png_read_info(png, info);
	tn_status status = tn_image_allocate(&reading->image, png_get_image_width(png, info),
					     png_get_image_height(png, info), set_format(png, info),
					     tn_file_label(reading->file->path), reading->error);
	if (status)
		return status;
	const struct tn_image *image = &reading->image;
	size_t row = (size_t)image->width * image->channels;
	int n_passes = png_set_interlace_handling(png);
	png_read_update_info(png, info);
	if (png_get_rowbytes(png, info) != row)
		png_error(png, "rows of an unexpected size");
	for (int pass = 0; pass < n_passes; pass++) {
		for (uint32_t y = 0; y < image->height; y++)
			png_read_row(png, image->data + y * row, NULL);
	}
	return TN_OK;
}

/* Nothing that changes after setjmp is in a variable of this function. */
static tn_status decode_or_refuse(struct reading *reading)
{
	if (setjmp(png_jmpbuf(reading->png)))
		return refuse(reading);
	return decode(reading);
}

static tn_status read_picture(struct reading *reading)
{
	reading->png = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, reading, on_error,
						on_warning, reading, allocate, release);
	if (reading->png)
		reading->info = png_create_info_struct(reading->png);
	if (!reading->info) {
		reading->no_memory = 1;
		png_destroy_read_struct(&reading->png, NULL, NULL);
		return refuse(reading);
	}
	png_set_read_fn(reading->png, reading, give_bytes);
	tn_status status = decode_or_refuse(reading);
	png_destroy_read_struct(&reading->png, &reading->info, NULL);
	return status;
}

tn_status tn_png_read(const struct tn_file *file, struct tn_image *out,
		      struct tn_image_warnings *warnings, struct tn_error_info *error)
{
	unsigned char *data = NULL;
	tn_status status = tn_file_read_whole(file, MAX_FILE, &data, error);
	if (status)
		return status;
	struct reading reading = {.file = file,
				  .data = data,
				  .size = drop_unused(data, (size_t)file->size),
				  .warnings = warnings,
				  .error = error};
	status = read_picture(&reading);
	tn_mem_free(data);
	if (!status)
		*out = reading.image;
	else
		tn_image_release(&reading.image);
	return status;
}

/* ---- Writing ---------------------------------------------------------------------------------*/

/* The simplified interface reports failed allocations only as texts: "out of memory",
 * "insufficient memory". */
static int is_out_of_memory(const png_image *png)
{
	return strstr(png->message, "out of memory") || strstr(png->message, "Out of memory") ||
	       strstr(png->message, "nsufficient memory");
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

tn_status tn_png_read(const struct tn_file *file, struct tn_image *out,
		      struct tn_image_warnings *warnings, struct tn_error_info *error)
{
	(void)out;
	(void)warnings;
	return absent(file->path, error);
}

tn_status tn_png_write(struct tn_new_file *file, const struct tn_image *image,
		       struct tn_error_info *error)
{
	(void)image;
	return absent(file->path, error);
}

#endif
