/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Host memory for transfers that do not wait.
 */
#ifndef TN_ARRAY_HOST_BUFFER_H
#define TN_ARRAY_HOST_BUFFER_H

#include <tenon/memory.h>

#include "array/runtime.h"
#include "device/deferred_release.h"

struct tn_host_buffer {
	struct tn_deferred_release later;
	struct tn_device *device;
	struct tn_host_buffer *next, *previous; /* in the runtime's list */
	void *data;
	size_t size;
	int is_pinned;
	int was_used; /* a transfer may not be done */
	int has_ended;
};

/* TN_STATE, kept: the buffer has ended; it is noticed where handles are checked. */
tn_status tn_host_buffer_check(const struct tn_host_buffer *buffer, const char *operation);

/* Frees all buffers of a runtime. */
void tn_runtime_free_host_buffers(struct tn_runtime *runtime);

#endif
