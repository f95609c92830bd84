/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: it changes the locale.
 * Conform: L5 process.state
 */
#include "right.h"

#include <locale.h>

static tn_status open_device(void *instance, const struct tn_open_args *args, void **device)
{
	setlocale(LC_ALL, "C.UTF-8");
	return right_open(instance, args, device);
}

static void break_it(struct right *right)
{
	right->device.open = open_device;
}

RIGHT_PLUGIN("locale");
