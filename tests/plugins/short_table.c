/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A table that ends before its last mandatory slot.
 */
#include "minimal.h"

static const struct tn_compute_table table = {
	.struct_size = offsetof(struct tn_compute_table, matmul),
	.map = minimal_map,
	.reduce = minimal_reduce,
};

static const void *query(void *instance, const char *id)
{
	return strcmp(id, TN_TABLE_COMPUTE) ? minimal_query(instance, id) : &table;
}

#define UUID                                                                                       \
	0x9d, 0x95, 0x0c, 0x78, 0x2e, 0x5c, 0x48, 0xc5, 0x82, 0x35, 0x3f, 0xe0, 0x8c, 0x59, 0x72,  \
		0xcc
TN_BACKEND_PLUGIN(UUID, "short_table", "1.0", "Apache-2.0", minimal_create, minimal_destroy, query);
