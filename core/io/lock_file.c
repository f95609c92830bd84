/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Locks a file with the process's number in it, and reports who holds the lock otherwise.
 */
#include "io/lock_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "io/file.h"

/* For the errors of others; nothing depends on it. */
static void write_owner(int fd)
{
	char text[128], host[64] = "";
	gethostname(host, sizeof(host) - 1);
	int length = snprintf(text, sizeof(text), "process %ld on %s\n", (long)getpid(), host);
	if (ftruncate(fd, 0) || pwrite(fd, text, (size_t)length, 0) != length)
		return;
}

static void read_owner(int fd, char *text, size_t size)
{
	ssize_t length = pread(fd, text, size - 1, 0);
	text[length > 0 ? length : 0] = '\0';
	text[strcspn(text, "\n")] = '\0';
	if (!*text)
		snprintf(text, size, "another process");
}

tn_status tn_lock_file_take(const char *path, const char *operation, const char *what, int *fd,
			    int *is_locked, struct tn_error_info *error)
{
	struct stat found;
	char owner[128];
	int own = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
	if (own < 0 || fstat(own, &found) < 0 || !S_ISREG(found.st_mode)) {
		tn_fail(error, TN_IO, operation, "%s: %s", tn_file_label(path),
			own < 0 ? strerror(errno) : "expected a regular file");
		if (own >= 0)
			close(own);
		return TN_IO;
	}
	*is_locked = flock(own, LOCK_EX | LOCK_NB) == 0;
	if (!*is_locked && errno == EWOULDBLOCK) {
		read_owner(own, owner, sizeof(owner));
		close(own);
		return tn_fail(error, TN_STATE, operation, "%s: %s (%s)", tn_file_label(path), what,
			       owner);
	}
	write_owner(own);
	*fd = own;
	return TN_OK;
}
