/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * JPEG through libjpeg.  Guarantees: the header's size is checked against the limits before memory
 * is allocated for the picture, and the number of scans is limited; a truncated file gives an error
 * with the offset, where libjpeg would only warn and fill the rest with grey; other warnings of
 * libjpeg are counted.  Pixels are those of Pillow: libjpeg's defaults, the accurate transform and
 * smooth upsampling.
 */
#include "io/jpeg.h"

#include "config.h"
#include "io/image.h"

#include "base/error.h"
#include "base/memory.h"

#define OPERATION TN_IMAGE_OPERATION

#ifdef HAVE_LIBJPEG

#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include <jerror.h>
#include <jpeglib.h>

#define MAX_FILE ((uint64_t)1 << 29)

/* The decoding of a progressive picture takes time for each scan, however short it is in the file;
 * encoders write about ten. */
#define MAX_SCANS 500

/* A file that is being read, for what libjpeg calls back. */
struct reading {
	struct jpeg_decompress_struct decoder;
	struct jpeg_error_mgr errors;
	struct jpeg_source_mgr source;
	struct jpeg_progress_mgr progress;
	jmp_buf on_error;
	const struct tn_file *file;
	const unsigned char *data;
	struct tn_image image;
	int rows_are_read;
	tn_status status; /* of the error that made libjpeg stop */
	struct tn_image_warnings *warnings;
	struct tn_error_info *error;
};

/* ---- What libjpeg calls ----------------------------------------------------------------------*/

static void stop(j_common_ptr decoder)
{
	struct reading *reading = decoder->client_data;
	const char *path = tn_file_label(reading->file->path);
	char text[JMSG_LENGTH_MAX];
	reading->errors.format_message(decoder, text);
	if (reading->errors.msg_code == JERR_OUT_OF_MEMORY)
		reading->status = tn_fail(reading->error, TN_OUT_OF_MEMORY, OPERATION,
					  "%s: libjpeg: %s", path, text);
	else
		reading->status =
			tn_fail(reading->error, TN_FORMAT, OPERATION,
				"%s: expected a JPEG image, found: %s (in a file of %llu bytes)",
				path, text, (unsigned long long)reading->file->size);
	longjmp(reading->on_error, 1);
}

static void take_message(j_common_ptr decoder, int level)
{
	struct reading *reading = decoder->client_data;
	char text[JMSG_LENGTH_MAX];
	if (level >= 0)
		return;
	reading->errors.num_warnings++;
	reading->errors.format_message(decoder, text);
	tn_image_warn(reading->warnings, text);
}

static void ignore(j_decompress_ptr decoder)
{
	(void)decoder;
}

/* Pictures without the marker of their end are complete once all rows are read. */
static boolean end_of_file(j_decompress_ptr decoder)
{
	struct reading *reading = decoder->client_data;
	if (reading->rows_are_read) {
		tn_image_warn(reading->warnings, "no marker of the end");
		return FALSE;
	}
	reading->status = tn_fail(reading->error, TN_FORMAT, OPERATION,
				  "%s: offset %llu: expected more of a JPEG image, found the end "
				  "of the file",
				  tn_file_label(reading->file->path),
				  (unsigned long long)reading->file->size);
	longjmp(reading->on_error, 1);
}

static void skip(j_decompress_ptr decoder, long count)
{
	struct jpeg_source_mgr *source = decoder->src;
	size_t left = source->bytes_in_buffer;
	size_t n = count <= 0 ? 0 : (size_t)count < left ? (size_t)count : left;
	source->next_input_byte += n;
	source->bytes_in_buffer -= n;
}

static void count_scans(j_common_ptr decoder)
{
	struct reading *reading = decoder->client_data;
	if (reading->decoder.input_scan_number <= MAX_SCANS)
		return;
	reading->status =
		tn_fail(reading->error, TN_FORMAT, OPERATION,
			"%s: expected a JPEG image, found: more than %d scans (in a file of %llu "
			"bytes)",
			tn_file_label(reading->file->path), MAX_SCANS,
			(unsigned long long)reading->file->size);
	longjmp(reading->on_error, 1);
}

/* ---- Decoding --------------------------------------------------------------------------------*/

/* round(a * b / 255). */
static unsigned product(unsigned a, unsigned b)
{
	unsigned sum = a * b + 128;
	return (sum + (sum >> 8)) >> 8;
}

/* As Pillow: the file has 255 - ink, as Adobe's programs write it; without profiles, a colour is
 * what an ink leaves of what black leaves of white. */
static void rgb_of_inks(const JSAMPLE *inks, uint8_t *rgb, size_t n)
{
	for (size_t i = 0; i < n; i++, inks += 4, rgb += 3) {
		unsigned light = inks[3];
		for (int c = 0; c < 3; c++)
			rgb[c] = (uint8_t)(light - product(255u - inks[c], light));
	}
}

/* Selects grey, RGB, or the inks C, M, Y and K.  *channels := those of the image. */
static tn_status set_format(struct reading *reading, uint32_t *channels)
{
	struct jpeg_decompress_struct *decoder = &reading->decoder;
	int n = decoder->num_components;
	if (n != 1 && n != 3 && n != 4)
		return tn_fail(reading->error, TN_UNSUPPORTED, OPERATION,
			       "%s: expected a JPEG image of grey, RGB or CMYK, found %d "
			       "components",
			       tn_file_label(reading->file->path), n);
	decoder->out_color_space = n == 1 ? JCS_GRAYSCALE : n == 3 ? JCS_RGB : JCS_CMYK;
	*channels = n == 1 ? 1 : 3;
	return TN_OK;
}

static void read_rows(struct reading *reading)
{
	struct jpeg_decompress_struct *decoder = &reading->decoder;
	struct tn_image *image = &reading->image;
	size_t row = (size_t)image->width * image->channels;
	JSAMPARRAY inks = NULL;
	if (decoder->out_color_space == JCS_CMYK)
		inks = decoder->mem->alloc_sarray((j_common_ptr)decoder, JPOOL_IMAGE,
						  4 * image->width, 1);
	for (uint32_t y = 0; y < image->height; y++) {
		uint8_t *to = image->data + y * row;
		jpeg_read_scanlines(decoder, inks ? inks : &to, 1);
		if (inks)
			rgb_of_inks(inks[0], to, image->width);
	}
}

/* Fills the image.  libjpeg jumps out of this function on an error. */
static tn_status decode(struct reading *reading)
{
	struct jpeg_decompress_struct *decoder = &reading->decoder;
	uint32_t channels = 0;
	jpeg_create_decompress(decoder);
	decoder->src = &reading->source;
	decoder->progress = &reading->progress;
	jpeg_read_header(decoder, TRUE);
	tn_status status = set_format(reading, &channels);
	if (!status)
		status = tn_image_allocate(&reading->image, decoder->image_width,
					   decoder->image_height, channels,
					   tn_file_label(reading->file->path), reading->error);
	if (status)
		return status;
	jpeg_start_decompress(decoder);
	read_rows(reading);
	reading->rows_are_read = 1;
	jpeg_finish_decompress(decoder);
	return TN_OK;
}

/* Nothing that changes after setjmp is in a variable of this function. */
static tn_status decode_or_refuse(struct reading *reading)
{
	if (setjmp(reading->on_error))
		return reading->status;
	return decode(reading);
}

static void set_up(struct reading *reading)
{
	reading->decoder.err = jpeg_std_error(&reading->errors);
	reading->decoder.client_data = reading;
	reading->errors.error_exit = stop;
	reading->errors.emit_message = take_message;
	reading->progress.progress_monitor = count_scans;
	reading->source = (struct jpeg_source_mgr){
		.next_input_byte = reading->data,
		.bytes_in_buffer = (size_t)reading->file->size,
		.init_source = ignore,
		.fill_input_buffer = end_of_file,
		.skip_input_data = skip,
		.resync_to_restart = jpeg_resync_to_restart,
		.term_source = ignore,
	};
}

tn_status tn_jpeg_read(const struct tn_file *file, struct tn_image *out,
		       struct tn_image_warnings *warnings, struct tn_error_info *error)
{
	unsigned char *data = NULL;
	tn_status status = tn_file_read_whole(file, MAX_FILE, &data, error);
	if (status)
		return status;
	struct reading reading = {.file = file, .data = data, .warnings = warnings, .error = error};
	set_up(&reading);
	status = decode_or_refuse(&reading);
	jpeg_destroy_decompress(&reading.decoder);
	tn_mem_free(data);
	if (!status)
		*out = reading.image;
	else
		tn_image_release(&reading.image);
	return status;
}

#else

tn_status tn_jpeg_read(const struct tn_file *file, struct tn_image *out,
		       struct tn_image_warnings *warnings, struct tn_error_info *error)
{
	(void)out;
	(void)warnings;
	return tn_fail(error, TN_UNSUPPORTED, OPERATION,
		       "%s: a JPEG image, and this build of Tenon has no libjpeg (use PNG, or "
		       "build with libjpeg; Debian: libjpeg-dev)",
		       tn_file_label(file->path));
}

#endif
