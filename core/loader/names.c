/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A folder's names, sorted independently of file system and locale.
 */
#include "loader/names.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "loader/search.h"

int tn_search_is_name(const char *text, size_t length)
{
	if (length < 1 || length > 31)
		return 0;
	for (size_t i = 0; i < length; i++) {
		char c = text[i];
		if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') && c != '_')
			return 0;
	}
	return 1;
}

static int by_bytes(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

tn_status tn_names_read(const char *folder, const char *suffix, struct tn_names *names)
{
	tn_status status = TN_OK;
	const struct dirent *entry;
	*names = (struct tn_names){0};
	DIR *stream = opendir(folder);
	if (!stream)
		return TN_IO;
	while (!status && (entry = readdir(stream))) {
		size_t length = strlen(entry->d_name), n = strlen(suffix);
		if (entry->d_name[0] == '.' || length < n ||
		    strcmp(entry->d_name + length - n, suffix))
			continue;
		status = TN_OUT_OF_MEMORY;
		char **list = tn_mem_realloc(names->list, names->n + 1, sizeof(*list));
		if (!list)
			break;
		names->list = list;
		list[names->n] = tn_mem_copy_string(entry->d_name);
		if (!list[names->n])
			break;
		names->n++;
		status = TN_OK;
	}
	closedir(stream);
	if (status)
		tn_names_release(names);
	else if (names->n)
		qsort(names->list, names->n, sizeof(*names->list), by_bytes);
	return status;
}

void tn_names_release(struct tn_names *names)
{
	for (size_t i = 0; i < names->n; i++)
		tn_mem_free(names->list[i]);
	tn_mem_free(names->list);
	*names = (struct tn_names){0};
}
