/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The names of the descriptor and the file differ.
 */
#include "minimal.h"

#define UUID                                                                                       \
	0xc6, 0xe4, 0x4c, 0x47, 0xa3, 0x25, 0x4b, 0x9b, 0x94, 0x36, 0x15, 0x4a, 0x6b, 0xfa, 0x9f,  \
		0x90
TN_BACKEND_PLUGIN(UUID, "wrong", "1.0", "Apache-2.0", minimal_create, minimal_destroy,
		  minimal_query);
