/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Pictures in folders by class: FOLDER/CLASS/x.png, or FOLDER/train/CLASS/x.png and the same in
 * val, valid or validation, and test.  Guarantees: the numbers of classes and samples depend only
 * on the names, which are ordered by their bytes; what a picture's file contains is read only when
 * its sample is, and makes an error of that sample alone.
 */
#include "data/class_folder.h"

#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "data/format.h"
#include "data/listing.h"
#include "data/prepare.h"
#include "io/file.h"

#define OPERATION "dataset"

static const char *const endings[] = {".png", ".jpg", ".jpeg", ".pgm", ".ppm", NULL};

/* Where the pictures are, for the read function of the samples. */
struct pictures {
	char *root;
	char *names;  /* each picture's path from root on, with a NUL */
	uint64_t *at; /* where sample i's begins */
	struct tn_input_format format;
};

/* What is found in the folders. */
struct search {
	const char *root;
	struct tn_listing classes;
	struct tn_text names;
	uint64_t *at;
	int32_t *labels;
	uint8_t *parts;
	uint64_t n;
	uint64_t capacity;
};

/* ---- Samples ---------------------------------------------------------------------------------*/

static void release_pictures(void *user)
{
	struct pictures *pictures = user;
	tn_mem_free(pictures->root);
	tn_mem_free(pictures->names);
	tn_mem_free(pictures->at);
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
	tn_status status = tn_image_read(path, &image, error);
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

/* ---- Names -----------------------------------------------------------------------------------*/

static void release_search(struct search *search)
{
	tn_listing_release(&search->classes);
	tn_text_release(&search->names);
	tn_mem_free(search->at);
	tn_mem_free(search->labels);
	tn_mem_free(search->parts);
}

/* *is_there := is there a folder ROOT/NAME? */
static tn_status look_for(const char *root, const char *name, int *is_there,
			  struct tn_error_info *error)
{
	struct stat status;
	struct tn_text text;
	tn_text_init(&text);
	tn_text_format(&text, "%s/%s", root, name);
	if (text.failed)
		return tn_no_memory(error, OPERATION, tn_file_label(root), "its pictures");
	*is_there = stat(text.data, &status) == 0 && S_ISDIR(status.st_mode);
	tn_text_release(&text);
	return TN_OK;
}

/* Makes room for n more samples. */
static tn_status reserve(struct search *search, uint64_t n, struct tn_error_info *error)
{
	uint64_t needed = search->n + n;
	if (needed > UINT32_MAX)
		return tn_fail(error, TN_LIMIT, OPERATION,
			       "%s: expected at most %u pictures, found more",
			       tn_file_label(search->root), UINT32_MAX);
	if (needed <= search->capacity)
		return TN_OK;
	size_t capacity = (size_t)(needed + needed / 2);
	uint64_t *at = tn_mem_realloc(search->at, capacity, sizeof(*at));
	search->at = at ? at : search->at;
	int32_t *labels = tn_mem_realloc(search->labels, capacity, sizeof(*labels));
	search->labels = labels ? labels : search->labels;
	uint8_t *parts = tn_mem_realloc(search->parts, capacity, 1);
	search->parts = parts ? parts : search->parts;
	if (!at || !labels || !parts)
		return tn_no_memory(error, OPERATION, tn_file_label(search->root), "its pictures");
	search->capacity = capacity;
	return TN_OK;
}

/* Adds the pictures of FOLDER/CLASS; `folder` is root, or root and a part. */
static tn_status add_class(struct search *search, const char *folder, const char *class_name,
			   int part, struct tn_error_info *error)
{
	struct tn_listing files = {0};
	struct tn_text path;
	size_t label = tn_listing_find(&search->classes, class_name);
	if (label == search->classes.n)
		return tn_fail(error, TN_FORMAT, OPERATION,
			       "%s: expected the classes of train, found a folder '%.100s'",
			       tn_file_label(folder), class_name);
	tn_text_init(&path);
	tn_text_format(&path, "%s/%s", folder, class_name);
	tn_status status =
		path.failed ? tn_no_memory(error, OPERATION, tn_file_label(folder), "its pictures")
			    : tn_listing_files(path.data, endings, &files, error);
	if (!status && files.n == 0)
		status = tn_fail(error, TN_FORMAT, OPERATION,
				 "%s: expected pictures (.png, .jpg, .jpeg, .pgm, .ppm), found "
				 "none",
				 tn_file_label(path.data));
	if (!status)
		status = reserve(search, files.n, error);
	for (size_t i = 0; !status && i < files.n; i++) {
		search->at[search->n] = search->names.length;
		search->labels[search->n] = (int32_t)label;
		search->parts[search->n++] = (uint8_t)part;
		tn_text_format(&search->names, "%s/%s", path.data + strlen(search->root) + 1,
			       files.names[i]);
		tn_text_append(&search->names, "", 1);
		if (search->names.failed)
			status = tn_no_memory(error, OPERATION, tn_file_label(folder),
					      "its pictures");
	}
	tn_text_release(&path);
	tn_listing_release(&files);
	return status;
}

/* Adds the pictures of a folder of class folders.  The first one lists the classes. */
static tn_status add_part(struct search *search, const char *name, int part,
			  struct tn_error_info *error)
{
	struct tn_listing listing = {0};
	struct tn_text folder;
	tn_text_init(&folder);
	tn_text_add(&folder, search->root);
	if (name)
		tn_text_format(&folder, "/%s", name);
	tn_status status = folder.failed ? tn_no_memory(error, OPERATION,
							tn_file_label(search->root), "its pictures")
					 : tn_listing_folders(folder.data, &listing, error);
	if (!status && listing.n == 0)
		status = tn_fail(error, TN_FORMAT, OPERATION,
				 "%s: expected folders of pictures by class, found none",
				 tn_file_label(folder.data));
	if (!status && !search->classes.n) {
		search->classes = listing;
		memset(&listing, 0, sizeof(listing));
	}
	const struct tn_listing *classes = listing.n ? &listing : &search->classes;
	for (size_t i = 0; !status && i < classes->n; i++)
		status = add_class(search, folder.data, classes->names[i], part, error);
	tn_text_release(&folder);
	tn_listing_release(&listing);
	return status;
}

/* *has_parts := are there folders of parts? */
static tn_status find_pictures(struct search *search, int *has_parts, struct tn_error_info *error)
{
	static const struct {
		const char *name;
		int part;
	} parts[] = {
		{"train", TN_PART_TRAIN},      {"val", TN_PART_VALIDATION},
		{"valid", TN_PART_VALIDATION}, {"validation", TN_PART_VALIDATION},
		{"test", TN_PART_TEST},
	};
	tn_status status = look_for(search->root, "train", has_parts, error);
	if (!status && !*has_parts)
		return add_part(search, NULL, TN_PART_TRAIN, error);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]) && !status; i++) {
		int is_there = 0;
		status = look_for(search->root, parts[i].name, &is_there, error);
		if (!status && is_there)
			status = add_part(search, parts[i].name, parts[i].part, error);
	}
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

/* What the options leave open is as the first picture has it. */
static tn_status settle_format(struct pictures *pictures, const struct tn_dataset_options *options,
			       struct tn_error_info *error)
{
	struct tn_image first = {0};
	struct tn_input_format *format = &pictures->format;
	tn_status status = check_options(options, error);
	if (status)
		return status;
	take_options(format, options);
	if (format->height && format->channels)
		return check_resize(format, error);
	char *path = path_of(pictures, 0);
	if (!path)
		return tn_no_memory(error, OPERATION, tn_file_label(pictures->root),
				    "its pictures");
	status = tn_image_read(path, &first, error);
	tn_mem_free(path);
	if (status)
		return status;
	if (!format->height)
		set_size(format, first.height, first.width);
	if (!format->channels)
		format->channels = first.channels <= 2 ? 1 : 3;
	tn_image_release(&first);
	return check_resize(format, error);
}

/* Moves the names to the pictures, and the rest to raw. */
static tn_status take_search(struct search *search, const struct tn_dataset_options *options,
			     struct tn_dataset_raw *raw, struct tn_error_info *error)
{
	struct pictures *pictures = tn_mem_zeroed(1, sizeof(*pictures));
	if (!pictures)
		return tn_no_memory(error, OPERATION, tn_file_label(search->root), "its pictures");
	struct tn_input_format *format = &pictures->format;
	pictures->root = tn_mem_copy_string(search->root);
	pictures->names = tn_text_take(&search->names);
	pictures->at = search->at;
	search->at = NULL;
	tn_status status = pictures->root && pictures->names
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
	struct search search = {.root = folder};
	struct tn_dataset_raw raw = {0};
	int has_parts = 0;
	tn_text_init(&search.names);
	tn_status status = find_pictures(&search, &has_parts, error);
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
		if (has_parts) {
			raw.parts = search.parts;
			search.parts = NULL;
		}
	}
	release_search(&search);
	if (!status)
		*out = raw;
	else
		tn_dataset_raw_release(&raw);
	return status;
}
