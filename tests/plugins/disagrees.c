/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The UUIDs of the note and the descriptor differ: linked from the parts of two plugins.
 */
#include "minimal.h"

#define UUID                                                                                       \
	0x85, 0x37, 0x09, 0x1f, 0xd4, 0x4b, 0x44, 0x3f, 0xab, 0x0d, 0x41, 0x94, 0x61, 0x16, 0xad,  \
		0x03
#define tenon_backend hidden_backend
TN_BACKEND_PLUGIN(UUID, "disagrees", "1.0", "Apache-2.0", minimal_create, minimal_destroy,
		  minimal_query);
#undef tenon_backend

extern __attribute__((visibility("default"))) const struct tn_backend_descriptor tenon_backend;
const struct tn_backend_descriptor tenon_backend = {
	.struct_size = sizeof(tenon_backend),
	.magic = TN_BACKEND_MAGIC,
	.abi_major = TN_ABI_MAJOR,
	.abi_minor = TN_ABI_MINOR,
	.oldest_host = TN_ABI_OLDEST_HOST,
	.uuid = {1},
	.name = "disagrees",
	.version = "1.0",
	.licence = "Apache-2.0",
	.create = minimal_create,
	.destroy = minimal_destroy,
	.query = minimal_query,
};
