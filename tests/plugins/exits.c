/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * `create` calls exit, which it must not.
 */
#include "minimal.h"

#include <stdlib.h>

static tn_status create(const struct tn_host *host, struct tn_error_info *error, void **instance)
{
	if (host)
		exit(0);
	return minimal_create(host, error, instance);
}

#define UUID                                                                                       \
	0x8f, 0xfc, 0xc1, 0x37, 0xdb, 0x53, 0x47, 0xde, 0x9d, 0xb6, 0xd2, 0xca, 0x6a, 0xc7, 0xf2,  \
		0x33
TN_BACKEND_PLUGIN(UUID, "exits", "1.0", "Apache-2.0", create, minimal_destroy, minimal_query);
