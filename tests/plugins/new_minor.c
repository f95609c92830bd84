/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Built for a later minor.
 */
#include "minimal.h"

#undef TN_ABI_MINOR
#define TN_ABI_MINOR 99u

#define UUID                                                                                       \
	0x4d, 0x4c, 0x8d, 0x34, 0x3c, 0xc4, 0x47, 0x7a, 0x9f, 0x30, 0xd0, 0x26, 0xa3, 0x67, 0xfc,  \
		0x14
TN_BACKEND_PLUGIN(UUID, "new_minor", "1.0", "Apache-2.0", minimal_create, minimal_destroy,
		  minimal_query);
