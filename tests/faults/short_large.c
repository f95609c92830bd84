/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: large transfers stop after 8 MB.
 * Conform: L1 transfer.large
 * Doctor: copies.upload
 */
#include "right.h"

static tn_status upload(void *device, const struct tn_transfer_args *args)
{
	struct tn_transfer_args own = *args;
	if (own.size > 8 << 20)
		own.size = 8 << 20;
	return right_upload(device, &own);
}

static void break_it(struct right *right)
{
	right->device.upload = upload;
}

RIGHT_PLUGIN("short_large");
