/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The entries of tenon.device/1 for buffers.
 */
#ifndef ONEDNN_MEMORY_H
#define ONEDNN_MEMORY_H

#include <tenon/plugin.h>

#define ONEDNN_ALIGNMENT 256

tn_status onednn_alloc(void *device, const struct tn_alloc_args *args, uint64_t *buffer);
tn_status onednn_free_buffer(void *device, const struct tn_free_args *args);
tn_status onednn_upload(void *device, const struct tn_transfer_args *args);
tn_status onednn_download(void *device, const struct tn_transfer_args *args);

#endif
