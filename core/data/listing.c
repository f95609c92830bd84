/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Reads the entries of a folder, keeps folders or files with certain endings, and sorts them.
 */
#include "data/listing.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/memory.h"
#include "io/file.h"

#define OPERATION "dataset"

static int has_ending(const char *name, const char *const *endings)
{
	size_t length = strlen(name);
	for (; *endings; endings++) {
		size_t n = strlen(*endings);
		if (length > n && strcasecmp(name + length - n, *endings) == 0)
			return 1;
	}
	return 0;
}

static tn_status add(struct tn_listing *listing, const char *folder, const char *name,
		     struct tn_error_info *error)
{
	if (listing->n == listing->capacity) {
		size_t capacity = listing->capacity ? 2 * listing->capacity : 16;
		char **names = tn_mem_realloc(listing->names, capacity, sizeof(*names));
		if (!names)
			return tn_no_memory(error, OPERATION, tn_file_label(folder), "its entries");
		listing->names = names;
		listing->capacity = capacity;
	}
	listing->names[listing->n] = tn_mem_copy_string(name);
	if (!listing->names[listing->n])
		return tn_no_memory(error, OPERATION, tn_file_label(folder), "its entries");
	listing->n++;
	return TN_OK;
}

/* What is asked for: a listing of NULL is not. */
struct request {
	const char *folder;
	const char *const *endings;
	struct tn_listing *files;
	struct tn_listing *folders;
	struct tn_listing *others;
};

static tn_status take_entry(DIR *entries, const struct dirent *entry, const struct request *request,
			    struct tn_error_info *error)
{
	struct stat status;
	const char *name = entry->d_name;
	int is_named = request->endings && has_ending(name, request->endings);
	int is_file = entry->d_type == DT_REG, is_folder = entry->d_type == DT_DIR;
	if (name[0] == '.')
		return TN_OK;
	if (!is_file && !is_folder) {
		int failed = fstatat(dirfd(entries), name, &status, 0) != 0;
		if (failed && is_named)
			return tn_fail(error, TN_IO, OPERATION, "%s/%.100s: %s",
				       tn_file_label(request->folder), name, strerror(errno));
		is_file = !failed && S_ISREG(status.st_mode);
		is_folder = !failed && S_ISDIR(status.st_mode);
	}
	if (is_named && !is_file && !is_folder)
		return tn_fail(error, TN_IO, OPERATION,
			       "%s/%.100s: expected a regular file, found a pipe, socket or device",
			       tn_file_label(request->folder), name);
	struct tn_listing *listing = is_folder  ? request->folders
				     : is_named ? request->files
				     : is_file  ? request->others
						: NULL;
	return listing ? add(listing, request->folder, name, error) : TN_OK;
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static tn_status list(const struct request *request, struct tn_error_info *error)
{
	const char *label = tn_file_label(request->folder);
	DIR *entries = opendir(request->folder);
	if (!entries)
		return tn_fail(error, errno == ENOMEM ? TN_OUT_OF_MEMORY : TN_IO, OPERATION,
			       "%s: %s", label, strerror(errno));
	tn_status status = TN_OK;
	errno = 0;
	for (const struct dirent *entry = readdir(entries); entry && !status;
	     entry = readdir(entries)) {
		status = take_entry(entries, entry, request, error);
		errno = 0;
	}
	if (!status && errno)
		status = tn_fail(error, TN_IO, OPERATION, "%s: %s", label, strerror(errno));
	closedir(entries);
	struct tn_listing *const listings[] = {request->files, request->folders, request->others};
	for (int i = 0; i < 3; i++) {
		if (status && listings[i])
			tn_listing_release(listings[i]);
		else if (listings[i] && listings[i]->n)
			qsort(listings[i]->names, listings[i]->n, sizeof(char *), compare);
	}
	return status;
}

tn_status tn_listing_folders(const char *folder, struct tn_listing *out,
			     struct tn_error_info *error)
{
	memset(out, 0, sizeof(*out));
	return list(&(struct request){.folder = folder, .folders = out}, error);
}

tn_status tn_listing_all(const char *folder, const char *const *endings, struct tn_listing *files,
			 struct tn_listing *folders, struct tn_listing *others,
			 struct tn_error_info *error)
{
	const struct request request = {folder, endings, files, folders, others};
	memset(files, 0, sizeof(*files));
	memset(folders, 0, sizeof(*folders));
	memset(others, 0, sizeof(*others));
	return list(&request, error);
}

void tn_listing_release(struct tn_listing *listing)
{
	for (size_t i = 0; i < listing->n; i++)
		tn_mem_free(listing->names[i]);
	tn_mem_free(listing->names);
	memset(listing, 0, sizeof(*listing));
}

size_t tn_listing_find(const struct tn_listing *listing, const char *name)
{
	char *const *found = listing->n ? bsearch(&name, listing->names, listing->n,
						  sizeof(*listing->names), compare)
					: NULL;
	return found ? (size_t)(found - listing->names) : listing->n;
}
