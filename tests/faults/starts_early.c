/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: counting devices binds it to the process, so that a forked child finds none.
 * Conform: L5 process.fork_before
 */
#include "right.h"

#include <unistd.h>

static pid_t owner;

static tn_status device_count(void *instance, struct tn_device_count *out)
{
	const struct tn_device_count none = {.count = 0, .status = TN_NO_DEVICE};
	if (!owner)
		owner = getpid();
	if (owner == getpid())
		return right_device_count(instance, out);
	tn_struct_answer(out, &none, sizeof(none));
	return TN_OK;
}

static tn_status open_device(void *instance, const struct tn_open_args *args, void **device)
{
	if (owner != getpid())
		return right_fail(&args->call, TN_NO_DEVICE, "open", "another process has it");
	return right_open(instance, args, device);
}

static void break_it(struct right *right)
{
	right->device.device_count = device_count;
	right->device.open = open_device;
}

RIGHT_PLUGIN("starts_early");
