/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: it redirects standard output, hiding all output of the process.
 * Conform: L5 process.silence stream.sync
 */
#include "right.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static tn_status wait_for(void *device, const struct tn_sync_args *args)
{
	int null = open("/dev/null", O_WRONLY);
	dup2(null, STDOUT_FILENO);
	close(null);
	puts("nobody reads this");
	return right_sync(device, args);
}

static void break_it(struct right *right)
{
	right->device.sync = wait_for;
}

RIGHT_PLUGIN("redirects");
