/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Checks, before the work, whether a file can be written at its end.
 */
#include "output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "print_error.h"

struct output {
	const char *command, *option, *path;
};

static int refuse(const struct output *o, const char *why)
{
	print_error("tenon %s: %s %s: %s", o->command, o->option, o->path, why);
	return 0;
}

/* Can a file be created in the folder of the path? */
static int folder_possible(const struct output *o, const char *folder)
{
	char why[320];
	struct stat found;
	const char *problem = NULL;
	if (stat(folder, &found))
		problem = strerror(errno);
	else if (!S_ISDIR(found.st_mode))
		problem = strerror(ENOTDIR);
	else if (access(folder, W_OK | X_OK))
		problem = strerror(errno);
	if (!problem)
		return 1;
	snprintf(why, sizeof(why), "expected a writable folder '%.200s': %s", folder, problem);
	return refuse(o, why);
}

static int new_name_possible(const struct output *o)
{
	const char *slash = strrchr(o->path, '/');
	if (!slash)
		return folder_possible(o, ".");
	if (!slash[1])
		return refuse(o, "expected the name of a file, found that of a folder");
	char *folder = strndup(o->path, slash == o->path ? 1 : (size_t)(slash - o->path));
	int possible = folder ? folder_possible(o, folder) : refuse(o, strerror(ENOMEM));
	free(folder);
	return possible;
}

int output_possible(const char *command, const char *option, const char *path, int how)
{
	const struct output o = {command, option, path};
	struct stat found;
	if (!*path)
		return refuse(&o, "expected the name of a file, found none");
	if (stat(path, &found))
		return errno == ENOENT ? new_name_possible(&o) : refuse(&o, strerror(errno));
	if (S_ISDIR(found.st_mode))
		return refuse(&o, "expected a file, found a folder");
	if (how == OUTPUT_WHOLE && !S_ISREG(found.st_mode))
		return refuse(&o, "expected a regular file or a free name, found a pipe, socket or "
				  "device");
	if (how == OUTPUT_WHOLE)
		return new_name_possible(&o);
	return access(path, W_OK) ? refuse(&o, strerror(errno)) : 1;
}

int output_same(const char *a, const char *b)
{
	struct stat x, y;
	if (!strcmp(a, b))
		return 1;
	return !stat(a, &x) && !stat(b, &y) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}
