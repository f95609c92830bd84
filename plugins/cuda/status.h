/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Errors.  A code of the runtime is recoverable (no memory), a failure of one call, or the loss of
 * the device: after a fault in a kernel every call in this process returns that fault, so the
 * device is lost, and each later entry reports it.
 */
#ifndef CUDA_STATUS_H
#define CUDA_STATUS_H

#include "plugin.h"

/* tn_plugin_fail for a function of the runtime that returned `code`.  Records the loss of a
 * device. */
tn_status cuda_fail_code(struct cuda_device *device, struct tn_error_info *error, cudaError_t code,
			 const char *operation, const char *function);

/* The meaning of a code; TN_DEVICE_LOST: no further call of this process will succeed. */
tn_status cuda_status_of(cudaError_t code);
/* The same for failures to open a device: the status that names the missing part. */
tn_status cuda_absence_of(const struct cuda_runtime *rt, cudaError_t code);

/* Begins an entry: takes its arguments, which may have those flags, fails for a lost device, and
 * makes the device this thread's current one. */
tn_status cuda_take(struct cuda_device *device, void *own, size_t own_size, const void *theirs,
		    uint32_t flags, const char *operation);
#define CUDA_COMPUTE_FLAGS (TN_DRY_RUN | TN_ASYNC | TN_DETERMINISTIC)

/* The address of a call's workspace. */
void *cuda_workspace_at(const struct tn_call *call);

#endif
