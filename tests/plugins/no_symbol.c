/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * It has a note, but the descriptor is exported under another name.
 */
#include "minimal.h"

#define tenon_backend misnamed_backend

#define UUID                                                                                       \
	0x17, 0x06, 0x09, 0xc1, 0x6a, 0x3f, 0x46, 0x52, 0xa5, 0x29, 0x7c, 0xd0, 0x8b, 0xa4, 0x08,  \
		0x08
TN_BACKEND_PLUGIN(UUID, "no_symbol", "1.0", "Apache-2.0", minimal_create, minimal_destroy,
		  minimal_query);
