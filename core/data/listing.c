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

/* Adds an entry if it is of the requested kind; endings NULL: folders. */
static tn_status take_entry(DIR *entries, const char *folder, const struct dirent *entry,
			    const char *const *endings, struct tn_listing *listing,
			    struct tn_error_info *error)
{
	struct stat status;
	const char *name = entry->d_name;
	if (name[0] == '.' || (endings && !has_ending(name, endings)))
		return TN_OK;
	int is_file = entry->d_type == DT_REG, is_folder = entry->d_type == DT_DIR;
	if (!is_file && !is_folder) {
		int failed = fstatat(dirfd(entries), name, &status, 0) != 0;
		if (failed && endings)
			return tn_fail(error, TN_IO, OPERATION, "%s/%.100s: %s",
				       tn_file_label(folder), name, strerror(errno));
		is_file = !failed && S_ISREG(status.st_mode);
		is_folder = !failed && S_ISDIR(status.st_mode);
	}
	if (!endings)
		return is_folder ? add(listing, folder, name, error) : TN_OK;
	if (is_folder)
		return TN_OK;
	if (!is_file)
		return tn_fail(error, TN_IO, OPERATION,
			       "%s/%.100s: expected a regular file, found a pipe, socket or device",
			       tn_file_label(folder), name);
	return add(listing, folder, name, error);
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static tn_status list(const char *folder, const char *const *endings, struct tn_listing *out,
		      struct tn_error_info *error)
{
	struct tn_listing listing = {0};
	DIR *entries = opendir(folder);
	if (!entries)
		return tn_fail(error, errno == ENOMEM ? TN_OUT_OF_MEMORY : TN_IO, OPERATION,
			       "%s: %s", tn_file_label(folder), strerror(errno));
	tn_status status = TN_OK;
	errno = 0;
	for (const struct dirent *entry = readdir(entries); entry && !status;
	     entry = readdir(entries)) {
		status = take_entry(entries, folder, entry, endings, &listing, error);
		errno = 0;
	}
	if (!status && errno)
		status = tn_fail(error, TN_IO, OPERATION, "%s: %s", tn_file_label(folder),
				 strerror(errno));
	closedir(entries);
	if (status) {
		tn_listing_release(&listing);
		return status;
	}
	if (listing.n)
		qsort(listing.names, listing.n, sizeof(*listing.names), compare);
	*out = listing;
	return TN_OK;
}

tn_status tn_listing_folders(const char *folder, struct tn_listing *out,
			     struct tn_error_info *error)
{
	return list(folder, NULL, out, error);
}

tn_status tn_listing_files(const char *folder, const char *const *endings, struct tn_listing *out,
			   struct tn_error_info *error)
{
	return list(folder, endings, out, error);
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
