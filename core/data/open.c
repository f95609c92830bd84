/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Opens a folder or file as a data set: selects the reader, and adds the facts known by its name.
 */
#include "data/open.h"

#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/options.h"
#include "base/parameter.h"
#include "base/place.h"
#include "base/text.h"
#include "data/array_files.h"
#include "data/cifar_folder.h"
#include "data/class_folder.h"
#include "data/dataset.h"
#include "data/digits.h"
#include "data/format.h"
#include "data/fractions.h"
#include "data/idx_folder.h"
#include "data/listing.h"
#include "data/search.h"
#include "data/table_file.h"
#include "io/file.h"

#define OPERATION "dataset"

/* *path := FOLDER/NAME if it exists, else NULL. */
static tn_status file_in(const char *folder, const char *name, char **path,
			 struct tn_error_info *error)
{
	struct tn_text text;
	tn_text_init(&text);
	tn_text_format(&text, "%s/%s", folder, name);
	*path = tn_text_take(&text);
	if (!*path)
		return tn_no_memory(error, OPERATION, tn_file_label(folder), NULL);
	if (access(*path, F_OK) == 0)
		return TN_OK;
	tn_mem_free(*path);
	*path = NULL;
	return TN_OK;
}

/* Which options a reader takes; others must be 0. */
enum { TAKES_DIGITS = 1, TAKES_IMAGES = 2, TAKES_TABLE = 4 };

static tn_status check_taken(const char *path, const struct tn_dataset_options *o, int takes,
			     struct tn_error_info *error)
{
	const char *found = NULL, *of = NULL;
	if (!(takes & TAKES_DIGITS) && o->digits_as_stored) {
		found = "digits_as_stored";
		of = "the digits";
	} else if (!(takes & TAKES_IMAGES) &&
		   (o->image_height || o->image_width || o->image_channels || o->image_resize ||
		    o->image_interpolation)) {
		found = "image_height, image_width, image_channels, image_resize or "
			"image_interpolation";
		of = "folders of pictures by class";
	} else if (!(takes & TAKES_TABLE) && (o->target || o->regression || o->no_header ||
					      o->separator != tn_dataset_defaults().separator)) {
		found = "target, regression, no_header or separator";
		of = "CSV files";
	}
	if (!found)
		return TN_OK;
	return tn_fail(error, TN_INVALID_ARGUMENT, OPERATION,
		       "%s: expected none of the options of %s, found %s", tn_file_label(path), of,
		       found);
}

/* What a folder contains, in the order in which it is looked for; `path` is of the first kind. */
enum kind { NOTHING, DIGITS, IDX, CIFAR, ARRAYS, CLASSES };

static tn_status look(const char *folder, enum kind *kind, char **path, struct tn_error_info *error)
{
	static const struct {
		enum kind kind;
		tn_status (*look)(const char *folder, int *is_there, struct tn_error_info *error);
	} kinds[] = {
		{IDX, tn_idx_folder_look},
		{CIFAR, tn_cifar_folder_look},
		{ARRAYS, tn_array_files_look},
		{CLASSES, tn_class_folder_look},
	};
	*kind = NOTHING;
	tn_status status = file_in(folder, "digits.csv.gz", path, error);
	if (!status && !*path)
		status = file_in(folder, "digits.csv", path, error);
	if (*path)
		*kind = DIGITS;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]) && !status && !*kind; i++) {
		int is_there = 0;
		status = kinds[i].look(folder, &is_there, error);
		*kind = is_there ? kinds[i].kind : NOTHING;
	}
	return status;
}

/* The first folder, `depth` or fewer below this one, that is a data set without class folders;
 * owned, NULL: none. */
static char *find_inside(const char *folder, int depth)
{
	struct tn_listing folders = {0};
	char *found = NULL;
	if (depth == 0 || tn_listing_folders(folder, &folders, NULL))
		return NULL;
	for (size_t i = 0; i < folders.n && !found; i++) {
		enum kind kind = NOTHING;
		char *digits = NULL, *path = NULL;
		if (!file_in(folder, folders.names[i], &path, NULL) && path &&
		    !look(path, &kind, &digits, NULL)) {
			if (kind == NOTHING || kind == CLASSES)
				found = find_inside(path, depth - 1);
			else
				found = tn_mem_copy_string(path);
		}
		tn_mem_free(digits);
		tn_mem_free(path);
	}
	tn_listing_release(&folders);
	return found;
}

/* The folders that archives of MNIST and CIFAR make hold the one with the files. */
static tn_status read_classes(const char *folder, const struct tn_dataset_options *options,
			      struct tn_dataset_raw *raw, struct tn_error_info *error)
{
	tn_status status = tn_class_folder_read(folder, options, raw, error);
	char *inside = status == TN_FORMAT ? find_inside(folder, 2) : NULL;
	if (inside)
		tn_fail(error, status, OPERATION, "%s: expected a data set, found one below: %s",
			tn_file_label(folder), tn_file_label(inside));
	tn_mem_free(inside);
	return status;
}

static tn_status read_folder(const char *folder, const struct tn_dataset_options *options,
			     struct tn_dataset_raw *raw, struct tn_error_info *error)
{
	char *digits = NULL;
	enum kind kind;
	tn_status status = look(folder, &kind, &digits, error);
	int takes = kind == DIGITS ? TAKES_DIGITS : kind == CLASSES ? TAKES_IMAGES : 0;
	if (!status && kind != NOTHING)
		status = check_taken(folder, options, takes, error);
	if (!status) {
		switch (kind) {
		case DIGITS:
			status = tn_digits_read(digits, options->digits_as_stored != 0, raw, error);
			break;
		case IDX:
			status = tn_idx_folder_read(folder, raw, error);
			break;
		case CIFAR:
			status = tn_cifar_folder_read(folder, raw, error);
			break;
		case ARRAYS:
			status =
				tn_array_files_read(folder, 0, options->n_classes != 0, raw, error);
			break;
		case CLASSES:
			status = read_classes(folder, options, raw, error);
			break;
		case NOTHING:
			status = tn_fail(error, TN_NOT_FOUND, OPERATION,
					 "%s: expected digits.csv.gz, or train-images-idx3-ubyte "
					 "and the three other files of MNIST (plain or with .gz), "
					 "or data_batch_1.bin or train.bin of CIFAR, or x.npy, or "
					 "folders of pictures by class, found none of them",
					 tn_file_label(folder));
			break;
		}
	}
	tn_mem_free(digits);
	return status;
}

/* An NPZ file begins as ZIP files do; any other is taken for CSV. */
static tn_status read_file(const char *path, const struct tn_dataset_options *options,
			   struct tn_dataset_raw *raw, struct tn_error_info *error)
{
	struct tn_file file;
	unsigned char magic[2] = {0};
	tn_status status = tn_file_open(&file, path, OPERATION, error);
	if (status)
		return status;
	if (file.size >= 2)
		status = tn_file_read(&file, 0, magic, 2, error);
	tn_file_close(&file);
	int is_npz = magic[0] == 'P' && magic[1] == 'K';
	if (!status)
		status = check_taken(path, options, is_npz ? 0 : TAKES_TABLE, error);
	if (status)
		return status;
	return is_npz ? tn_array_files_read(path, 1, options->n_classes != 0, raw, error)
		      : tn_table_file_read(path, options, raw, error);
}

/* Sets origin and class names of data sets known by the name of their folder. */
static tn_status add_known(const char *folder, struct tn_dataset_raw *raw,
			   struct tn_error_info *error)
{
	char *name = tn_path_name(folder);
	if (!name)
		return tn_no_memory(error, OPERATION, tn_file_label(folder), NULL);
	const struct tn_known_dataset *entry = tn_known_dataset(name);
	if (entry && raw->format.n_classes == 10) {
		raw->origin = entry->info.origin;
		raw->class_names = entry->class_names;
	}
	tn_mem_free(name);
	return TN_OK;
}

tn_status tn_dataset_load(const char *name, const struct tn_dataset_options *given,
			  const char *data_dir, tn_dataset **out, struct tn_error_info *error)
{
	struct tn_dataset_options options = tn_dataset_defaults();
	struct tn_input_format as = {0};
	struct tn_dataset_raw raw = {0};
	char *folder = NULL;
	int is_folder = 0;
	tn_status status = tn_options_take(&options, sizeof(options), given,
					   "struct tn_dataset_options", OPERATION, error);
	if (!status && options.normalise_as) {
		status = tn_input_format_take(&as, options.normalise_as, error);
		options.normalise_as = &as;
	}
	if (!status)
		status = tn_dataset_find(name, data_dir, &folder, &is_folder, error);
	if (!status)
		status = is_folder ? read_folder(folder, &options, &raw, error)
				   : read_file(folder, &options, &raw, error);
	if (!status)
		status = tn_dataset_take_fractions(&raw,
						   &(struct tn_fractions){
							   options.test_fraction,
							   options.validation_fraction,
							   options.keep_own_parts != 0,
						   },
						   tn_file_label(folder), error);
	raw.normalise_as = options.normalise_as;
	raw.n_classes_wanted = options.n_classes;
	if (!status && is_folder && !raw.class_names)
		status = add_known(folder, &raw, error);
	if (!status)
		status = tn_dataset_build(&raw, name, folder, out, error);
	tn_dataset_raw_release(&raw);
	tn_mem_free(folder);
	return status;
}

/* The folder of Tenon's data files; owned, NULL: out of memory. */
static char *find_data_folder(struct tn_error_info *error)
{
	struct tn_parameters parameters;
	struct tn_text text;
	tn_parameters_init(&parameters);
	tn_text_init(&text);
	tn_place_add_data(&text, &parameters);
	tn_parameters_release(&parameters);
	char *folder = tn_text_take(&text);
	if (!folder)
		tn_no_memory(error, OPERATION, NULL, "the folder of data sets");
	return folder;
}

tn_status tn_dataset_open(const char *name, const struct tn_dataset_options *options,
			  tn_dataset **out, struct tn_error_info *error)
{
	char *data_dir = find_data_folder(error);
	if (!data_dir)
		return TN_OUT_OF_MEMORY;
	tn_status status = tn_dataset_load(name, options, data_dir, out, error);
	tn_mem_free(data_dir);
	return status;
}

tn_status tn_dataset_locate(const char *name, char **path, struct tn_error_info *error)
{
	int is_folder;
	char *data_dir = find_data_folder(error);
	if (!data_dir)
		return TN_OUT_OF_MEMORY;
	tn_status status = tn_dataset_find(name, data_dir, path, &is_folder, error);
	tn_mem_free(data_dir);
	return status;
}
