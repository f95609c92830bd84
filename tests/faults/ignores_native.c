/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: it opens its own device, whatever context of others it is given.
 * Conform: L1 native.open
 */
#include "right.h"

static tn_status open_device(void *instance, const struct tn_open_args *args, void **device)
{
	struct tn_open_args own;
	tn_status status = right_take(&own, sizeof(own), args, "open");
	own.native = 0;
	return status ? status : right_open(instance, &own, device);
}

static void break_it(struct right *right)
{
	right->device.open = open_device;
}

RIGHT_PLUGIN("ignores_native");
