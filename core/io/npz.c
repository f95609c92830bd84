/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * NPZ, NumPy's files of several arrays: ZIP files whose members are NPY.  An array NAME is the
 * member NAME.npy.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/io.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/name.h"
#include "base/quarantine.h"
#include "io/npy_content.h"
#include "io/zip.h"
#include "io/zip_member.h"

#define OPERATION TN_ZIP_OPERATION
#define SUFFIX ".npy"

struct name {
	char *text;
	size_t index; /* of the entry */
};

struct tn_npz {
	struct tn_zip zip;
	struct name *names;  /* by index */
	struct name *sorted; /* by text */
};

static int by_text(const void *a, const void *b)
{
	return strcmp(((const struct name *)a)->text, ((const struct name *)b)->text);
}

static tn_status name_arrays(struct tn_npz *file, struct tn_error_info *error)
{
	const struct tn_zip *zip = &file->zip;
	file->names = tn_mem_zeroed(zip->n + 1, sizeof(*file->names));
	file->sorted = tn_mem_zeroed(zip->n + 1, sizeof(*file->sorted));
	int complete = file->names && file->sorted;
	for (size_t i = 0; complete && i < zip->n; i++) {
		char *name = tn_mem_copy_string(zip->entries[i].name);
		size_t length = name ? strlen(name) : 0, suffix = strlen(SUFFIX);
		if (length > suffix && !strcmp(name + length - suffix, SUFFIX))
			name[length - suffix] = '\0';
		file->names[i] = file->sorted[i] = (struct name){name, i};
		complete = name != NULL;
	}
	if (!complete)
		return tn_no_memory(error, OPERATION, tn_file_label(zip->file.path), NULL);
	qsort(file->sorted, zip->n, sizeof(*file->sorted), by_text);
	for (size_t i = 1; i < zip->n; i++) {
		if (!by_text(&file->sorted[i - 1], &file->sorted[i]))
			return tn_fail(error, TN_FORMAT, OPERATION,
				       "%s: expected different names, found two arrays '%.100s'",
				       tn_file_label(zip->file.path), file->sorted[i].text);
	}
	return TN_OK;
}

tn_status tn_npz_open(const char *path, tn_npz **out, struct tn_error_info *error)
{
	tn_npz *file = tn_mem_zeroed(1, sizeof(*file));
	if (!file)
		return tn_no_memory(error, OPERATION, tn_file_label(path), NULL);
	tn_status status = tn_zip_open(&file->zip, path, error);
	if (!status)
		status = name_arrays(file, error);
	if (!status)
		*out = file;
	else
		tn_npz_close(file);
	return status;
}

void tn_npz_close(tn_npz *file)
{
	if (!file || tn_quarantine_check(file, "npz_close", NULL))
		return;
	for (size_t i = 0; file->names && i < file->zip.n; i++)
		tn_mem_free(file->names[i].text);
	tn_mem_free(file->names);
	tn_mem_free(file->sorted);
	tn_zip_close(&file->zip);
	tn_quarantine_end(file, "the file has been closed");
}

size_t tn_npz_count(const tn_npz *file)
{
	return file && !tn_quarantine_check(file, "npz_count", NULL) ? file->zip.n : 0;
}

const char *tn_npz_name(const tn_npz *file, size_t index)
{
	return index < tn_npz_count(file) ? file->names[index].text : NULL;
}

static tn_status read_member(void *user, uint64_t offset, void *buffer, size_t size,
			     struct tn_error_info *error)
{
	(void)offset; /* in order and without gaps */
	return tn_zip_member_read(user, buffer, size, error);
}

static tn_status no_array(const tn_npz *file, const char *name, struct tn_error_info *error)
{
	const size_t n = file->zip.n;
	const char *path = tn_file_label(file->zip.file.path);
	if (!n)
		return tn_fail(error, TN_NOT_FOUND, OPERATION,
			       "%s: no array '%.100s', the file has none", path, name);
	const char *like =
		tn_name_nearest_member(name, &file->names->text, n, sizeof(*file->names));
	return tn_fail(error, TN_NOT_FOUND, OPERATION,
		       "%s: no array '%.100s' among %zu; %s '%.60s'", path, name, n,
		       like ? "nearest:" : "the first is", like ? like : file->names->text);
}

tn_status tn_npz_read(const tn_npz *file, const char *name, struct tn_host_array *out,
		      struct tn_error_info *error)
{
	if (!file || !name)
		return tn_fail(error, TN_INVALID_ARGUMENT, OPERATION, "%s is NULL",
			       file ? "name" : "file");
	if (tn_quarantine_check(file, OPERATION, error))
		return TN_STATE;
	const struct tn_zip *zip = &file->zip;
	const char *path = tn_file_label(zip->file.path);
	struct name key = {.text = (char *)(uintptr_t)name};
	const struct name *found =
		bsearch(&key, file->sorted, zip->n, sizeof(*file->sorted), by_text);
	if (!found)
		return no_array(file, name, error);
	const struct tn_zip_entry *entry = &zip->entries[found->index];
	struct tn_zip_member *member = NULL;
	struct tn_host_array array = {0};
	uint64_t end;
	char label[300];
	snprintf(label, sizeof(label), "%s: member '%.100s'", path, entry->name);
	tn_status status = tn_zip_member_open(zip, entry, label, &member, error);
	const struct tn_npy_content content = {
		.label = label, .size = entry->size, .read = read_member, .user = member};
	if (!status)
		status = tn_npy_read_content(&content, &array, &end, error);
	if (!status)
		status = tn_zip_member_finish(member, error);
	tn_zip_member_close(member);
	if (!status)
		*out = array;
	else
		tn_host_array_release(&array);
	return status;
}
