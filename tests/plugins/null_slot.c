/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A mandatory slot is NULL.
 */
#include "minimal.h"

static const struct tn_compute_table table = {
	.struct_size = sizeof(table),
	.map = minimal_map,
	.matmul = minimal_matmul,
};

static const void *query(void *instance, const char *id)
{
	return strcmp(id, TN_TABLE_COMPUTE) ? minimal_query(instance, id) : &table;
}

#define UUID                                                                                       \
	0x85, 0xd9, 0x89, 0xfd, 0x4c, 0xb8, 0x4d, 0x3f, 0x86, 0x2f, 0xad, 0x3c, 0x3e, 0x8c, 0xc3,  \
		0xe8
TN_BACKEND_PLUGIN(UUID, "null_slot", "1.0", "Apache-2.0", minimal_create, minimal_destroy, query);
