/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: every instance leaves a descriptor open.
 * Conform: L5 process.leaks
 */
#include "right.h"

#include <fcntl.h>

static tn_status create(const struct tn_host *host, struct tn_error_info *error, void **instance)
{
	(void)open("/dev/null", O_RDONLY | O_CLOEXEC);
	return right_create(host, error, instance);
}

static void break_it(struct right *right)
{
	(void)right;
}

RIGHT_PLUGIN_OF("leaks_descriptor", create);
