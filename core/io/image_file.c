/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Images in files, in the format given by their first bytes.
 */
#include "io/image_file.h"

#include "base/error.h"
#include "base/log.h"
#include "base/new_file.h"
#include "io/file.h"
#include "io/jpeg.h"
#include "io/png.h"
#include "io/pnm.h"

#define OPERATION TN_IMAGE_OPERATION

void tn_image_report(const char *path, const struct tn_image_warnings *warnings)
{
	struct tn_logger logger;
	if (!warnings->n)
		return;
	tn_logger_init_by_environment(&logger);
	if (warnings->n == 1)
		tn_log_format(&logger, TN_LOG_WARNING, OPERATION, "%s: read in spite of: %s",
			      tn_file_label(path), warnings->first);
	else
		tn_log_format(&logger, TN_LOG_WARNING, OPERATION,
			      "%s: read in spite of %lu warnings, the first: %s",
			      tn_file_label(path), warnings->n, warnings->first);
}

tn_status tn_image_read_warned(const char *path, struct tn_image *out,
			       struct tn_image_warnings *warnings, struct tn_error_info *error)
{
	struct tn_file file;
	struct tn_image image = {0};
	unsigned char magic[2];
	tn_status status = tn_file_open(&file, path, OPERATION, error);
	if (status)
		return status;
	status = tn_file_read(&file, 0, magic, 2, error);
	if (!status && magic[0] == 0x89 && magic[1] == 'P')
		status = tn_png_read(&file, &image, warnings, error);
	else if (!status && magic[0] == 0xff && magic[1] == 0xd8)
		status = tn_jpeg_read(&file, &image, warnings, error);
	else if (!status && magic[0] == 'P')
		status = tn_pnm_read(&file, &image, error);
	else if (!status)
		status = tn_fail(error, TN_FORMAT, OPERATION,
				 "%s: offset 0: expected a PNG, JPEG, PBM, PGM or PPM image, found "
				 "the bytes %02x %02x",
				 tn_file_label(path), magic[0], magic[1]);
	tn_file_close(&file);
	if (!status)
		*out = image;
	else
		tn_image_release(&image);
	return status;
}

tn_status tn_image_read(const char *path, struct tn_image *out, struct tn_error_info *error)
{
	struct tn_image_warnings warnings = {0};
	tn_status status = tn_image_read_warned(path, out, &warnings, error);
	if (!status)
		tn_image_report(path, &warnings);
	return status;
}

tn_status tn_image_write(const char *path, const struct tn_image *image,
			 struct tn_error_info *error)
{
	struct tn_new_file file;
	if (!image->data || image->width == 0 || image->height == 0 || image->channels < 1 ||
	    image->channels > 4)
		return tn_fail(error, TN_INVALID_ARGUMENT, OPERATION,
			       "%s: expected an image of 1 to 4 channels", tn_file_label(path));
	tn_status status = tn_new_file_begin(&file, path, OPERATION, error);
	if (status)
		return status;
	status = tn_png_write(&file, image, error);
	if (status) {
		tn_new_file_abandon(&file);
		return status;
	}
	return tn_new_file_commit(&file, error);
}
