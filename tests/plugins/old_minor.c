/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Built for the minor before this one.
 */
#include "minimal.h"

#undef TN_ABI_MINOR
#define TN_ABI_MINOR 0u

#define UUID                                                                                       \
	0x2c, 0x5b, 0xc9, 0x54, 0x85, 0x71, 0x40, 0x26, 0x8a, 0x51, 0xe6, 0xdb, 0xfa, 0x74, 0xb9,  \
		0x2d
TN_BACKEND_PLUGIN(UUID, "old_minor", "1.0", "Apache-2.0", minimal_create, minimal_destroy,
		  minimal_query);
