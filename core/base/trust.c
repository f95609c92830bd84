/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * sudo's rule.  A process trusts root, its effective user, and the owner of this library, whose
 * code it runs already.  Others may not write a file or folder; its group may if it is the owner's
 * own, as with umask 002 (its number is the owner's).  A privileged process is stricter: it trusts
 * no group, nor the library's owner, and the effective user only where that is not the user who
 * started the process (in a setgid process the effective user is the one to guard against).
 *
 * In a folder with the sticky bit, such as /tmp, users cannot replace each other's entries, but
 * they can add some.  So any folder above may have it but the one that holds what is checked.
 *
 * The root is checked first: who cannot write a folder cannot change what is checked after it.
 */
#include "base/trust.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"

static uid_t owner; /* of this library; root until it is known */

static int is_trusted(uid_t user, int is_privileged)
{
	if (user == 0)
		return 1;
	if (is_privileged)
		return user == geteuid() && geteuid() != getuid();
	return user == geteuid() || user == owner;
}

struct walk {
	const char *path;
	char *part; /* its start that is being checked */
	int is_privileged;
	struct tn_error_info *error;
};

static tn_status check_one(const struct walk *walk, const struct stat *information,
			   int sticky_allowed)
{
	const char *reason = walk->is_privileged ? ", and this process is privileged" : "";
	const mode_t mode = information->st_mode;
	const int is_own_group = !walk->is_privileged && information->st_gid == information->st_uid;
	if (!is_trusted(information->st_uid, walk->is_privileged))
		return tn_fail(walk->error, TN_REFUSED, "inspect", "%s belongs to user %u%s",
			       walk->part, (unsigned)information->st_uid, reason);
	/* A link has no mode of its own. */
	if (S_ISLNK(mode) || !(mode & (is_own_group ? S_IWOTH : S_IWGRP | S_IWOTH)) ||
	    (sticky_allowed && S_ISDIR(mode) && (mode & S_ISVTX)))
		return TN_OK;
	return tn_fail(walk->error, TN_REFUSED, "inspect", "%s is writable by %s (mode %04o)%s",
		       walk->part, mode & S_IWOTH ? "others" : "its group",
		       (unsigned)(mode & 07777), reason);
}

/* A path of `length` letters, after the folders above it. */
static tn_status check_part(const struct walk *walk, size_t length, int n_below)
{
	struct stat information;
	tn_status status = TN_OK;
	while (length > 1 && walk->path[length - 1] == '/')
		length--;
	size_t above = length;
	while (above > 1 && walk->path[above - 1] != '/')
		above--;
	if (length > 1)
		status = check_part(walk, above, n_below + 1);
	if (status)
		return status;
	char *part = walk->part;
	memcpy(part, walk->path, length);
	part[length] = '\0';
	if (lstat(part, &information))
		return tn_fail(walk->error, TN_REFUSED, "inspect", "%s: %s", part, strerror(errno));
	return check_one(walk, &information, n_below > 1);
}

tn_status tn_trust_check(const char *path, int is_privileged, struct tn_error_info *error)
{
	struct walk walk = {.path = path, .is_privileged = is_privileged, .error = error};
	const size_t length = strlen(path);
	walk.part = tn_mem_alloc(length + 1);
	if (!walk.part)
		return tn_no_memory(error, "inspect", NULL, "a path");
	tn_status status = check_part(&walk, length, 0);
	tn_mem_free(walk.part);
	return status;
}

tn_status tn_trust_resolve(const char *path, int is_privileged, char **real,
			   struct tn_error_info *error)
{
	char *resolved = realpath(path, NULL);
	if (!resolved)
		return errno == ENOMEM ? TN_OUT_OF_MEMORY : TN_IO;
	tn_status status = tn_trust_check(path, is_privileged, error);
	if (!status && strcmp(path, resolved) != 0)
		status = tn_trust_check(resolved, is_privileged, error);
	if (status)
		tn_mem_free(resolved);
	else
		*real = resolved;
	return status;
}

void tn_trust_owner(uid_t user)
{
	owner = user;
}
