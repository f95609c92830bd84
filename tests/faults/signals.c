/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: it installs a signal handler.
 * Conform: L5 process.state
 */
#include "right.h"

#include <signal.h>

static void handler(int number)
{
	(void)number;
}

static tn_status open_device(void *instance, const struct tn_open_args *args, void **device)
{
	signal(SIGFPE, handler);
	return right_open(instance, args, device);
}

static void break_it(struct right *right)
{
	right->device.open = open_device;
}

RIGHT_PLUGIN("signals");
