/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * JPEG files of every kind, written by libjpeg.
 */
#ifndef TN_TESTS_JPEG_MAKE_H
#define TN_TESTS_JPEG_MAKE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <jpeglib.h>

struct jpeg_kind {
	int width;
	int height;
	J_COLOR_SPACE given;  /* of the pixels */
	J_COLOR_SPACE stored; /* JCS_UNKNOWN: libjpeg's choice */
	int sampling[4][2];   /* horizontal and vertical factors; 0: libjpeg's choice */
	int quality;          /* 0: 100 */
	int progressive;
	int without_adobe; /* no marker of Adobe */
};

static inline int jpeg_components(J_COLOR_SPACE space)
{
	return space == JCS_GRAYSCALE ? 1 : space == JCS_CMYK || space == JCS_YCCK ? 4 : 3;
}

/* The bytes of a file; free() them.  libjpeg's own handler ends the test on an error. */
static inline unsigned char *jpeg_make(const struct jpeg_kind *kind, const uint8_t *pixels,
				       size_t *size)
{
	struct jpeg_compress_struct encoder;
	struct jpeg_error_mgr errors;
	unsigned char *bytes = NULL;
	unsigned long n = 0;
	encoder.err = jpeg_std_error(&errors);
	jpeg_create_compress(&encoder);
	jpeg_mem_dest(&encoder, &bytes, &n);
	encoder.image_width = (JDIMENSION)kind->width;
	encoder.image_height = (JDIMENSION)kind->height;
	encoder.in_color_space = kind->given;
	encoder.input_components = jpeg_components(kind->given);
	jpeg_set_defaults(&encoder);
	if (kind->stored != JCS_UNKNOWN)
		jpeg_set_colorspace(&encoder, kind->stored);
	jpeg_set_quality(&encoder, kind->quality ? kind->quality : 100, TRUE);
	for (int i = 0; i < encoder.num_components && kind->sampling[i][0]; i++) {
		encoder.comp_info[i].h_samp_factor = kind->sampling[i][0];
		encoder.comp_info[i].v_samp_factor = kind->sampling[i][1];
	}
	if (kind->progressive)
		jpeg_simple_progression(&encoder);
	if (kind->without_adobe)
		encoder.write_Adobe_marker = FALSE;
	jpeg_start_compress(&encoder, TRUE);
	for (int y = 0; y < kind->height; y++) {
		JSAMPROW row = (JSAMPROW)pixels + y * kind->width * encoder.input_components;
		jpeg_write_scanlines(&encoder, &row, 1);
	}
	jpeg_finish_compress(&encoder);
	jpeg_destroy_compress(&encoder);
	*size = n;
	return bytes;
}

#endif
