/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Uploads positions that the host has listed, and takes the elements there.
 */
#include "numpy/host_indices.h"

#include <inttypes.h>

#include "array/make.h"
#include "base/memory.h"
#include "ops/host_upload.h"

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
	tn_array *indices = tn_host_upload(a, operation, TN_I64, 1, &n, positions);
	tn_mem_free(positions);
	tn_array *taken = tn_take(a, indices, axis, TN_RAISE);
	tn_array_discard(indices);
	return taken;
}
