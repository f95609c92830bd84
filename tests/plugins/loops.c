/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The built-in reference as a file, so that other fixtures can wrap it: it has entries that no
 * plugin of the tree has (scatter, attention, packed factors of products, products of f16 and
 * bf16).
 */
#include "reference/backend.h"

static tn_status create(const struct tn_host *host, struct tn_error_info *error, void **instance)
{
	return tn_reference_backend.create(host, error, instance);
}

static void destroy(void *instance)
{
	tn_reference_backend.destroy(instance);
}

static const void *query(void *instance, const char *table)
{
	return tn_reference_backend.query(instance, table);
}

#define UUID                                                                                       \
	0x52, 0xc8, 0x0e, 0x97, 0xb4, 0x1d, 0x46, 0xa3, 0x8b, 0x60, 0xf5, 0x29, 0x7c, 0xd1, 0x3e,  \
		0x84
TN_BACKEND_PLUGIN(UUID, "loops", "0.1.0", "Apache-2.0", create, destroy, query);
