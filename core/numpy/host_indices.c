/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * See host_indices.h.
 */
#include "numpy/host_indices.h"

#include <inttypes.h>

#include "array/make.h"
#include "array/shape.h"
#include "base/memory.h"
#include "device/transfer.h"

int64_t *tn_host_indices_make(struct tn_runtime *runtime, const char *operation, int64_t n)
{
	int64_t *positions = tn_mem_alloc((size_t)n * sizeof(*positions));
	if (!positions)
		tn_runtime_fail(runtime, TN_OUT_OF_MEMORY, operation,
				"no host memory for %" PRId64 " indices", n);
	return positions;
}

tn_array *tn_host_indices_take(const tn_array *a, const char *operation, int axis, int64_t n,
			       int64_t *positions)
{
	struct tn_runtime *runtime = a->runtime;
	tn_array *indices = NULL, *taken;
	int64_t size;
	tn_status status = tn_shape_check(runtime, operation, TN_I64, 1, &n, &size);
	if (!status) {
		indices = tn_array_make(runtime, tn_array_home(a), TN_I64, 1, &n);
		status = indices ? TN_OK : runtime->report.status;
	}
	if (!status && n) {
		tn_observe_unrepeatable(runtime);
		status = tn_device_upload(tn_array_home(a), &indices->storage->block, 0, positions,
					  (uint64_t)n * sizeof(*positions), &runtime->report);
	}
	tn_mem_free(positions);
	indices = tn_end(runtime, status, indices);
	taken = tn_take(a, indices, axis);
	tn_array_discard(indices);
	return taken;
}
