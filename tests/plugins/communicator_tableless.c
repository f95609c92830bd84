/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A communicator without its table.
 */
#include "communicator.h"

static const void *query(void *instance, const char *table)
{
	(void)instance;
	(void)table;
	return NULL;
}

#define UUID                                                                                       \
	0xd4, 0xc1, 0xe8, 0x67, 0x48, 0x28, 0x49, 0x88, 0x89, 0xb7, 0xfd, 0x5e, 0x19, 0xfa, 0x3d,  \
		0xfd
TN_COMMUNICATOR_PLUGIN(UUID, "tableless", "1.0", "Apache-2.0", TN_COMMUNICATOR_PROCESS_WIDE,
		       fake_create, fake_destroy, query);
