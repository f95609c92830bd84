/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * `create` kills the process.
 */
#include "minimal.h"

#include <signal.h>

static tn_status create(const struct tn_host *host, struct tn_error_info *error, void **instance)
{
	raise(SIGSEGV);
	return minimal_create(host, error, instance);
}

#define UUID                                                                                       \
	0x9b, 0xe8, 0xe1, 0x1f, 0xf0, 0x81, 0x40, 0xf6, 0xa3, 0xa3, 0x99, 0x05, 0x88, 0x2c, 0x8a,  \
		0x41
TN_BACKEND_PLUGIN(UUID, "crashes", "1.0", "Apache-2.0", create, minimal_destroy, minimal_query);
