/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: a thread that computes keeps the floating-point modes of whoever opened the device.
 * Link: -lm
 * Conform: L5 threads.modes
 */
#include "right.h"

#include <fenv.h>

/* What a thread would inherit that is started by open; the file's, for the sake of brevity. */
static fenv_t inherited;

static tn_status open_device(void *instance, const struct tn_open_args *args, void **device)
{
	fegetenv(&inherited);
	return right_open(instance, args, device);
}

static tn_status map(void *device, const struct tn_map_args *args)
{
	fenv_t before;
	fegetenv(&before);
	fesetenv(&inherited);
	tn_status status = right_map(device, args);
	fesetenv(&before);
	return status;
}

static void break_it(struct right *right)
{
	right->device.open = open_device;
	right->compute.map = map;
}

RIGHT_PLUGIN("inherits_modes");
