/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A mandatory table is missing.
 */
#include "minimal.h"

static const void *query(void *instance, const char *id)
{
	return strcmp(id, TN_TABLE_COMPUTE) ? minimal_query(instance, id) : NULL;
}

#define UUID                                                                                       \
	0x27, 0x1c, 0x7a, 0x5c, 0xe6, 0xad, 0x43, 0x0b, 0xb0, 0x79, 0x4d, 0x0d, 0xfa, 0x19, 0x7c,  \
		0x64
TN_BACKEND_PLUGIN(UUID, "no_table", "1.0", "Apache-2.0", minimal_create, minimal_destroy, query);
