/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Buffers.  A handle is a place in a table, counted from 1: no address, and a wrong one is found.
 */
#ifndef OPENCL_MEMORY_H
#define OPENCL_MEMORY_H

#include "plugin.h"

struct opencl_buffer {
	cl_mem memory; /* NULL: the place is free */
	uint64_t size;
	uint64_t next_free;
};

tn_status opencl_buffers_open(struct opencl_device *device, struct tn_error_info *error);
void opencl_buffers_close(struct opencl_device *device);

/* The buffer of a handle; NULL: there is none. */
const struct opencl_buffer *opencl_buffer_find(const struct opencl_device *device, uint64_t handle);
/* Its memory, or NULL. */
cl_mem opencl_buffer_memory(const struct opencl_device *device, uint64_t handle);

#endif
