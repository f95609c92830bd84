/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: an exit handler crashes, because the instance is gone.
 * Conform: L5 process.close stream.sync
 */
#include "right.h"

static void *kept;

static void late(void)
{
	struct right *right = (struct right *)kept;
	memset(right, 0, sizeof(*right));
	abort();
}

static tn_status create(const struct tn_host *host, struct tn_error_info *error, void **instance)
{
	tn_status status = right_create(host, error, instance);
	kept = *instance;
	atexit(late);
	return status;
}

static void break_it(struct right *right)
{
	(void)right;
}

RIGHT_PLUGIN_OF("atexit", create);
