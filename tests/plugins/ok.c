/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A plugin without a fault.
 */
#include "minimal.h"

#define UUID                                                                                       \
	0xb2, 0x47, 0x4e, 0xa3, 0xd6, 0x98, 0x41, 0x9c, 0xb2, 0x7c, 0x3f, 0x2a, 0x7a, 0xbd, 0x2f,  \
		0x10
TN_BACKEND_PLUGIN(UUID, "ok", "1.0", "Apache-2.0", minimal_create, minimal_destroy, minimal_query);
