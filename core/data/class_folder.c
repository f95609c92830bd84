/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Pictures in folders by class: FOLDER/CLASS/x.png, or FOLDER/train/CLASS/x.png and the same in
 * val, valid or validation, and test.  Guarantees: the numbers of classes and samples depend only
 * on the names; what a picture's file contains is read only when its sample is, and makes an error
 * of that sample alone.  (Its size is that of the first, and RGB is fed unless the headers of all
 * say that they are grey.)
 */
#include "data/class_folder.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "data/class_search.h"
#include "data/format.h"
#include "data/listing.h"
#include "data/prepare.h"
#include "io/file.h"
#include "io/image_colour.h"
#include "io/image_file.h"

#define OPERATION "dataset"

/* Where the pictures are, for the read function of the samples. */
struct pictures {
	char *root;
	char *names;  /* each picture's path from root on, with a NUL */
	uint64_t *at; /* where sample i's begins */
	uint64_t n;
	unsigned char *reported; /* of each picture: its warnings were logged */
	struct tn_input_format format;
};

/* ---- Samples ---------------------------------------------------------------------------------*/

static void release_pictures(void *user)
{
	struct pictures *pictures = user;
	tn_mem_free(pictures->root);
	tn_mem_free(pictures->names);
	tn_mem_free(pictures->at);
	tn_mem_free(pictures->reported);
	tn_mem_free(pictures);
}

static char *path_of(const struct pictures *pictures, uint64_t sample)
{
	struct tn_text text;
	tn_text_init(&text);
	tn_text_format(&text, "%s/%s", pictures->root, pictures->names + pictures->at[sample]);
	return tn_text_take(&text);
}

/* The read function of the samples: field 0, as planes. */
static tn_status read_picture(void *user, uint64_t sample, void *const *fields,
			      struct tn_error_info *error)
{
	const struct pictures *pictures = user;
	struct tn_image image = {0};
	struct tn_error_info unnamed;
	char *path = path_of(pictures, sample);
	if (!path)
		return tn_no_memory(error, OPERATION, tn_file_label(pictures->root),
				    "its pictures");
	struct tn_image_warnings warnings = {0};
	tn_status status = tn_image_read_warned(path, &image, &warnings, error);
	if (warnings.n && !status &&
	    !__atomic_exchange_n(&pictures->reported[sample], 1, __ATOMIC_RELAXED))
		tn_image_report(path, &warnings);
	if (!status) {
		status = tn_prepare_picture(&pictures->format, &image, 0, fields[0], &unnamed);
		if (status)
			tn_fail(error, status, unnamed.operation, "%s: %s", tn_file_label(path),
				unnamed.text);
	}
	tn_mem_free(path);
	tn_image_release(&image);
	return status;
}

tn_status tn_class_folder_look(const char *folder, int *is_there, struct tn_error_info *error)
{
	struct tn_listing folders = {0};
	tn_status status = tn_listing_folders(folder, &folders, error);
	*is_there = folders.n > 0;
	tn_listing_release(&folders);
	return status;
}

/* ---- The data set ----------------------------------------------------------------------------*/

static tn_status check_options(const struct tn_dataset_options *options,
			       struct tn_error_info *error)
{
	uint32_t channels = options->image_channels, resize = options->image_resize;
	if ((options->image_height == 0) != (options->image_width == 0) ||
	    (channels != 0 && channels != 1 && channels != 3))
		return tn_fail(error, TN_INVALID_ARGUMENT, OPERATION,
			       "expected image_height and image_width or neither, and "
			       "image_channels of 0, 1 or 3, found %u x %u and %u",
			       options->image_height, options->image_width, channels);
	if (options->image_interpolation && !resize)
		return tn_fail(error, TN_INVALID_ARGUMENT, OPERATION,
			       "image_interpolation: expected image_resize too, found 0");
	if (resize && (options->image_height > resize || options->image_width > resize))
		return tn_fail(error, TN_INVALID_ARGUMENT, OPERATION,
			       "expected image_height and image_width of at most image_resize, "
			       "%u, found %u x %u",
			       resize, options->image_height, options->image_width);
	return TN_OK;
}

static void set_size(struct tn_input_format *format, uint32_t height, uint32_t width)
{
	format->height = format->source_height = height;
	format->width = format->source_width = width;
	format->zoom = 1;
	format->border = 0;
}

/* Size, zoom and border of another format, if they agree; a caller may have set the size alone. */
static void take_size(struct tn_input_format *format, const struct tn_input_format *as)
{
	set_size(format, as->height, as->width);
	format->resize = as->resize;
	format->interpolation = as->interpolation;
	if (!as->resize &&
	    (uint64_t)as->source_height * as->zoom + 2ull * as->border == as->height &&
	    (uint64_t)as->source_width * as->zoom + 2ull * as->border == as->width) {
		format->source_height = as->source_height;
		format->source_width = as->source_width;
		format->zoom = as->zoom;
		format->border = as->border;
	}
}

/* Size and channels of the options, or else of the format to normalise as; 0: of neither. */
static void take_options(struct tn_input_format *format, const struct tn_dataset_options *options)
{
	const struct tn_input_format *as = options->normalise_as;
	uint32_t resize = options->image_resize;
	format->channels = options->image_channels;
	format->resize = resize;
	format->interpolation = options->image_interpolation;
	if (options->image_height)
		set_size(format, options->image_height, options->image_width);
	else if (resize)
		set_size(format, resize, resize);
	else if (as && as->height && as->width)
		take_size(format, as);
	if (as && (as->channels == 1 || as->channels == 3) && !format->channels)
		format->channels = as->channels;
}

static tn_status check_resize(const struct tn_input_format *format, struct tn_error_info *error)
{
	if (!format->resize ||
	    (format->height <= format->resize && format->width <= format->resize))
		return tn_input_format_check_interpolation(format->interpolation, error);
	return tn_fail(error, TN_INVALID_ARGUMENT, OPERATION,
		       "normalise_as: expected a resize of at least height x width, %u x %u, found "
		       "%u",
		       format->height, format->width, format->resize);
}

/* *channels := 3, or 1 if all pictures are grey.  One that cannot be read is an error of its own
 * sample. */
static tn_status find_channels(const struct pictures *pictures, uint32_t *channels,
			       struct tn_error_info *error)
{
	int is_grey = 1;
	for (uint64_t i = 0; is_grey && i < pictures->n; i++) {
		struct tn_error_info unread;
		char *path = path_of(pictures, i);
		tn_status status =
			path ? tn_image_is_grey(path, &is_grey, &unread) : TN_OUT_OF_MEMORY;
		tn_mem_free(path);
		if (status == TN_OUT_OF_MEMORY)
			return tn_no_memory(error, OPERATION, tn_file_label(pictures->root),
					    "its pictures");
	}
	*channels = is_grey ? 1 : 3;
	return TN_OK;
}

/* The size of the first picture. */
static tn_status find_size(const struct pictures *pictures, struct tn_input_format *format,
			   struct tn_error_info *error)
{
	struct tn_image first = {0};
	struct tn_image_warnings warnings = {0};
	char *path = path_of(pictures, 0);
	if (!path)
		return tn_no_memory(error, OPERATION, tn_file_label(pictures->root),
				    "its pictures");
	tn_status status = tn_image_read_warned(path, &first, &warnings, error);
	tn_mem_free(path);
	if (!status)
		set_size(format, first.height, first.width);
	tn_image_release(&first);
	return status;
}

/* What the options leave open is as the pictures have it. */
static tn_status settle_format(struct pictures *pictures, const struct tn_dataset_options *options,
			       struct tn_error_info *error)
{
	struct tn_input_format *format = &pictures->format;
	tn_status status = check_options(options, error);
	if (status)
		return status;
	take_options(format, options);
	if (!format->height)
		status = find_size(pictures, format, error);
	if (!status && !format->channels)
		status = find_channels(pictures, &format->channels, error);
	return status ? status : check_resize(format, error);
}

/* Moves the names to the pictures, and the rest to raw. */
static tn_status take_search(struct tn_class_search *search,
			     const struct tn_dataset_options *options, struct tn_dataset_raw *raw,
			     struct tn_error_info *error)
{
	struct pictures *pictures = tn_mem_zeroed(1, sizeof(*pictures));
	if (!pictures)
		return tn_no_memory(error, OPERATION, tn_file_label(search->root), "its pictures");
	struct tn_input_format *format = &pictures->format;
	pictures->root = tn_mem_copy_string(search->root);
	pictures->names = tn_text_take(&search->names);
	pictures->at = search->at;
	pictures->n = search->n;
	pictures->reported = tn_mem_zeroed((size_t)search->n, 1);
	search->at = NULL;
	tn_status status = pictures->root && pictures->names && pictures->reported
				   ? TN_OK
				   : tn_no_memory(error, OPERATION, tn_file_label(search->root),
						  "its pictures");
	if (!status)
		status = settle_format(pictures, options, error);
	const struct tn_field fields[] = {
		{.dtype = TN_U8,
		 .rank = 3,
		 .shape = {format->channels, format->height, format->width}},
		{.dtype = TN_I32},
	};
	if (!status)
		status = tn_samples_create(search->n, 2, fields, &raw->samples, error);
	if (status) {
		release_pictures(pictures);
		return status;
	}
	raw->samples->read = read_picture;
	raw->samples->release = release_pictures;
	raw->samples->user = pictures;
	raw->samples->data[1] = search->labels;
	search->labels = NULL;
	format->scale = 255;
	format->n_classes = (uint32_t)search->classes.n;
	raw->format = *format;
	return TN_OK;
}

tn_status tn_class_folder_read(const char *folder, const struct tn_dataset_options *options,
			       struct tn_dataset_raw *out, struct tn_error_info *error)
{
	struct tn_class_search search;
	struct tn_dataset_raw raw = {0};
	tn_status status = tn_class_search_run(&search, folder, error);
	if (!status)
		status = take_search(&search, options, &raw, error);
	if (!status) {
		/* Names are saved one a line with a network. */
		for (size_t i = 0; i < search.classes.n; i++)
			tn_text_make_printable(search.classes.names[i]);
		raw.class_list = search.classes;
		raw.class_names = (const char *const *)raw.class_list.names;
		raw.own_class_names = 1;
		memset(&search.classes, 0, sizeof(search.classes));
		if (search.has_parts) {
			raw.parts = search.parts;
			search.parts = NULL;
		}
	}
	tn_class_search_release(&search);
	if (!status)
		*out = raw;
	else
		tn_dataset_raw_release(&raw);
	return status;
}
