/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: it leaves a symbol undefined, to be defined by a library that may be missing.
 * Link: -Wl,-z,undefs
 * Conform: L0 file.symbols
 */
#include "right.h"

extern int nobody_has_this(void);

static tn_status sync_stream(void *device, const struct tn_sync_args *args)
{
	(void)device;
	(void)args;
	return nobody_has_this();
}

static void break_it(struct right *right)
{
	right->device.sync = sync_stream;
}

RIGHT_PLUGIN("undefined_symbol");
