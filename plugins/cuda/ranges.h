/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A range of NVIDIA's tools extension (NVTX) around each entry that gives work to the device, named
 * by the operation, if a profiler is attached; otherwise it costs one test of one word.
 */
#ifndef CUDA_RANGES_H
#define CUDA_RANGES_H

#include "plugin.h"

/* Has a profiler injected a library of its own? */
int cuda_ranges_are_asked(const struct tn_host *host);

void cuda_range_push(const char *operation);
void cuda_range_pop(void);

/* Not for dry runs. */
static inline int cuda_range_begin(const void *device, const struct tn_call *call,
				   const char *operation)
{
	if (!((const struct cuda_device *)device)->has_ranges || call->flags & TN_DRY_RUN)
		return 0;
	cuda_range_push(operation);
	return 1;
}

static inline void cuda_range_end(const int *is_open)
{
	if (*is_open)
		cuda_range_pop();
}

/* Holds a range, which ends with the enclosing block; the variable is never read. */
#define CUDA_RANGE __attribute__((cleanup(cuda_range_end), unused)) int

#endif
