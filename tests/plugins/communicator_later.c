/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A communicator of a later interface.
 */
#include "communicator.h"

#undef TN_COMMUNICATOR_ABI_MINOR
#define TN_COMMUNICATOR_ABI_MINOR 7u

#define UUID                                                                                       \
	0xd0, 0x94, 0xda, 0xf4, 0x29, 0x65, 0x49, 0x51, 0x86, 0x46, 0x2c, 0xfc, 0x5f, 0x0a, 0x30,  \
		0xa1
TN_COMMUNICATOR_PLUGIN(UUID, "later", "1.0", "Apache-2.0", 0, fake_create, fake_destroy,
		       fake_query);
