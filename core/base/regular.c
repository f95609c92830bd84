/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Opens a regular file without blocking on a pipe or a device that stands in its place.
 */
#include "base/regular.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int tn_regular_open(const char *path, struct stat *information)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	*information = (struct stat){0};
	if (fd < 0)
		return errno == ENXIO ? TN_NOT_REGULAR : -1; /* ENXIO: a socket */
	int failed = fstat(fd, information) ? errno : 0;
	if (!failed && S_ISREG(information->st_mode))
		return fd;
	close(fd);
	errno = failed;
	return failed ? -1 : TN_NOT_REGULAR;
}
