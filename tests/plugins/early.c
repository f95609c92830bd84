/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Acts in a constructor, when the file is mapped: writes the file that TENON_TEST_MARK names, and
 * then does what TENON_TEST_EARLY says: abort, exit, hang or nothing.
 */
#include "minimal.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

static void leave_mark(const char *path)
{
	int fd = path ? open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600) : -1;
	if (fd >= 0)
		close(fd);
}

__attribute__((constructor)) static void act(void)
{
	const char *what = getenv("TENON_TEST_EARLY");
	leave_mark(getenv("TENON_TEST_MARK"));
	if (what && !strcmp(what, "abort"))
		abort();
	if (what && !strcmp(what, "exit"))
		_exit(0);
	while (what && !strcmp(what, "hang"))
		pause();
}

#define UUID                                                                                       \
	0x3d, 0x0b, 0x9a, 0x64, 0x1c, 0x52, 0x4e, 0x8f, 0xb7, 0x15, 0x60, 0xd2, 0x8e, 0x4a, 0x93,  \
		0x7c
TN_BACKEND_PLUGIN(UUID, "early", "1.0", "Apache-2.0", minimal_create, minimal_destroy,
		  minimal_query);
