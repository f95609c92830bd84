/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Collects samples of each class, and draws them as one picture.
 */
#include "contact_sheet.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Pixels: between pictures, and the range into which the longer side of each is brought. */
enum { GAP = 2, SMALLEST = 48, LARGEST = 112, BACKGROUND = 32 };

struct sample_place {
	int part;
	uint64_t index;
};

int contact_sheet_begin(struct contact_sheet *sheet, uint32_t n_classes)
{
	sheet->n_classes = n_classes;
	sheet->n = calloc(n_classes, sizeof(*sheet->n));
	sheet->at = calloc(n_classes * sheet->columns, sizeof(*sheet->at));
	return sheet->n && sheet->at;
}

void contact_sheet_end(struct contact_sheet *sheet)
{
	free(sheet->n);
	free(sheet->at);
}

void contact_sheet_add(struct contact_sheet *sheet, int32_t label, int part, uint64_t index)
{
	if (!sheet->at || sheet->n[label] == sheet->columns)
		return;
	sheet->at[(uint64_t)label * sheet->columns + sheet->n[label]++] =
		(struct sample_place){part, index};
}

/* The size of a picture on the sheet: small ones by a whole factor, so that pixels stay squares. */
static void cell_size(const struct tn_input_format *format, uint32_t *width, uint32_t *height)
{
	uint32_t longer = format->width > format->height ? format->width : format->height;
	uint32_t up = longer < SMALLEST ? (SMALLEST + longer - 1) / longer : 1;
	uint32_t down = longer > LARGEST ? longer : 1;
	uint32_t by = longer > LARGEST ? LARGEST : up;
	*width = (uint32_t)((uint64_t)format->width * by / down);
	*height = (uint32_t)((uint64_t)format->height * by / down);
	*width = *width ? *width : 1;
	*height = *height ? *height : 1;
}

/* Copies a picture of 1 or 3 channels, or the first of others, into RGB. */
static void paste(const struct tn_image *picture, struct tn_image *sheet, uint32_t left,
		  uint32_t top)
{
	for (uint32_t y = 0; y < picture->height; y++) {
		uint8_t *to = sheet->data + 3 * ((size_t)(top + y) * sheet->width + left);
		const uint8_t *from =
			picture->data + (size_t)y * picture->width * picture->channels;
		for (uint32_t x = 0; x < picture->width; x++) {
			for (uint32_t c = 0; c < 3; c++)
				*to++ = from[picture->channels < 3 ? 0 : c];
			from += picture->channels;
		}
	}
}

/* One sample in its row and column. */
static tn_status place_sample(const tn_dataset *dataset, const struct sample_place *at,
			      struct tn_image *sheet, uint64_t row, uint64_t column,
			      struct tn_error_info *error)
{
	uint32_t width, height;
	struct tn_image picture = {0}, sized = {0};
	cell_size(tn_dataset_format(dataset), &width, &height);
	tn_status status = tn_dataset_picture(dataset, at->part, at->index, &picture, error);
	if (!status)
		status = tn_image_resize(&picture, width, height, &sized, error);
	if (!status)
		paste(&sized, sheet, GAP + (uint32_t)column * (width + GAP),
		      GAP + (uint32_t)row * (height + GAP));
	tn_image_release(&picture);
	tn_image_release(&sized);
	return status;
}

uint32_t contact_sheet_rows(const struct contact_sheet *sheet, const tn_dataset *dataset)
{
	uint32_t width, height;
	cell_size(tn_dataset_format(dataset), &width, &height);
	const uint32_t most = (TN_IMAGE_MAX_SIDE - GAP) / (height + GAP);
	return sheet->n_classes < most ? sheet->n_classes : most;
}

/* An empty sheet, of which `data` is to be freed. */
static tn_status make_sheet(const struct contact_sheet *sheet, const tn_dataset *dataset,
			    struct tn_image *out, struct tn_error_info *error)
{
	uint32_t cell_width, cell_height;
	cell_size(tn_dataset_format(dataset), &cell_width, &cell_height);
	uint64_t width = GAP + sheet->columns * (cell_width + GAP);
	uint64_t height = GAP + (uint64_t)contact_sheet_rows(sheet, dataset) * (cell_height + GAP);
	*error = (struct tn_error_info){.status = TN_LIMIT, .operation = "contact sheet"};
	if (width > TN_IMAGE_MAX_SIDE || height > TN_IMAGE_MAX_SIDE ||
	    width * height > TN_IMAGE_MAX_PIXELS) {
		snprintf(error->text, sizeof(error->text),
			 "expected sides of at most %u and at most %u pixels, found %llu x %llu: "
			 "ask for fewer samples",
			 TN_IMAGE_MAX_SIDE, TN_IMAGE_MAX_PIXELS, (unsigned long long)width,
			 (unsigned long long)height);
		return TN_LIMIT;
	}
	*out = (struct tn_image){.width = (uint32_t)width,
				 .height = (uint32_t)height,
				 .channels = 3,
				 .data = malloc(width * height * 3)};
	if (!out->data) {
		error->status = TN_OUT_OF_MEMORY;
		return TN_OUT_OF_MEMORY;
	}
	memset(out->data, BACKGROUND, width * height * 3);
	return TN_OK;
}

tn_status contact_sheet_write(const struct contact_sheet *sheet, const tn_dataset *dataset,
			      struct tn_error_info *error)
{
	struct tn_image image = {0};
	tn_status status = make_sheet(sheet, dataset, &image, error);
	const uint32_t n_rows = contact_sheet_rows(sheet, dataset);
	for (uint64_t row = 0; row < n_rows && !status; row++) {
		for (uint64_t column = 0; column < sheet->n[row] && !status; column++)
			status = place_sample(dataset, &sheet->at[row * sheet->columns + column],
					      &image, row, column, error);
	}
	if (!status)
		status = tn_image_write(sheet->path, &image, error);
	free(image.data);
	return status;
}
