/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Limits the size of the cache.  A file's time is that of its last use; above the limit the oldest
 * files are removed, as are partial files left by a killed process.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cache.h"

#define MOST ((uint64_t)256 << 20)
#define DAY (24 * 60 * 60)

struct kept {
	char name[96];
	uint64_t size;
	struct timespec used;
};

/* "0123456789abcdef0123456789abcdef.bin": only names that this cache writes. */
static int is_binary(const char *name)
{
	return strspn(name, "0123456789abcdef") == 32 && !strcmp(name + 32, ".bin");
}

/* ".0123456789abcdef0123456789abcdef.bin.PID.ADDRESS" */
static int is_temporary(const char *name)
{
	return name[0] == '.' && strspn(name + 1, "0123456789abcdef") == 32 &&
	       !strncmp(name + 33, ".bin.", 5);
}

static int compare(const void *a, const void *b)
{
	const struct timespec *x = &((const struct kept *)a)->used;
	const struct timespec *y = &((const struct kept *)b)->used;
	if (x->tv_sec != y->tv_sec)
		return x->tv_sec < y->tv_sec ? -1 : 1;
	return x->tv_nsec == y->tv_nsec ? 0 : x->tv_nsec < y->tv_nsec ? -1 : 1;
}

/* Size and time of a binary, 0 bytes if it cannot be read; removes an old temporary file. */
static struct kept read_entry(int folder, const char *name)
{
	struct stat about;
	struct kept kept = {.size = 0};
	snprintf(kept.name, sizeof(kept.name), "%s", name);
	if (fstatat(folder, name, &about, AT_SYMLINK_NOFOLLOW))
		return kept;
	kept.used = about.st_mtim;
	if (is_binary(name))
		kept.size = (uint64_t)about.st_size;
	else if (time(NULL) - about.st_mtim.tv_sec > DAY)
		(void)unlinkat(folder, name, 0);
	return kept;
}

/* Fills `kept`, of `room` entries, unless it is NULL; returns how many files the folder has. */
static size_t list_entries(DIR *entries, int folder, struct kept *kept, size_t room)
{
	const struct dirent *entry;
	size_t n = 0;
	rewinddir(entries);
	while ((entry = readdir(entries)) && (!kept || n < room)) {
		if (!is_binary(entry->d_name) && !is_temporary(entry->d_name))
			continue;
		if (kept)
			kept[n] = read_entry(folder, entry->d_name);
		n++;
	}
	return n;
}

void cuda_cache_trim(const struct tn_host *host, int folder)
{
	int own = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *entries = own >= 0 ? fdopendir(own) : NULL;
	if (own >= 0 && !entries)
		(void)close(own);
	if (!entries)
		return;
	size_t n = list_entries(entries, folder, NULL, 0);
	struct kept *kept = n ? tn_plugin_alloc(host, n * sizeof(*kept)) : NULL;
	uint64_t total = 0;
	n = kept ? list_entries(entries, folder, kept, n) : 0;
	for (size_t i = 0; i < n; i++)
		total += kept[i].size;
	if (total > MOST) {
		qsort(kept, n, sizeof(*kept), compare);
		for (size_t i = 0; i < n && total > MOST / 4 * 3; i++) {
			if (kept[i].size && !unlinkat(folder, kept[i].name, 0))
				total -= kept[i].size;
		}
	}
	tn_plugin_free(host, kept);
	(void)closedir(entries);
}
