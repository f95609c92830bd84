/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Opens a folder as a data set: selects the reader, and adds the facts known by its name.
 */
#include "data/open.h"

#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/options.h"
#include "base/parameter.h"
#include "base/text.h"
#include "data/dataset.h"
#include "data/digits.h"
#include "data/format.h"
#include "data/idx_folder.h"
#include "data/search.h"
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
		return tn_fail(error, TN_OUT_OF_MEMORY, OPERATION, "%s: no memory",
			       tn_file_label(folder));
	if (access(*path, F_OK) == 0)
		return TN_OK;
	tn_mem_free(*path);
	*path = NULL;
	return TN_OK;
}

static tn_status read_folder(const char *folder, const struct tn_dataset_options *options,
			     struct tn_dataset_raw *raw, struct tn_error_info *error)
{
	char *digits = NULL;
	int has_idx = 0;
	tn_status status = file_in(folder, "digits.csv.gz", &digits, error);
	if (status == TN_OK && !digits)
		status = file_in(folder, "digits.csv", &digits, error);
	if (digits) {
		status = tn_digits_read(digits, options->digits_as_stored != 0, raw, error);
		tn_mem_free(digits);
		return status;
	}
	if (status == TN_OK)
		status = tn_idx_folder_look(folder, &has_idx, error);
	if (status != TN_OK)
		return status;
	if (has_idx)
		return tn_idx_folder_read(folder, raw, error);
	return tn_fail(error, TN_NOT_FOUND, OPERATION,
		       "%s: expected digits.csv.gz, or train-images-idx3-ubyte, "
		       "train-labels-idx1-ubyte, t10k-images-idx3-ubyte and "
		       "t10k-labels-idx1-ubyte (plain or with .gz), found none of them",
		       tn_file_label(folder));
}

/* Sets origin and class names of data sets known by the name of their folder. */
static tn_status add_known(const char *folder, struct tn_dataset_raw *raw,
			   struct tn_error_info *error)
{
	char *name = tn_path_name(folder);
	if (!name)
		return tn_fail(error, TN_OUT_OF_MEMORY, OPERATION, "%s: no memory",
			       tn_file_label(folder));
	const struct tn_known_dataset *entry = tn_known_dataset(name);
	if (entry && raw->format.n_classes == 10) {
		raw->origin = entry->origin;
		raw->class_names = entry->class_names;
	}
	tn_mem_free(name);
	return TN_OK;
}

tn_status tn_dataset_load(const char *name, const struct tn_dataset_options *given,
			  const char *data_dir, tn_dataset **out, struct tn_error_info *error)
{
	struct tn_dataset_options options = {0};
	struct tn_input_format as = {0};
	struct tn_dataset_raw raw = {0};
	char *folder = NULL;
	tn_status status = tn_options_take(&options, sizeof(options), given,
					   "struct tn_dataset_options", OPERATION, error);
	if (status == TN_OK && options.normalise_as)
		status = tn_input_format_take(&as, options.normalise_as, error);
	if (status == TN_OK)
		status = tn_dataset_find(name, data_dir, &folder, error);
	if (status == TN_OK)
		status = read_folder(folder, &options, &raw, error);
	raw.validation_fraction = options.validation_fraction;
	raw.normalise_as = options.normalise_as ? &as : NULL;
	if (status == TN_OK && !raw.class_names)
		status = add_known(folder, &raw, error);
	if (status == TN_OK)
		status = tn_dataset_build(&raw, name, folder, out, error);
	tn_dataset_raw_release(&raw);
	tn_mem_free(folder);
	return status;
}

tn_status tn_dataset_open(const char *name, const struct tn_dataset_options *options,
			  tn_dataset **out, struct tn_error_info *error)
{
	struct tn_parameters parameters;
	tn_parameters_init(&parameters);
	const char *data_dir =
		tn_parameter_read(&parameters, TN_DATA_DIR_VARIABLE, TN_DATA_DIR_HELP);
	tn_status status = tn_dataset_load(name, options, data_dir, out, error);
	tn_parameters_release(&parameters);
	return status;
}
