/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * sudo's rule, a little stricter.  A file or folder is trusted when neither its group nor others
 * may write it and it belongs to root, or to the effective user where that is not the user who
 * started the process (in a setgid process the effective user is the one to guard against).  A
 * folder with the sticky bit, such as /tmp, may be writable unless it directly holds the file:
 * users cannot replace each other's entries in it.
 */
#include "loader/trust.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"

static tn_status check_one(const char *path, int sticky_allowed, struct tn_error_info *error)
{
	struct stat information;
	if (lstat(path, &information))
		return tn_fail(error, TN_REFUSED, "inspect", "%s: %s", path, strerror(errno));
	int sticky = S_ISDIR(information.st_mode) && (information.st_mode & S_ISVTX);
	if ((information.st_mode & (S_IWGRP | S_IWOTH)) && !(sticky && sticky_allowed))
		return tn_fail(error, TN_REFUSED, "inspect",
			       "%s is writable by %s (mode %04o), and this process is privileged",
			       path, information.st_mode & S_IWOTH ? "others" : "its group",
			       (unsigned)(information.st_mode & 07777));
	if (information.st_uid == 0 || (information.st_uid == geteuid() && geteuid() != getuid()))
		return TN_OK;
	return tn_fail(error, TN_REFUSED, "inspect",
		       "%s belongs to user %u, and this process is privileged", path,
		       (unsigned)information.st_uid);
}

tn_status tn_trust_check(const char *path, struct tn_error_info *error)
{
	char *part = tn_mem_copy_string(path);
	if (!part)
		return tn_no_memory(error, "inspect", NULL, "a path");
	tn_status status = check_one(part, 0, error);
	for (int level = 0; !status && part[1]; level++) {
		char *slash = strrchr(part, '/');
		if (!slash)
			break;
		slash[slash == part] = '\0'; /* keep the slash of the root folder */
		status = check_one(part, level > 0, error);
	}
	tn_mem_free(part);
	return status;
}
