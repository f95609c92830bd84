/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A communicator with a flag of a later version.
 */
#include "communicator.h"

#define UUID                                                                                       \
	0x5f, 0x96, 0x09, 0xa8, 0x59, 0x33, 0x4f, 0x78, 0xa9, 0x44, 0x06, 0x7a, 0x0f, 0x3b, 0x34,  \
		0xdc
TN_COMMUNICATOR_PLUGIN(UUID, "many_flags", "1.0", "Apache-2.0", UINT64_C(1) << 9, fake_create,
		       fake_destroy, fake_query);
