/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A descriptor only: written by hand, without TN_BACKEND_PLUGIN.
 */
#include "minimal.h"

extern __attribute__((visibility("default"))) const struct tn_backend_descriptor tenon_backend;
const struct tn_backend_descriptor tenon_backend = {
	.struct_size = sizeof(tenon_backend),
	.magic = TN_BACKEND_MAGIC,
	.abi_major = TN_ABI_MAJOR,
	.abi_minor = TN_ABI_MINOR,
	.oldest_host = TN_ABI_OLDEST_HOST,
	.uuid = {1},
	.name = "no_note",
	.version = "1.0",
	.licence = "Apache-2.0",
	.create = minimal_create,
	.destroy = minimal_destroy,
	.query = minimal_query,
};
