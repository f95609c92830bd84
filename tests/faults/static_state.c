/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: a static variable lets it be created once in a process.
 * Conform: L5 process.instances
 */
#include "right.h"

static int created;

static tn_status create(const struct tn_host *host, struct tn_error_info *error, void **instance)
{
	if (created++)
		return TN_STATE;
	return right_create(host, error, instance);
}

static void break_it(struct right *right)
{
	(void)right;
}

RIGHT_PLUGIN_OF("static_state", create);
