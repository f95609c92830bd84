/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Reads the input as an image (PNG, JPEG, PGM, PPM) and makes a network's input of it.  What its
 * header says of colour agrees.
 */
#include <tenon/data.h>

#include "file.h"
#include "io/image_colour.h"
#include "io/image_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct tn_input_format format = {.struct_size = sizeof(format),
						      .channels = 3,
						      .height = 28,
						      .width = 28,
						      .source_height = 8,
						      .source_width = 8,
						      .zoom = 3,
						      .border = 2,
						      .scale = 255,
						      .deviation = {1, 1, 1},
						      .n_classes = 10};
	static const struct tn_input_format middle = {.struct_size = sizeof(middle),
						      .channels = 1,
						      .height = 28,
						      .width = 20,
						      .source_height = 28,
						      .source_width = 20,
						      .zoom = 1,
						      .scale = 255,
						      .deviation = {1},
						      .n_classes = 10,
						      .resize = 29};
	static float input[3 * 28 * 28];
	struct tn_error_info error;
	struct tn_image image = {0};
	struct tn_image_warnings warnings = {0};
	const char *path = fuzz_file(data, size);
	int is_grey = -1;
	tn_status status = tn_image_read_warned(path, &image, &warnings, &error);
	if (!status) {
		fuzz_require(tn_image_is_grey(path, &is_grey, &error) == TN_OK);
		fuzz_require(is_grey == (image.channels <= 2));
	}
	fuzz_require((status == TN_OK) == (image.data != NULL));
	if (status != TN_OK) {
		fuzz_require(error.text[0]);
	} else if (image.width * image.height < 65536) {
		fuzz_require(tn_input_format_apply(&format, &image, 1, input, &error) == TN_OK);
		/* A line of pixels may become too long. */
		status = tn_input_format_apply(&middle, &image, 0, input, &error);
		fuzz_require(status == TN_OK || status == TN_LIMIT);
	}
	tn_image_release(&image);
	return 0;
}
