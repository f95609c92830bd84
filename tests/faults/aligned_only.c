/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: transfers round the host's address down to a word.
 * Conform: L1 transfer.unaligned
 * Doctor: copies.download
 */
#include "right.h"

static tn_status download(void *device, const struct tn_transfer_args *args)
{
	struct tn_transfer_args own = *args;
	own.host = (void *)((uintptr_t)own.host & ~(uintptr_t)3);
	return right_download(device, &own);
}

static void break_it(struct right *right)
{
	right->device.download = download;
}

RIGHT_PLUGIN("aligned_only");
