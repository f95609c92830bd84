/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Another vendor's backend for the second device of two_devices.
 */
#include <tenon/backend.h>

static inline tn_status minimal_describe(void *instance, uint32_t index,
					 struct tn_device_description *out);

static tn_status describe(void *instance, uint32_t index, struct tn_device_description *out)
{
	tn_status status = minimal_describe(instance, index, out);
	out->identity_type = TN_IDENTITY_UUID;
	out->identity[0] = 9;
	out->identity2_type = TN_IDENTITY_PCI;
	out->identity2[4] = 1;
	return status;
}

#define MINIMAL_DESCRIBE describe
#include "minimal.h"

#define UUID                                                                                       \
	0x91, 0x3c, 0x5f, 0x02, 0x77, 0xd4, 0x4b, 0x6e, 0x9a, 0x21, 0x3e, 0xc8, 0x40, 0x1d, 0x66,  \
		0xf5
TN_BACKEND_PLUGIN(UUID, "paired", "1.0", "Apache-2.0", minimal_create, minimal_destroy,
		  minimal_query);
