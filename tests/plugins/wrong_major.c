/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Built for interface 1.2; accepts hosts from 1.1 on.
 */
#include "minimal.h"

#undef TN_ABI_MAJOR
#define TN_ABI_MAJOR 1u
#undef TN_ABI_MINOR
#define TN_ABI_MINOR 2u
#undef TN_ABI_OLDEST_HOST
#define TN_ABI_OLDEST_HOST 1u

#define UUID                                                                                       \
	0xde, 0xb2, 0x9e, 0x7d, 0x34, 0x6b, 0x4d, 0x1b, 0x88, 0x7a, 0x11, 0x25, 0x95, 0xc6, 0xd4,  \
		0x18
TN_BACKEND_PLUGIN(UUID, "wrong_major", "1.0", "Apache-2.0", minimal_create, minimal_destroy,
		  minimal_query);
