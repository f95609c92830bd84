/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: the device stores complex numbers until it is open, and does not afterwards.
 * Conform: L1 device.opened
 */
#include "right.h"

static int is_open;

static tn_status open_device(void *instance, const struct tn_open_args *args, void **device)
{
	tn_status status = right_open(instance, args, device);
	is_open |= !status;
	return status;
}

static tn_status describe(void *instance, uint32_t index, struct tn_device_description *out)
{
	struct tn_device_description own = {.struct_size = sizeof(own)};
	tn_status status = right_describe(instance, index, &own);
	if (is_open)
		own.storage_dtypes &= ~(UINT64_C(1) << TN_C64);
	if (!status)
		tn_struct_answer(out, &own, sizeof(own));
	return status;
}

static void break_it(struct right *right)
{
	right->device.open = open_device;
	right->device.describe = describe;
}

RIGHT_PLUGIN("opens_another");
