/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Works, but finds no device.
 */
#include <tenon/backend.h>

static tn_status device_count(void *instance, struct tn_device_count *out)
{
	struct tn_device_count count = {
		.struct_size = sizeof(count),
		.status = TN_NO_DEVICE,
		.text = "the imaginary bus has no card in it",
	};
	(void)instance;
	tn_struct_answer(out, &count, sizeof(count));
	return TN_OK;
}

#define MINIMAL_DEVICE_COUNT device_count
#include "minimal.h"

#define UUID                                                                                       \
	0x8b, 0xa2, 0x7f, 0xe4, 0x8e, 0x66, 0x48, 0x03, 0x9a, 0xe7, 0x57, 0xa7, 0xa0, 0x3f, 0x9b,  \
		0x9c
TN_BACKEND_PLUGIN(UUID, "zero_devices", "1.0", "Apache-2.0", minimal_create, minimal_destroy,
		  minimal_query);
