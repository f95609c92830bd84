/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: describe writes its own struct over the caller's, which may be shorter.
 * Conform: L1 device.older_caller
 */
#include "right.h"

static tn_status describe(void *instance, uint32_t index, struct tn_device_description *out)
{
	struct tn_device_description own = {.struct_size = sizeof(own)};
	uint32_t size = out->struct_size;
	tn_status status = right_describe(instance, index, &own);
	if (!status)
		memcpy(out, &own, sizeof(own));
	out->struct_size = size;
	return status;
}

static void break_it(struct right *right)
{
	right->device.describe = describe;
}

RIGHT_PLUGIN("writes_description");
