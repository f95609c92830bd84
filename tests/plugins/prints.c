/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * `create` writes to standard output and error, which it must not.
 */
#include "minimal.h"

static tn_status create(const struct tn_host *host, struct tn_error_info *error, void **instance)
{
	puts("report\n{}");
	fputs("and this\n", stderr);
	return minimal_create(host, error, instance);
}

#define UUID                                                                                       \
	0xe7, 0x8f, 0xdf, 0xe3, 0x37, 0x52, 0x40, 0x50, 0xac, 0xc1, 0x9c, 0x9c, 0x5f, 0xee, 0x3f,  \
		0x5b
TN_BACKEND_PLUGIN(UUID, "prints", "1.0", "Apache-2.0", create, minimal_destroy, minimal_query);
