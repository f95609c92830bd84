/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Does nothing: measures only the cost of calling a backend.
 */
#include "minimal.h"

#define UUID                                                                                       \
	0x10, 0x08, 0x4a, 0x75, 0xf8, 0x2c, 0x4f, 0x83, 0x94, 0x89, 0x31, 0x6d, 0xf8, 0x09, 0x26,  \
		0x0c
TN_BACKEND_PLUGIN(UUID, "null", "1.0", "Apache-2.0", minimal_create, minimal_destroy,
		  minimal_query);
