/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * How much is kept.  A file's time is that of its last use; when there is too much the oldest go, and what a
 * process that was killed has left half written goes too.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cache.h"

#define MOST ((uint64_t)256 << 20)
#define DAY (24 * 60 * 60)

struct kept {
	const char *name;
	uint64_t size;
	struct timespec used;
};

/* "0123456789abcdef0123456789abcdef.bin", and nothing of anybody else's. */
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

static int is_ours(const struct dirent *entry)
{
	return is_binary(entry->d_name) || is_temporary(entry->d_name);
}

static int compare(const void *a, const void *b)
{
	const struct timespec *x = &((const struct kept *)a)->used;
	const struct timespec *y = &((const struct kept *)b)->used;
	if (x->tv_sec != y->tv_sec)
		return x->tv_sec < y->tv_sec ? -1 : 1;
	return x->tv_nsec == y->tv_nsec ? 0 : x->tv_nsec < y->tv_nsec ? -1 : 1;
}

/* Size and time of a binary, 0 bytes where it cannot be seen; an old temporary file is removed. */
static struct kept look(int folder, const char *name)
{
	struct stat about;
	struct kept kept = {.name = name};
	if (fstatat(folder, name, &about, AT_SYMLINK_NOFOLLOW))
		return kept;
	kept.used = about.st_mtim;
	if (is_binary(name))
		kept.size = (uint64_t)about.st_size;
	else if (time(NULL) - about.st_mtim.tv_sec > DAY)
		(void)unlinkat(folder, name, 0);
	return kept;
}

static void remove_oldest(int folder, struct kept *kept, int n, uint64_t total)
{
	qsort(kept, (size_t)n, sizeof(*kept), compare);
	for (int i = 0; i < n && total > MOST / 4 * 3; i++) {
		if (kept[i].size && !unlinkat(folder, kept[i].name, 0))
			total -= kept[i].size;
	}
}

void cuda_cache_trim(const struct tn_host *host, int folder)
{
	struct dirent **list = NULL;
	uint64_t total = 0;
	int n = scandirat(folder, ".", &list, is_ours, NULL);
	struct kept *kept = n > 0 ? cuda_alloc(host, (size_t)n * sizeof(*kept)) : NULL;
	for (int i = 0; kept && i < n; i++) {
		kept[i] = look(folder, list[i]->d_name);
		total += kept[i].size;
	}
	if (kept && total > MOST)
		remove_oldest(folder, kept, n, total);
	cuda_free(host, kept);
	for (int i = 0; i < n; i++)
		free(list[i]);
	free(list);
}
