/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Two devices, the second with the higher score and with an identity: PCI 0000:01:00.0.
 */
#include <tenon/backend.h>

static inline tn_status minimal_describe(void *instance, uint32_t index,
					 struct tn_device_description *out);

static tn_status device_count(void *instance, struct tn_device_count *out)
{
	struct tn_device_count count = {.struct_size = sizeof(count), .count = 2};
	(void)instance;
	tn_struct_answer(out, &count, sizeof(count));
	return TN_OK;
}

static tn_status describe(void *instance, uint32_t index, struct tn_device_description *out)
{
	tn_status status = minimal_describe(instance, 0, out);
	out->score += (int32_t)index;
	if (index) {
		out->identity_type = TN_IDENTITY_PCI;
		out->identity[4] = 1;
	}
	return status;
}

static tn_status open_device(void *instance, const struct tn_open_args *args, void **device)
{
	if (args->index > 1)
		return TN_INVALID_ARGUMENT;
	*device = instance;
	return TN_OK;
}

#define MINIMAL_OPEN open_device
#define MINIMAL_DEVICE_COUNT device_count
#define MINIMAL_DESCRIBE describe
#include "minimal.h"

#define UUID                                                                                       \
	0x56, 0x6e, 0x24, 0x99, 0x04, 0x55, 0x44, 0x27, 0xaf, 0x08, 0x12, 0x15, 0x75, 0x3f, 0x5f,  \
		0xbb
TN_BACKEND_PLUGIN(UUID, "two_devices", "1.0", "Apache-2.0", minimal_create, minimal_destroy,
		  minimal_query);
