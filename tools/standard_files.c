/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Opens /dev/null, for the wrong kind of access, in the place of closed standard descriptors.
 */
#include "standard_files.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

void take_standard_files(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) != -1 || errno != EBADF)
			continue;
		/* open returns the lowest free descriptor, which is this one.  The wrong access
		 * mode makes it unusable. */
		(void)open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
	}
}
