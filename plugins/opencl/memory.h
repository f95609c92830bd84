/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Buffers.  A handle is the number of a table's slot, counted from 1: it is not an address, and
 * invalid ones are detected.
 */
#ifndef OPENCL_MEMORY_H
#define OPENCL_MEMORY_H

#include "plugin.h"

struct opencl_buffer {
	cl_mem memory; /* NULL: the slot is free */
	uint64_t size;
	uint64_t next_free;
	int is_imported; /* `memory` is borrowed */
};

tn_status opencl_buffers_open(struct opencl_device *device, struct tn_error_info *error);
void opencl_buffers_close(struct opencl_device *device);

/* The buffer of a handle; NULL: invalid. */
const struct opencl_buffer *opencl_buffer_find(const struct opencl_device *device, uint64_t handle);
/* Its memory, or NULL. */
cl_mem opencl_buffer_memory(const struct opencl_device *device, uint64_t handle);

#endif
