/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * An entry of a communicator is NULL.
 */
#include "communicator.h"

static const struct tn_communicator_table table = {
	.struct_size = sizeof(table),
	.open = fake_open,
	.close = fake_close,
	.describe = fake_describe,
	.start = fake_start,
	.abort = fake_abort,
};

static const void *query(void *instance, const char *id)
{
	return fake_query(instance, id) ? &table : NULL;
}

#define UUID                                                                                       \
	0x6c, 0x48, 0xbf, 0x33, 0x6a, 0x31, 0x47, 0xeb, 0x88, 0x94, 0x39, 0xa3, 0xf4, 0xf9, 0xc2,  \
		0xe6
TN_COMMUNICATOR_PLUGIN(UUID, "no_test", "1.0", "Apache-2.0", 0, fake_create, fake_destroy, query);
