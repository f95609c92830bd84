/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Buffers.  A handle is the address, on the device and, for pinned memory, on the host.
 */
#ifndef CUDA_MEMORY_H
#define CUDA_MEMORY_H

#include "plugin.h"

tn_status cuda_buffers_open(struct cuda_device *device, struct tn_error_info *error);
void cuda_buffers_close(struct cuda_device *device);

tn_status cuda_memory_alloc(void *device, const struct tn_alloc_args *args, uint64_t *buffer);
tn_status cuda_memory_free(void *device, const struct tn_free_args *args);

/* Does the buffer belong to the device, and of which kind is it? */
int cuda_memory_find(const struct cuda_device *device, uint64_t buffer, uint32_t *kind);

static inline void *cuda_pointer(uint64_t address)
{
	return (void *)(uintptr_t)address; /* NOLINT(performance-no-int-to-ptr) */
}

#endif
