/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Finds the folder of a name.  The error for a name not found lists every folder searched and the
 * package that contains it.
 */
#include "data/search.h"

#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/name.h"
#include "base/text.h"
#include "io/file.h"

#define OPERATION "dataset"
#define SYSTEM_FOLDER "/usr/share/datasets"

static const char *const digit_names[] = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};
static const char *const clothes[] = {"T-shirt/top", "trouser", "pullover", "dress", "coat",
				      "sandal",      "shirt",   "sneaker",  "bag",   "ankle boot"};

enum { INFO_SIZE = sizeof(struct tn_dataset_info) };

static const struct tn_known_dataset known[] = {
	{{INFO_SIZE, "digits", "",
	  "E. Alpaydin and C. Kaynak (1998): Optical Recognition of Handwritten Digits, UCI "
	  "Machine Learning Repository, doi:10.24432/C50P49, CC BY 4.0"},
	 digit_names},
	{{INFO_SIZE, "fashion-mnist", "dataset-fashion-mnist",
	  "H. Xiao, K. Rasul, R. Vollgraf (2017): Fashion-MNIST, Zalando SE, MIT licence"},
	 clothes},
	{{INFO_SIZE, "mnist", "",
	  "Y. LeCun, C. Cortes, C. Burges: The MNIST database of handwritten digits"},
	 digit_names},
};

enum { N_KNOWN = sizeof(known) / sizeof(known[0]) };

const struct tn_known_dataset *tn_known_dataset(const char *name)
{
	for (size_t i = 0; i < N_KNOWN; i++) {
		if (!strcmp(known[i].info.name, name))
			return &known[i];
	}
	return NULL;
}

const struct tn_dataset_info *tn_dataset_at(size_t index)
{
	return index < N_KNOWN ? &known[index].info : NULL;
}

char *tn_path_name(const char *path)
{
	size_t end = strlen(path);
	while (end > 0 && path[end - 1] == '/')
		end--;
	size_t begin = end;
	while (begin > 0 && path[begin - 1] != '/')
		begin--;
	struct tn_text text;
	tn_text_init(&text);
	tn_text_append(&text, path + begin, end - begin);
	return tn_text_take(&text);
}

/* Folder i to search for a name, the last one a file as well; NULL: out of memory. */
#define N_PLACES 3

static char *place(int i, const char *name, const char *data_dir)
{
	struct tn_text text;
	tn_text_init(&text);
	switch (i) {
	case 0:
		tn_text_format(&text, "%s/data/%s", data_dir, name);
		break;
	case 1:
		tn_text_format(&text, SYSTEM_FOLDER "/%s", name);
		break;
	default:
		tn_text_format(&text, "./%s", name);
		break;
	}
	return tn_text_take(&text);
}

/* The error text: every folder searched, and how to get the data set. */
static tn_status not_found(const char *name, const char *data_dir, struct tn_error_info *error)
{
	struct tn_text places;
	tn_text_init(&places);
	for (int i = 0; i < N_PLACES; i++) {
		char *path = place(i, name, data_dir);
		tn_text_format(&places, "%s%s", i ? ", " : "", path ? tn_file_label(path) : "?");
		tn_mem_free(path);
	}
	const struct tn_known_dataset *entry = tn_known_dataset(name);
	const char *names[N_KNOWN];
	for (size_t i = 0; i < N_KNOWN; i++)
		names[i] = known[i].info.name;
	const char *like = entry ? NULL : tn_name_nearest(name, names, N_KNOWN);
	const char *text = places.data ? places.data : "?";
	tn_status status;
	if (entry && *entry->info.package)
		status = tn_fail(error, TN_NOT_FOUND, OPERATION,
				 "%s: not found (it is in Debian package %s); searched %s", name,
				 entry->info.package, text);
	else
		status = tn_fail(error, TN_NOT_FOUND, OPERATION,
				 "%.100s: not found%s%s%s; searched %s", name,
				 like ? "; did you mean '" : "", like ? like : "", like ? "'?" : "",
				 text);
	tn_text_release(&places);
	return status;
}

tn_status tn_dataset_find(const char *name, const char *data_dir, char **folder, int *is_a_folder,
			  struct tn_error_info *error)
{
	struct stat status;
	*is_a_folder = 1;
	if (!name)
		return tn_fail(error, TN_INVALID_ARGUMENT, OPERATION, "name is NULL");
	if (name[0] == '\0')
		return tn_fail(error, TN_INVALID_ARGUMENT, OPERATION,
			       "expected a data set's name or folder, found an empty text");
	if (strchr(name, '/') || !strcmp(name, ".") || !strcmp(name, "..")) {
		if (stat(name, &status) != 0)
			return tn_fail(error, TN_NOT_FOUND, OPERATION,
				       "%s: expected a folder or a file, found neither",
				       tn_file_label(name));
		*is_a_folder = S_ISDIR(status.st_mode);
		*folder = tn_mem_copy_string(name);
		return *folder ? TN_OK : tn_no_memory(error, OPERATION, tn_file_label(name), NULL);
	}
	for (int i = 0; i < N_PLACES; i++) {
		char *path = place(i, name, data_dir);
		if (!path)
			return tn_no_memory(error, OPERATION, tn_file_label(name), NULL);
		int is_there = stat(path, &status) == 0;
		*is_a_folder = is_there && S_ISDIR(status.st_mode);
		if (*is_a_folder || (is_there && i == N_PLACES - 1)) {
			*folder = path;
			return TN_OK;
		}
		tn_mem_free(path);
	}
	return not_found(name, data_dir, error);
}
