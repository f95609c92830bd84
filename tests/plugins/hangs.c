/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * `create` never returns.
 */
#include "minimal.h"

#include <unistd.h>

static tn_status create(const struct tn_host *host, struct tn_error_info *error, void **instance)
{
	for (;;)
		pause();
	return minimal_create(host, error, instance);
}

#define UUID                                                                                       \
	0xf0, 0x2a, 0x02, 0xe5, 0x9a, 0x2b, 0x4c, 0xd2, 0xa4, 0xac, 0xae, 0x37, 0x21, 0xf7, 0xfe,  \
		0xb4
TN_BACKEND_PLUGIN(UUID, "hangs", "1.0", "Apache-2.0", create, minimal_destroy, minimal_query);
